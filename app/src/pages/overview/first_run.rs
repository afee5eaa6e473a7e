//! The checklist of the first steps.

use leptos::{either::Either, prelude::*};
use platen_domain::{
    render::{history::RenderState, thumbnail::ListedThumbnail},
    role::{Permission, Role},
};

use crate::{
    backend::backend,
    curl::CurlCommand,
    layout::page::Section,
    model::overview::{Checklist, FirstRender},
    outcome::{ButtonForm, Outcome, OutcomeErrors},
    pages::{
        overview::api::{CreateFirstKey, DismissChecklist},
        renders,
    },
    ui::{
        badge::{Badge, State},
        button::{ButtonLink, Rank, Size, SubmitButton},
        code::Code,
        icon::Glyph,
        live_part::LivePart,
        notice::WarningNotice,
    },
};

/// Body of the first request. Pages have no margin unless a request sets one.
const FIRST_BODY: &str = r#"{
  "parts": ["<h1>Hello, paper</h1>"],
  "margin": {"top": 20, "right": 20, "bottom": 20, "left": 20},
  "output_encoding": "binary"
}"#;

/// Four steps to the first document and beyond. The command is outside of the live parts: its key is shown only once,
/// and a refreshed part would no longer contain it.
#[component]
pub fn FirstRun(checklist: Checklist) -> impl IntoView {
    let create = Outcome::of::<CreateFirstKey>();
    let dismiss = Outcome::of::<DismissChecklist>();
    let (progress, has_document) = (checklist.done(), checklist.has_document());
    let Checklist {
        role,
        has_key,
        new_key,
        render,
        went_on,
        ..
    } = checklist;
    let (has_render, says) = (render.is_some(), says(render.as_ref()));
    let has_picture = render.as_ref().is_some_and(|render| render.picture.is_some());
    let unfinished = progress < Checklist::STEPS || !has_picture;
    let events = unfinished.then(|| renders::EVENTS.to_owned());
    let done = |id, is_done: bool| {
        let events = events.clone();
        view! {
            <LivePart id events>
                {is_done.then(|| view! { <span class="steps__done visually-hidden">"Done"</span> })}
            </LivePart>
        }
        .into_any()
    };
    let created = done("first-step-key", has_key);
    let run = done("first-step-command", has_render);
    let seen = done("first-step-page", has_document);
    let gone_on = done("first-step-next", went_on);
    let beside = view! {
        <LivePart id="first-run-progress" events=events.clone()>
            <span class="section__note">{format!("{progress} of {} done", Checklist::STEPS)}</span>
        </LivePart>
        <ButtonForm outcome=dismiss>
            <SubmitButton rank=Rank::Quiet size=Size::Small icon=Glyph::Close>
                "Dismiss"
                <span class="visually-hidden">" the first steps"</span>
            </SubmitButton>
        </ButtonForm>
    }
    .into_any();
    view! {
        <OutcomeErrors outcome=create />
        <OutcomeErrors outcome=dismiss />
        <Section heading="First steps" beside id="first-steps">
            <ol class="steps">
                <Step number=1 title="Create an API key" done=created>
                    <CreateKey outcome=create role has_key />
                </Step>
                <Step number=2 title="Run the command" done=run>
                    <Command key=new_key />
                </Step>
                <Step number=3 title="See the page" done=seen>
                    <LivePart id="first-render" events unsettled=!has_picture says>
                        <FirstPage render />
                    </LivePart>
                </Step>
                <Step number=4 title="Go on" done=gone_on>
                    <p>"Store the HTML as a template and send only data, or invite your team."</p>
                    <Next role />
                </Step>
            </ol>
        </Section>
    }
}

#[component]
fn CreateKey(outcome: Outcome, role: Role, has_key: bool) -> impl IntoView {
    let done = has_key.then(|| done_note("Key created"));
    if !role.may(Permission::ManageKeys) {
        let hint = (!has_key).then(|| view! { <p>"Ask the owner or an admin of this account for a key."</p> });
        return Either::Left(view! {
            {done}
            {hint}
        });
    }
    let rank = if has_key { Rank::Plain } else { Rank::Primary };
    Either::Right(view! {
        {done}
        <p>"A test key is free of charge. Its documents are stamped TEST."</p>
        <ButtonForm outcome>
            <SubmitButton rank icon=Glyph::Key>
                {if has_key { "Create another test key" } else { "Create a test key" }}
            </SubmitButton>
        </ButtonForm>
    })
}

