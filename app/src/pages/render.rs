//! `/dashboard/renders/{id}`: details of one render.

pub mod accessibility;
pub mod api;
pub mod attempts;
pub mod badge;
pub mod document;
pub mod failure;
pub mod marked_pages;
pub mod request;
pub mod seen;
pub mod structure;
pub mod timeline;

use leptos::{either::Either, prelude::*};
use leptos_router::hooks::use_params_map;
use platen_domain::{
    ids::RenderId,
    number::counted,
    render::{
        accessibility::missing::MissingReport,
        content::ShownRequest,
        detail::{Callback, RenderDetail, RenderedTemplate},
        history::{RenderMode, RenderState},
        thumbnail::Pictures,
    },
    role::Permission,
};

use crate::{
    layout::{
        page::{IfMay, PageHead, Section, loaded},
        shell::{Shell, rail::Entry},
    },
    model::render::short_id,
    outcome::{ButtonForm, Outcome, OutcomeErrors},
    pages::{
        query::id_in_path,
        render::{
            accessibility::Accessibility,
            api::{CancelRender, ResendCallback, RevokeLinks, StopCallback},
            attempts::Attempts,
            badge::StateBadge,
            document::{Facts, Pages},
            failure::FailureNotice,
            request::Request,
            seen::{Console, Network},
            timeline::Waterfall,
        },
        templates,
    },
    ui::{
        button::{ButtonLink, Rank, Size, SubmitButton},
        icon::{Glyph, Icon},
        live_part::LivePart,
        moment::{Moment, Stamp},
    },
};

/// The page of a render.
#[component]
pub fn Render() -> impl IntoView {
    let id = use_params_map().read_untracked().get("id").unwrap_or_default();
    let render = id_in_path(RenderId::parse);
    view! {
        <Shell title=short_id(&id) current=Entry::Renders>
            {loaded(
                move |backend| async move { backend.render(render?).await },
                |render| view! { <Whole render /> },
            )}
        </Shell>
    }
}

#[component]
fn Whole(render: RenderDetail) -> impl IntoView {
    let unsettled = is_unsettled(&render);
    let events = unsettled.then(|| format!("/dashboard/events/renders/{}", render.id));
    let says = format!("{}: {}", render.name, render.state.name());
    let (id, sources, options) = (render.id, render.sources.clone(), render.options.clone());
    let content = render.content.clone();
    view! {
        <OutcomeErrors outcome={Outcome::of::<CancelRender>()} />
        <OutcomeErrors outcome={Outcome::of::<RevokeLinks>()} />
        <OutcomeErrors outcome={Outcome::of::<ResendCallback>()} />
        <OutcomeErrors outcome={Outcome::of::<StopCallback>()} />
        <LivePart id="render" events unsettled says>
            <Head render=render.clone() />
            <div class="stack notices">
                {render
                    .error
                    .clone()
                    .map(|failure| {
                        view! { <FailureNotice failure render=render.clone() /> }
                    })}
                {(!render.warnings.is_empty()).then(|| view! { <Warnings warnings=render.warnings.clone() /> })}
            </div>
            <TimeLine render=render.clone() />
            {render
                .document
                .clone()
                .map(|document| {
                    view! {
                        <div class="grid grid--main-side">
                            <Pages document=document.clone() render=render.clone() />
                            <Facts document render=render.clone() />
                        </div>
                    }
                })}
            <Accessibility render=render.clone() />
            <Network requests=render.requests.clone() parts=render.sources.len() />
            <div class=if render.callback.is_some() { "grid grid--2" } else { "grid" }>
                <Console messages=render.console.clone() parts=render.sources.len() keeps=render.keeps_content />
                {render
                    .callback
                    .clone()
                    .map(|callback| view! { <Callbacks callback id=render.id /> })}
            </div>
        </LivePart>
        <Request id content sources options />
    }
}

/// Returns whether the page can still change by itself: the render, its thumbnails, report or delivery are unfinished.
fn is_unsettled(render: &RenderDetail) -> bool {
    let coming = render
        .document
        .as_ref()
        .is_some_and(|document| document.pictures == Pictures::Coming);
    let untold = render.callback.as_ref().is_some_and(is_under_way);
    let unreported = render.accessibility == Err(MissingReport::NotYet);
    !render.state.has_ended() || coming || unreported || untold
}

fn is_under_way(callback: &Callback) -> bool {
    callback.trying || !callback.begun
}

