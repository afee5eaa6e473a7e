//! `/admin/health`: health of the service. While the page is open, it is updated every few seconds.

pub mod parts;
pub mod pool;
pub mod queue;
pub mod traffic;
mod words;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use platen_domain::{
    health::{concern::Concern, process::Process},
    ids::InstanceId,
    number::{duration, grouped},
};

use self::{
    parts::{Parts, Processes},
    pool::RenderPool,
    queue::Queue,
    traffic::{Failures, Phases, Throughput},
};

use crate::{
    layout::{
        page::{PageHead, Section, loaded},
        shell::admin::{AdminEntry, AdminShell, HEALTH_EVENTS},
    },
    model::admin::health::{Figures, Health, headline},
    ui::{
        badge::{Badge, State},
        figure::Figure,
        icon::{Glyph, Icon},
        live_part::LivePart,
        moment::{clock, minute_of_day},
    },
};

/// The health page. `process` of the query is the id of the process that is shown; without it, all are.
#[component]
pub fn SystemHealth() -> impl IntoView {
    let process = use_query_map().read_untracked().get("process");
    let process = process.as_deref().and_then(InstanceId::parse);
    view! {
        <AdminShell title="System health" current=AdminEntry::Health>
            {loaded(
                move |backend| async move { backend.health(process).await },
                |health| {
                    view! {
                        <LivePart
                            id="health"
                            events=Some(HEALTH_EVENTS.to_owned())
                            unsettled=true
                            says=says(&health.concerns)
                        >
                            <Content health />
                        </LivePart>
                    }
                },
            )}
        </AdminShell>
    }
}

#[component]
fn Content(health: Health) -> impl IntoView {
    let concerns = health.concerns.len();
    let (state, said) = (state(&health.concerns), headline(concerns));
    let processes = health.processes.clone();
    let facts = view! {
        <span>
            <Badge state>{said}</Badge>
        </span>
        <span>{clock(health.now)} " UTC, updated every 5 s"</span>
    }
    .into_any();
    view! {
        <PageHead title="System health" facts>
            <Choice processes only=health.only />
        </PageHead>
        <div class="stack stack--loose">
            {(concerns > 0)
                .then(|| {
                    view! { <div class="stack">{health.concerns.into_iter().map(notice).collect_view()}</div> }
                })}
            <Now figures=health.figures />
            <div class="grid grid--main-side">
                <Throughput minutes=health.minutes />
                <Queue lanes=health.lanes jobs=health.jobs />
            </div>
            <div class="grid grid--main-side">
                <Phases phases=health.phases />
                <Failures failures=health.failures refusals=health.figures.refusals_of_hour />
            </div>
            <RenderPool sessions=health.sessions />
            <Parts parts=health.parts />
            <Processes processes=health.processes now=health.now />
        </div>
    }
}

/// Returns the text that screen readers announce when the health changes.
fn says(concerns: &[Concern]) -> String {
    let titles: Vec<_> = concerns.iter().map(|concern| words::concern(concern).0).collect();
    let said = headline(concerns.len());
    if titles.is_empty() {
        said
    } else {
        format!("{said}: {}", titles.join("; "))
    }
}

fn state(concerns: &[Concern]) -> State {
    match concerns {
        [] => State::Good,
        concerns if concerns.iter().any(Concern::is_grave) => State::Bad,
        _ => State::Warning,
    }
}

fn notice(concern: Concern) -> impl IntoView {
    let (title, advice) = words::concern(&concern);
    let (class, glyph) = if concern.is_grave() {
        ("notice notice--bad", Glyph::Problem)
    } else {
        ("notice notice--warn", Glyph::Warning)
    };
    view! {
        <div class=class>
            <Icon glyph />
            <div>
                <p class="notice__title break">{title}</p>
                <p class="break">{advice}</p>
            </div>
        </div>
    }
}

/// Links that select a process. Hidden if there is only one.
#[component]
fn Choice(processes: Vec<Process>, only: Option<InstanceId>) -> impl IntoView {
    let option = |id: Option<InstanceId>, name: &str| {
        let address = id.map_or_else(
            || AdminEntry::Health.path().to_owned(),
            |id| format!("{}?process={id}", AdminEntry::Health.path()),
        );
        let current = (only == id).then_some("page");
        view! {
            <a class="segmented__option" href=address aria-current=current>
                {name.to_owned()}
            </a>
        }
    };
    (processes.len() > 1).then(|| {
        let each = processes
            .iter()
            .filter(|process| !process.is_silent())
            .map(|process| option(Some(process.heard.instance), &process.name));
        view! {
            <nav class="segmented segmented--small" aria-label="Process">
                {option(None, "All")}
                {each.collect_view()}
            </nav>
        }
    })
}

#[component]
fn Now(figures: Figures) -> impl IntoView {
    let peak = figures.peak.map(|(per_second, at)| {
        let time = minute_of_day(at);
        format!(", peak {} at {time}", rate(per_second))
    });
    view! {
        <Section heading="Now">
            <div class="figures">
                <Figure label="Renders per second" value=rate(figures.per_second)>
                    {grouped(figures.last_hour)}
                    " in the last hour"
                    {peak}
                </Figure>
                <Figure
                    label="p95, including queue"
                    value=figures.percentile_95_ms.map_or_else(|| "–".to_owned(), duration)
                >
                    "synchronous, last 5 minutes"
                </Figure>
                <Figure
                    label="Sessions in use"
                    value=format!("{} of {}", figures.sessions_in_use, figures.session_limit)
                >
                    {figures.sessions_free}
                    " unassigned"
                </Figure>
                <Figure
                    label="Browser restarts, 24 h"
                    value=grouped(figures.browsers_died + figures.browsers_retired)
                >
                    {grouped(figures.browsers_died)}
                    " crashed, "
                    {grouped(figures.browsers_retired)}
                    " scheduled"
                </Figure>
            </div>
        </Section>
    }
}

/// Formats renders per second, with enough digits to tell a few per minute from none.
fn rate(per_second: f64) -> String {
    if per_second >= 10.0 {
        format!("{per_second:.1}")
    } else {
        format!("{per_second:.2}")
    }
}
