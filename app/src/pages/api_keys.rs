//! `/dashboard/api-keys`.

pub mod api;
pub mod create;
pub mod end;
pub mod list;

use leptos::prelude::*;
use platen_domain::{
    api_key::{ApiKey, KeyState},
    ids::TemplateId,
    number::counted,
};

use crate::{
    layout::{
        page::{PageHead, Section, loaded},
        shell::{Shell, rail::Entry},
    },
    model::api_key::{ApiKeys as Found, NewKey},
    outcome::{Done, Outcome, OutcomeErrors},
    pages::{
        api_keys::{
            api::{RevokeKey, RotateKey},
            create::CreateDialog,
            end::EndDialogs,
            list::KeyTable,
        },
        query::ListQuery,
    },
    ui::{
        button::{CloseButton, OpenButton, Rank},
        code::Code,
        copy_button::CopyButton,
        dialog::Dialog,
        icon::Glyph,
        moment::day_or,
    },
};

/// Path of the list.
pub(crate) const PATH: &str = "/dashboard/api-keys";
/// Name of the parameter with the id of the key that was just created: only the page of this address shows its secret.
pub(crate) const NEW_KEY: &str = "new";
const HEADER: &str = "Authorization: Bearer $PLATEN_KEY";

/// The page of API keys.
#[component]
pub fn ApiKeys() -> impl IntoView {
    let new = ListQuery::of_page(&[NEW_KEY]).get(NEW_KEY);
    view! {
        <Shell title="API keys" current=Entry::ApiKeys>
            {loaded(
                move |backend| async move { backend.api_keys(new).await },
                |found| view! { <Content found /> },
            )}
        </Shell>
    }
}

#[component]
fn Content(found: Found) -> impl IntoView {
    let now = found.now;
    let rotated = Outcome::about_nothing::<RotateKey>();
    let revoked = Outcome::about_nothing::<RevokeKey>();
    let (ended, kept): (Vec<ApiKey>, Vec<ApiKey>) = found
        .keys
        .iter()
        .cloned()
        .partition(|key| key.state(now) == KeyState::Revoked);
    let in_use = kept.iter().filter(|key| key.state(now).is_good()).count();
    let dialogs = kept.iter().map(|key| view! { <EndDialogs api_key=key.clone() now /> });
    let dialogs = dialogs.collect_view();
    let templates = found.templates.clone();
    let new = found.new.clone().and_then(|new| {
        let key = found.keys.iter().find(|key| key.id == new.id)?.clone();
        Some(view! { <RevealDialog api_key=key new /> })
    });
    view! {
        <PageHead
            title="API keys"
            lede="A key is shown once, when you create it. Live keys use credits; test keys print a watermark and cost nothing."
        >
            <OpenButton dialog="create" rank=Rank::Primary icon=Glyph::Add>
                "New key"
            </OpenButton>
        </PageHead>
        <Done about=done />
        <OutcomeErrors outcome=rotated />
        <OutcomeErrors outcome=revoked />
        <Section heading=format!("{} in use", counted(in_use, "key", "keys"))>
            {if kept.is_empty() {
                view! { <p class="empty">"No keys yet. Create one to send requests."</p> }.into_any()
            } else {
                view! { <KeyTable caption="API keys" keys=kept templates=templates.clone() now /> }.into_any()
            }} <Revoked keys=ended templates now />
        </Section>
        <Section heading="Send it with every request">
            <Code title="Header" label="Header" text=HEADER>
                {HEADER}
            </Code>
        </Section>
        {dialogs}
        <CreateDialog templates=found.templates channels=found.channels now />
        {new}
    }
}

/// Returns the notice for a value of `done` in the query.
fn done(word: &str) -> Option<&'static str> {
    Some(match word {
        "created" => "Key created.",
        "rotated" => "Key rotated. The old key works until the time that you chose.",
        "revoked" => "Key revoked. Requests with it are refused.",
        _ => return None,
    })
}

/// Revoked keys, collapsed.
#[component]
fn Revoked(keys: Vec<ApiKey>, templates: Vec<(TemplateId, String)>, now: time::OffsetDateTime) -> impl IntoView {
    (!keys.is_empty()).then(|| {
        view! {
            <details class="folded">
                <summary>{keys.len()} " revoked"</summary>
                <KeyTable caption="Revoked keys" keys templates now />
            </details>
        }
    })
}

/// Shows a new key, which is not shown again.
#[component]
fn RevealDialog(api_key: ApiKey, new: NewKey) -> impl IntoView {
    let export = format!("export PLATEN_KEY={}", new.secret);
    let scopes = api_key
        .scopes
        .iter()
        .map(|scope| view! { <span class="tag tag--code">{scope.into_str()}</span> " " })
        .collect_view();
    view! {
        <Dialog id="new-key" title="Copy the key now" open=true>
            <div class="dialog__body">
                <p>
                    "For security, the key is shown only once. If you lose it, create a new one."
                </p>
                <div class="copy copy--secret">
                    <code class="copy__value">{new.secret.clone()}</code>
                    <CopyButton text=new.secret label="Copy the key".to_owned() focus=true />
                </div>
                <div class="field">
                    <span class="field__label">"For a terminal"</span>
                    <div class="copy">
                        <code class="copy__value">{export.clone()}</code>
                        <CopyButton text=export label="Copy the command".to_owned() />
                    </div>
                </div>
                <dl class="pairs">
                    <dt>"Name"</dt>
                    <dd>{api_key.name}</dd>
                    <dt>"Scopes"</dt>
                    <dd>{scopes}</dd>
                    <dt>"Expires"</dt>
                    <dd>{day_or(api_key.expires_at, "never")}</dd>
                </dl>
            </div>
            <div class="dialog__foot">
                <CloseButton dialog="new-key" rank=Rank::Primary>
                    "Done"
                </CloseButton>
            </div>
        </Dialog>
    }
}