#[component]
fn Head(render: RenderDetail) -> impl IntoView {
    let kind = if render.live { "live" } else { "test" };
    let document = render.document.as_ref();
    let cost = match (document, render.credits) {
        (Some(document), credits) => format!(
            "{}, {}",
            counted(document.pages, "page", "pages"),
            counted(credits.unwrap_or_default(), "credit", "credits")
        ),
        (None, _) => "no credits".to_owned(),
    };
    let url = document.and_then(|document| document.url.clone());
    let rank = if url.is_some() { Rank::Plain } else { Rank::Primary };
    let can_be_cancelled = !render.state.has_ended() && render.mode == RenderMode::Async;
    let can_be_replayed = render.content.as_ref().is_ok_and(ShownRequest::can_be_replayed);
    let playground = can_be_replayed.then(|| format!("/dashboard/playground?render={}", render.id));
    let facts = view! {
        <StateBadge state=render.state />
        <span>{format!("{}, {kind}", render.mode.into_str())}</span>
        <span>{cost}</span>
        <span class="mono break">{render.id.to_string()}</span>
        {templates(render.templates)}
    }
    .into_any();
    view! {
        <PageHead title=render.name is_chosen=true facts>
            {can_be_cancelled
                .then(|| {
                    view! {
                        <ButtonForm outcome={Outcome::of::<CancelRender>()}>
                            <input type="hidden" name="id" value=render.id.to_string() />
                            <SubmitButton icon=Glyph::Close>
                                "Cancel render"
                            </SubmitButton>
                        </ButtonForm>
                    }
                })}
            {playground
                .map(|href| {
                    view! {
                        <ButtonLink href rank icon=Glyph::Rotate>
                            "Open in playground"
                        </ButtonLink>
                    }
                })}
            {url
                .map(|href| {
                    view! {
                        <ButtonLink href rank=Rank::Primary icon=Glyph::Download>
                            "Open PDF"
                        </ButtonLink>
                    }
                })}
        </PageHead>
    }
}

/// Maximum number of templates in the head of the page.
const MOST_TEMPLATES: usize = 3;

/// The templates of a render with their versions. Those that still exist are links to the editor.
fn templates(mut templates: Vec<RenderedTemplate>) -> impl IntoView {
    templates.dedup_by_key(|template| (template.id, template.version));
    let more = templates.len().saturating_sub(MOST_TEMPLATES);
    let items = templates.into_iter().take(MOST_TEMPLATES).map(|template| {
        let version = template.version.map(|version| format!(", version {version}"));
        let name = if template.exists {
            let editor = format!("{}/{}", templates::PATH, template.id);
            Either::Left(view! { <a href=editor>{template.name}</a> })
        } else {
            Either::Right(format!("{} (deleted)", template.name))
        };
        view! { <span class="break">"Template: " {name} {version}</span> }
    });
    view! {
        {items.collect_view()}
        {(more > 0).then(|| view! { <span>{format!("and {more} more")}</span> })}
    }
}

#[component]
fn Warnings(warnings: Vec<String>) -> impl IntoView {
    let count = counted(warnings.len(), "warning", "warnings");
    let items = warnings.into_iter().map(|warning| view! { <li>{warning}</li> });
    view! {
        <div class="notice notice--warn">
            <Icon glyph=Glyph::Warning />
            <div>
                <p class="notice__title">{count}</p>
                <ul>{items.collect_view()}</ul>
            </div>
        </div>
    }
}

#[component]
fn TimeLine(render: RenderDetail) -> impl IntoView {
    let waiting = match render.state {
        RenderState::Queued => Some("Waiting for a slot."),
        RenderState::Processing => Some("Rendering in progress."),
        _ if render.timeline.steps.is_empty() => Some("Ended before it started."),
        _ => None,
    };
    let beside = view! {
        <span class="section__note">
            "accepted " <Moment at=render.at />
        </span>
    }
    .into_any();
    view! {
        <Section heading="Timeline" beside>
            {match waiting {
                Some(why) => view! { <p class="quiet">{why}</p> }.into_any(),
                None => view! { <Waterfall timeline=render.timeline /> }.into_any(),
            }}
        </Section>
    }
}

#[component]
fn Callbacks(callback: Callback, id: RenderId) -> impl IntoView {
    let resend = Outcome::of::<ResendCallback>();
    let note = match (callback.begun, callback.attempts.is_empty(), callback.next) {
        (false, ..) => Some(view! { <p class="quiet">"Sent when the render ends."</p> }.into_any()),
        (true, _, Some(at)) => {
            Some(view! { <p class="quiet small">"Next attempt at " <Stamp at /> " UTC."</p> }.into_any())
        }
        (true, true, None) => Some(view! { <p class="quiet">"Not sent yet."</p> }.into_any()),
        (true, false, None) => None,
    };
    let beside = view! {
        <IfMay permission=Permission::ManageWebhooks>
            <a class="small" href="/dashboard/webhooks">
                "All deliveries"
            </a>
        </IfMay>
    }
    .into_any();
    view! {
        <Section heading="Webhook" beside>
            <div class="stack">
                {(!callback.attempts.is_empty())
                    .then(|| view! { <Attempts attempts=callback.attempts.clone() /> })} {note}
                {callback.address.clone().map(|address| view! { <p class="small quiet break">{address}</p> })}
                {callback
                    .begun
                    .then(|| {
                        view! {
                            <ButtonForm outcome=resend>
                                <input type="hidden" name="id" value=id.to_string() />
                                <SubmitButton size=Size::Small icon=Glyph::Send>
                                    "Resend"
                                </SubmitButton>
                            </ButtonForm>
                        }
                    })}
            </div>
        </Section>
    }
}
