//! `/dashboard/api-keys/{id}`: the use of a key, and its settings.

use leptos::prelude::*;
use platen_domain::{
    api_key::{ApiKey as Key, CreditLimit, KeyState},
    ids::ApiKeyId,
};
use time::OffsetDateTime;

use crate::{
    layout::{
        page::{PageHead, Section, SectionKind, loaded},
        shell::{Shell, rail::Entry},
    },
    model::api_key::KeyDetail,
    outcome::{Done, Outcome, OutcomeErrors, PageForm},
    pages::{
        activity::{REFRESH_SECONDS, Renders},
        api_keys::{
            self,
            api::{EditKey, RevokeKey, RotateKey},
            create::KeyFields,
            end::{EndDialogs, revoke_dialog, rotate_dialog},
            list::{badge, credits_used},
        },
        query::{ListQuery, id_in_path},
        renders::EVENTS,
    },
    ui::{
        button::{OpenButton, Rank, SubmitButton},
        gauge::Gauge,
        icon::Glyph,
        live_part::LivePart,
        moment::{Ago, day_and_year, day_or},
    },
};

/// The page of a key. `period` of the query selects the time span of its figures.
#[component]
pub fn ApiKey() -> impl IntoView {
    let id = id_in_path(ApiKeyId::parse);
    let span = ListQuery::of_page(&["period"]).get("period").unwrap_or_default();
    view! {
        <Shell title="API key" current=Entry::ApiKeys>
            {loaded(
                move |backend| async move { backend.api_key(id?, span).await },
                |found| view! { <Content found /> },
            )}
        </Shell>
    }
}

#[component]
fn Content(found: KeyDetail) -> impl IntoView {
    let KeyDetail {
        key,
        templates,
        channels,
        renders,
        period_ends_at: ends_at,
    } = found;
    let now = renders.now;
    let state = key.state(now);
    let buttons = (state != KeyState::Revoked).then(|| {
        let rotate = state.is_good().then(|| {
            view! {
                <OpenButton dialog=rotate_dialog(key.id) icon=Glyph::Rotate>
                    "Rotate"
                </OpenButton>
            }
        });
        view! {
            {rotate}
            <OpenButton dialog=revoke_dialog(key.id) rank=Rank::Danger icon=Glyph::Remove>
                "Revoke"
            </OpenButton>
            <EndDialogs api_key=key.clone() now />
        }
    });
    let facts = view! { <Facts api_key=key.clone() state now /> }.into_any();
    let outcome = Outcome::about::<EditKey>(&key.id.to_string());
    let page = format!("{}/{}", api_keys::PATH, key.id);
    let (name, id, limit) = (key.name.clone(), key.id, key.credit_limit);
    let settings = state.is_good().then(|| {
        view! {
            <Section heading="Settings" note="Apply to the next request" kind=SectionKind::Hanging>
                <PageForm outcome class="stack">
                    <KeyFields outcome api_key=key templates channels now />
                    <div>
                        <SubmitButton>"Save settings"</SubmitButton>
                    </div>
                </PageForm>
            </Section>
        }
    });
    let edited = Outcome::about_nothing::<EditKey>();
    let rotated = Outcome::about_nothing::<RotateKey>();
    let revoked = Outcome::about_nothing::<RevokeKey>();
    view! {
        <PageHead title=name is_chosen=true facts>
            {buttons}
        </PageHead>
        <Done about=done />
        <OutcomeErrors outcome=edited />
        <OutcomeErrors outcome=rotated />
        <OutcomeErrors outcome=revoked />
        <LivePart id="activity" events=Some(EVENTS.to_owned()) every=REFRESH_SECONDS>
            {limit.map(|limit| view! { <Credits limit ends_at /> })}
            <Renders activity=renders page key=Some(id) />
        </LivePart>
        {settings}
    }
}

/// The credits that a key with a limit has used.
#[component]
fn Credits(limit: CreditLimit, ends_at: OffsetDateTime) -> impl IntoView {
    let used = credits_used(limit);
    let note = format!("Counted anew from {}", day_and_year(ends_at.date()));
    view! {
        <Section heading="Credits" note>
            <div class="lane">
                <div class="lane__head">
                    <span class="lane__name">"Limit of this key"</span>
                    <span>{used.clone()}</span>
                </div>
                <Gauge label=used used=limit.share_used() />
            </div>
        </Section>
    }
}

/// Returns the notice for a value of `done` in the query.
fn done(word: &str) -> Option<&'static str> {
    (word == "changed").then_some("Settings saved. They apply to the next request.")
}

#[component]
fn Facts(api_key: Key, state: KeyState, now: OffsetDateTime) -> impl IntoView {
    let used = match (api_key.last_used_at, api_key.last_used_from) {
        (None, _) => view! { "Never used" }.into_any(),
        (Some(at), None) => view! { "Last used " <Ago at now /> }.into_any(),
        (Some(at), Some(address)) => {
            view! { "Last used " <Ago at now /> " from " <code>{address.to_string()}</code> }.into_any()
        }
    };
    view! {
        <span>{badge(state)}</span>
        <span>{if api_key.livemode { "Live" } else { "Test" }}</span>
        <span>
            <code>{format!("{}…", api_key.hint)}</code>
        </span>
        <span>{format!("Created {}", day_and_year(api_key.inserted_at.date()))}</span>
        <span>"Expires: " {day_or(api_key.expires_at, "never")}</span>
        <span>{used}</span>
    }
}