/// The first request. A key that was just created is exported first, so that further requests find it.
#[component]
fn Command(key: Option<String>) -> impl IntoView {
    let base_url = backend().base_url();
    let is_new = key.is_some();
    let export = key.map(|key| format!("export PLATEN_KEY={key}\n")).unwrap_or_default();
    let curl = CurlCommand {
        base_url: &base_url,
        path: "renderers/pdf",
        idempotency_key: "",
        output: Some("hello.pdf"),
    };
    let curl = format!("{export}{}", curl.with_body(FIRST_BODY));
    let shown = curl.trim_end().to_owned();
    view! {
        {if is_new {
            Either::Left(
                view! { <WarningNotice>"Copy the commands now: the key is shown only once."</WarningNotice> },
            )
        } else {
            Either::Right(view! { <p>"Set " <code>"PLATEN_KEY"</code> " to your key and paste this into a terminal."</p> })
        }}
        <Code title="curl" label="curl" text=curl class="code--wrap">
            {shown}
        </Code>
    }
}

/// The latest render and its first page.
#[component]
fn FirstPage(render: Option<FirstRender>) -> impl IntoView {
    let Some(render) = render else {
        return Either::Left(view! {
            <p>
                <Badge state=State::Busy>"Waiting for the first render"</Badge>
            </p>
            <p>"The first page appears here."</p>
            <noscript>
                <p>"Without JavaScript, reload this page to see it."</p>
            </noscript>
        });
    };
    let href = format!("{}/{}", renders::PATH, render.id);
    let (state, words) = match render.state {
        RenderState::Succeeded => (State::Good, "First document rendered"),
        RenderState::Queued | RenderState::Processing => (State::Busy, "Rendering"),
        RenderState::Failed | RenderState::Cancelled => (State::Bad, "The render failed"),
    };
    let action = match render.state {
        RenderState::Failed | RenderState::Cancelled => "View the error",
        _ => "View the render",
    };
    let picture = render.picture.map(|picture| image(picture, &href));
    Either::Right(view! {
        <p>
            <Badge state>{words}</Badge>
        </p>
        {picture}
        <p>
            <a href=href>{action}</a>
        </p>
    })
}

fn image(picture: ListedThumbnail, href: &str) -> impl IntoView + use<> {
    view! {
        <img
            class="page-image"
            src=format!("{href}/pages/{}.png", picture.page)
            width=picture.width.to_string()
            height=picture.height.to_string()
            alt="First page of the document"
        />
    }
}

/// Returns the text that screen readers announce when the first render has ended.
fn says(render: Option<&FirstRender>) -> String {
    render.map_or_else(String::new, |render| {
        format!("First render: {}", render.state.name().to_lowercase())
    })
}

#[component]
fn Next(role: Role) -> impl IntoView {
    let invite = role.may(Permission::ManagePeople).then(|| {
        view! { <ButtonLink href="/dashboard/team">"Invite members"</ButtonLink> }
    });
    view! {
        <div class="cluster">
            <ButtonLink href="/dashboard/templates#create" icon=Glyph::Template>
                "Create a template"
            </ButtonLink>
            {invite}
            <ButtonLink href="/docs" rank=Rank::Quiet>
                "Read the docs"
            </ButtonLink>
        </div>
    }
}

#[component]
fn Step(
    number: u8,
    title: &'static str,
    /// The live part that says whether it is done. A whole step can't be live, because the command contains an island.
    done: AnyView,
    children: Children,
) -> impl IntoView {
    view! {
        <li class="steps__item">
            <span class="steps__number" aria-hidden="true">
                {number}
            </span>
            <h3 class="steps__title">{title} " " {done}</h3>
            <div class="steps__body">{children()}</div>
        </li>
    }
}

fn done_note(words: &'static str) -> impl IntoView {
    view! {
        <p>
            <Badge state=State::Good>{words}</Badge>
        </p>
    }
}
