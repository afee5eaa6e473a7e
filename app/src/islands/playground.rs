//! The playground: a form with every option of the API, the request that it builds, and the response.

mod api;
mod fields;
mod form;
mod options;
mod parts;
mod result;

use leptos::{either::Either, ev::SubmitEvent, prelude::*, task::spawn_local};

use self::{
    api::{play, request_of_render},
    fields::{Problems, Radio},
    form::{BeforePrinting, Delivery, HeaderAndFooter, Output, Paper},
    options::{Options, curl},
    parts::Parts,
    result::{Outcome, Trial, problems_of},
};
use crate::{
    islands::playground::fields::Problem,
    model::playground::{Attempt, Bench, Replayed},
    ui::{
        copy_button::CopyText,
        icon::{Glyph, Icon},
        notice::InfoNotice,
        tabs::Tabs,
    },
};

/// Shown beside a request that has a cookie.
const COOKIE_NOTICE: &str = "The cookie value is secret and isn't shown. Enter it again before you render.";

/// Form on the left, request and result on the right.
#[island]
pub fn Playground(
    /// Base URL and templates.
    bench: Bench,
    /// The id of a render whose request is opened.
    render: Option<String>,
    /// Whether the account is read-only, so that nothing can be rendered.
    read_only: bool,
) -> impl IntoView {
    let Some(render) = render else {
        return Either::Left(view! { <Form bench former=None read_only /> });
    };
    // Loaded by the browser, so that the service doesn't parse data for templates.
    let former = RwSignal::new(None::<Replayed>);
    Effect::new(move || {
        let render = render.clone();
        spawn_local(async move {
            let found = request_of_render(render).await;
            former.set(Some(found.unwrap_or_else(|error| Replayed::Missing(error.to_string()))));
        });
    });
    Either::Right(move || match former.get() {
        Some(former) => Either::Left(view! { <Form bench=bench.clone() former=Some(former) read_only /> }),
        None => Either::Right(view! { <p class="quiet" role="status">"Loading the request"</p> }),
    })
}

#[component]
fn Form(
    bench: Bench,
    /// The request to start from.
    former: Option<Replayed>,
    read_only: bool,
) -> impl IntoView {
    let template = bench
        .templates
        .first()
        .map(|first| first.id.clone())
        .unwrap_or_default();
    let (request, missing) = match former {
        Some(Replayed::Request(request)) => (Some(request), None),
        Some(Replayed::Missing(reason)) => (None, Some(reason)),
        None => (None, None),
    };
    let options = Options::new(&template, request.as_deref());
    let has_cookie = request.is_some() && !options.cookie_name.read_untracked().is_empty();
    let notice = missing.or(has_cookie.then(|| COOKIE_NOTICE.to_owned()));
    let trial = RwSignal::new(Trial::None);
    let problems = Problems(RwSignal::new(Vec::<Problem>::new()));
    provide_context(problems);
    let tab = RwSignal::new(0);
    let pending = move || matches!(&*trial.read(), Trial::Pending);
    let send = move |event: SubmitEvent| {
        event.prevent_default();
        if pending() {
            return;
        }
        let attempt = Attempt {
            body: options.request().to_string(),
            queued: options.queued.get_untracked(),
            live: options.live.get_untracked(),
            idempotency_key: options.idempotency_key.get_untracked(),
        };
        trial.set(Trial::Pending);
        tab.set(0);
        spawn_local(async move {
            let answer = play(attempt).await;
            problems.0.set(
                answer
                    .as_ref()
                    .map(|played| problems_of(&played.content))
                    .unwrap_or_default(),
            );
            trial.set(answer.map_or_else(Trial::Failed, Trial::Answered));
        });
    };
    let json = move || serde_json::to_string_pretty(&options.request()).unwrap_or_default();
    let base_url = StoredValue::new(bench.base_url);
    let line = move || base_url.with_value(|base_url| curl(base_url, options));
    let tabs = vec![
        ("Result", view! { <Outcome trial /> }.into_any()),
        (
            "JSON",
            view! { <Code label="Request as JSON" text=Signal::derive(json) /> }.into_any(),
        ),
        (
            "curl",
            view! { <Code label="Request with curl" text=Signal::derive(line) /> }.into_any(),
        ),
    ];
    view! {
        {notice.map(|notice| view! { <InfoNotice>{notice}</InfoNotice> })}
        <div class="playground">
            <form class="playground__form" on:submit=send>
                <fieldset class="option-group">
                    <legend class="visually-hidden">"Content"</legend>
                    <h2>"Content"</h2>
                    <div class="option-group__body">
                        <Parts options templates=bench.templates />
                    </div>
                </fieldset>
                <Paper options />
                <HeaderAndFooter options />
                <Output options />
                <BeforePrinting options />
                <Delivery options />
                <div class="playground__send">
                    <button
                        class="button button--primary button--large"
                        type="submit"
                        disabled=read_only
                        aria-busy=move || pending().then_some("true")
                    >
                        <Icon glyph=Glyph::Play />
                        "Render"
                    </button>
                    <Mode options />
                </div>
            </form>
            <div class="playground__result">
                <Tabs id="playground" label="Request and result" tabs chosen=tab />
            </div>
        </div>
    }
}

/// Choice between test and live mode.
#[component]
fn Mode(options: Options) -> impl IntoView {
    let live = options.live;
    let note = move || {
        if live.get() {
            "Live: uses credits"
        } else {
            "Test: free, watermarked"
        }
    };
    view! {
        <fieldset class="segmented">
            <legend class="visually-hidden">"Mode"</legend>
            <Radio
                class="segmented__option"
                name="live"
                label="Test"
                checked=Signal::derive(move || !live.get())
                on_choose=move || live.set(false)
            />
            <Radio class="segmented__option" name="live" label="Live" checked=live on_choose=move || live.set(true) />
        </fieldset>
        <span class="small quiet">{note}</span>
    }
}

/// A code block that follows the form.
#[component]
fn Code(label: &'static str, #[prop(into)] text: Signal<String>) -> impl IntoView {
    view! {
        <div class="code">
            <div class="code__bar">
                <span>{label}</span>
                <CopyText text label=format!("Copy: {label}") />
            </div>
            <pre class="code__body code__body--wrap" tabindex="0" role="group" aria-label=label>
                <code>{move || text.get()}</code>
            </pre>
        </div>
    }
}
