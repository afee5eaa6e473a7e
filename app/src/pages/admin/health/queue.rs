//! Waiting renders and jobs.

use leptos::prelude::*;
use platen_domain::{
    job::QueueLength,
    number::{counted, duration, grouped, wait},
};

use super::words::jobs_name;
use crate::{layout::page::Section, model::admin::health::Lane, ui::gauge::Gauge};

/// Renders waiting for a slot, and jobs waiting for a worker.
#[component]
pub fn Queue(
    /// Renders waiting for a slot, by lane.
    lanes: Vec<Lane>,
    /// Jobs waiting for a worker, by kind.
    jobs: Vec<QueueLength>,
) -> impl IntoView {
    view! {
        <Section heading="Queues">
            {lanes.into_iter().map(of_lane).collect_view()} {jobs.into_iter().map(of_jobs).collect_view()}
        </Section>
    }
}

fn of_lane(lane: Lane) -> impl IntoView {
    let told = format!("{} of {} waiting", lane.waiting, lane.limit);
    let note = lane.oldest_ms.map_or_else(
        || "no renders waiting".to_owned(),
        |oldest| {
            let accounts = counted(lane.accounts, "account", "accounts");
            format!("oldest {}, {accounts}", duration(oldest as f64))
        },
    );
    let used = lane.waiting as f64 / lane.limit.max(1) as f64;
    view! {
        <div class="lane">
            <div class="lane__head">
                <span class="lane__name">{lane.name}</span>
                <span>{told.clone()}</span>
            </div>
            <Gauge label=format!("{}: {told}", lane.name) used />
            <span class="quiet small">{note}</span>
        </div>
    }
}

fn of_jobs(jobs: QueueLength) -> impl IntoView {
    let oldest = if jobs.due > 0 {
        format!("oldest due for {}", wait(jobs.oldest_due_seconds as i64))
    } else {
        "none due".to_owned()
    };
    let later = (jobs.later > 0).then(|| format!(", {} scheduled to retry", grouped(jobs.later)));
    view! {
        <div class="lane">
            <div class="lane__head">
                <span class="lane__name">{jobs_name(jobs.kind)}</span>
                <span>{format!("{} waiting, {} in progress", grouped(jobs.due), grouped(jobs.in_hand))}</span>
            </div>
            <span class="quiet small">{oldest} {later}</span>
        </div>
    }
}
