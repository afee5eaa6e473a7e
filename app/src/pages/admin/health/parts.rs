//! Components, dependencies and processes of the service.

use leptos::prelude::*;
use platen_domain::{health::process::Process, number::wait};
use time::OffsetDateTime;

use crate::{
    layout::page::Section,
    model::admin::health::{Part, PartState},
    ui::{
        badge::{Badge, State},
        moment::{Ago, Moment},
        table::{Column, Table},
    },
};

const PART_COLUMNS: &[Column] = &[
    Column::text("Component"),
    Column::text("Status"),
    Column::text("Details").from_medium(),
    Column::figure("Latency"),
];
const PROCESS_COLUMNS: &[Column] = &[
    Column::text("Process"),
    Column::text("Status"),
    Column::text("Release").from_medium(),
    Column::figure("Browsers"),
    Column::text("Started").from_medium(),
];

/// Table of components and dependencies.
#[component]
pub fn Parts(
    /// Components and dependencies.
    parts: Vec<Part>,
) -> impl IntoView {
    view! {
        <Section heading="Components">
            <Table caption="Components of the service" columns=PART_COLUMNS rows=parts.into_iter().map(of_part) />
        </Section>
    }
}

fn of_part(part: Part) -> impl IntoView {
    let (state, word) = match part.state {
        PartState::Answering => (State::Good, "Responding"),
        PartState::Strained => (State::Warning, "Degraded"),
        PartState::Failing => (State::Bad, "Failing"),
        PartState::Off => (State::Open, "Off"),
    };
    let latency = part.microseconds.map_or_else(
        || "–".to_owned(),
        |microseconds| format!("{:.1} ms", microseconds as f64 / 1000.0),
    );
    view! {
        <tr>
            <th scope="row">
                {part.name} <span class="table__sub table__narrow break">{part.detail.clone()}</span>
            </th>
            <td>
                <Badge state>{word}</Badge>
            </td>
            <td class="table__medium break">{part.detail}</td>
            <td class="table__figure">{latency}</td>
        </tr>
    }
}

/// Table of processes.
#[component]
pub fn Processes(
    /// All processes of the service.
    processes: Vec<Process>,
    /// The current time.
    now: OffsetDateTime,
) -> impl IntoView {
    let rows = processes.into_iter().map(move |process| of_process(process, now));
    view! {
        <Section heading="Processes">
            <Table caption="Processes" columns=PROCESS_COLUMNS rows />
        </Section>
    }
}

fn of_process(process: Process, now: OffsetDateTime) -> impl IntoView {
    let (state, word) = if process.is_silent() {
        let seconds = process.heard.unseen_seconds as i64;
        (State::Warning, format!("No report for {}", wait(seconds)))
    } else {
        (State::Good, "Responding".to_owned())
    };
    let heard = process.heard;
    // A process whose clock is ahead must not seem to have started in the future.
    let started_at = heard.started_at.min(now);
    view! {
        <tr>
            <th scope="row" class="break">
                {process.name} <span class="table__sub">{heard.role}</span>
            </th>
            <td>
                <Badge state>{word}</Badge>
            </td>
            <td class="table__medium break">
                {heard.version} <span class="table__sub">{heard.state.browser_version}</span>
            </td>
            <td class="table__figure">{format!("{} of {}", heard.state.browsers, heard.state.browsers_wanted)}</td>
            <td class="table__medium">
                <Moment at=started_at /> <span class="table__sub"><Ago at=started_at now /></span>
            </td>
        </tr>
    }
}
