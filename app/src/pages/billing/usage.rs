//! Credits by day, for synchronous and asynchronous renders.

use leptos::prelude::*;
use platen_domain::number::grouped;

use crate::{
    layout::page::Section,
    model::usage::{Usage, UsedDay},
    pages::renders,
    ui::{
        button::{CsvLink, Size},
        chart::{Bar, Chart, Parts},
        moment::{day, short_day},
    },
};

/// Path of the same figures as CSV, with test keys included.
const FILE: &str = "/dashboard/billing/usage.csv";

/// Chart of the credits used on each day of the period.
#[component]
pub fn UsageSection(
    /// Usage of this period.
    usage: Usage,
) -> impl IntoView {
    let today = usage.credits.now.date();
    let sum = |of: fn(&UsedDay) -> i64| grouped(usage.days.iter().map(of).sum());
    let (sync, queued) = (sum(|day| day.sync), sum(|day| day.queued));
    let description = format!("{sync} credits for synchronous and {queued} for queued renders.");
    let bars = usage.days.iter().map(|used| Bar {
        label: short_day(used.day),
        name: day(used.day),
        lower: used.sync,
        upper: used.queued,
        later: used.day > today,
        href: Some(format!(
            "{}?keys=live&from={day}&to={day}",
            renders::PATH,
            day = used.day
        )),
    });
    let bars: Vec<_> = bars.collect();
    let title = format!(
        "Credits per day, {} to {}, UTC",
        day(usage.credits.starts_at.date()),
        day(usage.credits.ends_at.date())
    );
    let parts = Parts {
        lower: "synchronous",
        upper: "queued",
        upper_is_failure: false,
    };
    let beside = view! {
        <CsvLink href=FILE size=Size::Small />
    }
    .into_any();
    view! {
        <Section heading="Usage by day" note="Live keys only" beside>
            <div class="stack">
                <Chart id="usage" title description step="Day" parts bars />
            </div>
        </Section>
    }
}
