//! Renders of the last hour: throughput, phase times and failures.

use std::{cmp::Reverse, collections::BTreeMap};

use leptos::prelude::*;
use platen_domain::{
    health::failure_kind::FailureKind,
    number::{counted, duration, grouped},
};

use super::words::failure_name;
use crate::{
    layout::page::Section,
    model::admin::health::{Minute, Phase},
    ui::{
        chart::{Bar, Chart, Parts},
        moment::minute_of_day,
        table::{Column, Table},
    },
};

const PHASE_COLUMNS: &[Column] = &[Column::text("Phase"), Column::figure("Median"), Column::figure("p95")];
const FAILURE_COLUMNS: &[Column] = &[Column::text("Kind"), Column::text("Cause"), Column::figure("Renders")];

/// Chart of renders by minute.
#[component]
pub fn Throughput(
    /// Minutes of the last hour, oldest first.
    minutes: Vec<Minute>,
) -> impl IntoView {
    let description = description(&minutes);
    let bars = minutes.iter().map(|minute| Bar {
        label: minute_of_day(minute.from),
        name: minute_of_day(minute.from),
        lower: minute.succeeded,
        upper: minute.failed,
        later: false,
        href: None,
    });
    let bars = bars.collect();
    let parts = Parts {
        lower: "succeeded",
        upper: "failed or cancelled",
        upper_is_failure: true,
    };
    view! {
        <Section heading="Throughput">
            <div class="stack">
                <Chart
                    id="throughput"
                    title="Renders per minute, last hour, UTC".to_owned()
                    description=description.clone()
                    step="Minute, UTC"
                    parts
                    bars
                />
                <p class="small quiet">{description}</p>
            </div>
        </Section>
    }
}

fn description(minutes: &[Minute]) -> String {
    let sum = |count: fn(&Minute) -> i64| -> i64 { minutes.iter().map(count).sum() };
    let (succeeded, failed) = (sum(|minute| minute.succeeded), sum(|minute| minute.failed));
    let waiting = minutes.iter().map(|minute| minute.peak_waiting).max();
    let busiest = minutes.iter().max_by_key(|minute| minute.succeeded + minute.failed);
    let busiest = busiest.filter(|_| succeeded + failed > 0).map(|minute| {
        format!(
            " The busiest minute was {} with {}.",
            minute_of_day(minute.from),
            counted(minute.succeeded + minute.failed, "render", "renders")
        )
    });
    format!(
        "{} succeeded, {} failed or cancelled. Up to {} waited for a slot at once.{}",
        grouped(succeeded),
        grouped(failed),
        grouped(waiting.unwrap_or_default()),
        busiest.unwrap_or_default()
    )
}

/// Table of the duration of each phase: median and 95th percentile.
#[component]
pub fn Phases(
    /// Phases that renders have reached.
    phases: Vec<Phase>,
) -> impl IntoView {
    let rows = phases.into_iter().map(|phase| {
        view! {
            <tr>
                <th scope="row">{phase.name}</th>
                <td class="table__figure">{duration(phase.median_ms)}</td>
                <td class="table__figure">{duration(phase.percentile_95_ms)}</td>
            </tr>
        }
    });
    view! {
        <Section heading="Phase times" note="last hour, approximate">
            <Table
                caption="Duration of phases"
                columns=PHASE_COLUMNS
                dense=true
                nothing="No documents in the last hour."
                rows
            />
        </Section>
    }
}

/// Failed renders by kind, and the number of refused hosts.
#[component]
pub fn Failures(
    /// Numbers of failures by the word of their kind.
    failures: BTreeMap<String, u64>,
    /// Number of hosts that the egress policy refused.
    refusals: i64,
) -> impl IntoView {
    let mut failures: Vec<_> = failures.into_iter().collect();
    failures.sort_by_key(|(_, count)| Reverse(*count));
    let rows = failures.into_iter().map(|(word, count)| {
        let kind = word.parse().ok();
        // Later releases may know more reasons.
        let name = kind.map_or(word, |kind| failure_name(kind).to_owned());
        let callers = kind.is_some_and(FailureKind::is_the_callers);
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td>{if callers { "request" } else { "service" }}</td>
                <td class="table__figure">{grouped(i64::try_from(count).unwrap_or(i64::MAX))}</td>
            </tr>
        }
    });
    view! {
        <Section heading="Failures" note="last hour">
            <div class="stack">
                <Table
                    caption="Failures by kind"
                    columns=FAILURE_COLUMNS
                    dense=true
                    nothing="No failed renders in the last hour."
                    rows
                />
                <p class="small quiet">{format!("Egress refusals: {}", counted(refusals, "host", "hosts"))}</p>
            </div>
        </Section>
    }
}
