//! `/dashboard/usage`: credits by day and meter.

use leptos::prelude::*;

use crate::{
    layout::{
        loaded::loaded,
        shell::{Shell, rail::Entry},
    },
    model::usage::{Usage as UsageModel, UsedDay},
    pages::overview::Credits,
    ui::{
        chart::{Bar, Chart, Parts},
        moment::{day, short_day},
        number::grouped,
    },
};

/// The page.
#[component]
pub fn Usage() -> impl IntoView {
    view! {
        <Shell title="Usage" current=Entry::Usage>
            <div class="page-head">
                <div class="page-head__text">
                    <h1>"Usage"</h1>
                    <div class="page-head__meta">
                        <span>"Days are in UTC"</span>
                    </div>
                </div>
            </div>
            {loaded(|backend| async move { backend.usage().await }, |usage| view! { <Period usage /> })}
        </Shell>
    }
}

#[component]
fn Period(usage: UsageModel) -> impl IntoView {
    let today = usage.credits.now.date();
    let left = grouped((usage.credits.total - usage.credits.used).max(0));
    let sum = |of: fn(&UsedDay) -> i64| grouped(usage.days.iter().map(of).sum());
    let (sync, queued) = (sum(|day| day.sync), sum(|day| day.queued));
    let description = format!("{sync} credits for synchronous and {queued} for queued renders.");
    let bars = usage.days.iter().map(|used| Bar {
        label: short_day(used.day),
        name: day(used.day),
        lower: used.sync,
        upper: used.queued,
        now: used.day == today,
        later: used.day > today,
    });
    let bars: Vec<_> = bars.collect();
    let parts = Parts {
        lower: "synchronous",
        upper: "queued",
        upper_is_failure: false,
    };
    view! {
        <Credits credits=usage.credits>
            <p class="small quiet">
                {left} " left. When none are left, renders answer 403 " <code>"forbidden"</code>
                "; nothing is charged on top. One credit pays for ten started pages of a render that succeeded."
            </p>
        </Credits>
        <section class="section">
            <div class="section__head">
                <h2>"Usage by day"</h2>
                <span class="section__note">"Live keys only"</span>
            </div>
            <div class="section__body">
                <div class="stack">
                    <Chart id="usage" title="Credits per day and meter".to_owned() description step="Day" parts bars />
                </div>
            </div>
        </section>
    }
}
