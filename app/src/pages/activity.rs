//! Figures and chart of renders in a span of time, on the overview and on the page of a key.

use leptos::prelude::*;
use platen_domain::{
    ids::ApiKeyId,
    number::{duration, grouped},
    render::statistics::TIMED,
};
use strum::VariantArray;
use time::OffsetDateTime;

use crate::{
    layout::page::Section,
    model::overview::{RenderActivity, Span},
    pages::renders,
    ui::{
        chart::{Bar, Chart, Parts},
        figure::Figure,
        moment::{day, short_day},
    },
};

/// Minimum interval of live figures in seconds: they are counted anew each time.
pub const REFRESH_SECONDS: u32 = 10;

/// Number, success rate and duration of renders.
#[component]
pub fn Renders(
    activity: RenderActivity,
    /// Path of the page, whose query selects the span.
    page: String,
    /// The key by which the renders were made; by any if it is absent.
    #[prop(optional_no_strip)]
    key: Option<ApiKeyId>,
) -> impl IntoView {
    let figures = activity.figures.clone();
    let all = figures.succeeded + figures.failed;
    let rate = if all == 0 {
        "–".to_owned()
    } else {
        format!("{:.2}", figures.succeeded as f64 * 100.0 / all as f64)
    };
    let choices = Span::VARIANTS.iter().map(|&span| {
        view! {
            <a
                class="segmented__option"
                href=format!("{page}?period={}", span.into_str())
                aria-current=(span == activity.span).then_some("true")
            >
                {span.name()}
            </a>
        }
    });
    let first_day = activity
        .steps
        .first()
        .map_or_else(String::new, |step| step.from.date().to_string());
    let failures = list(key, &[("state", "failed"), ("from", &first_day)]);
    let before = activity
        .before
        .map(|before| format!("{} {}", compared(all, before), activity.span.before()));
    let (median, percentile_95) = (figures.median_ms, figures.percentile_95_ms);
    let timed = if all > TIMED {
        format!("of the latest {}, including queue", grouped(TIMED))
    } else {
        "including queue".to_owned()
    };
    let (median_of, percentile_of) = (timed.clone(), timed);
    let beside = view! {
        <nav class="segmented segmented--small" aria-label="Time">
            {choices.collect_view()}
        </nav>
    }
    .into_any();
    view! {
        <Section heading="Renders" beside>
            <div class="figures">
                <Figure label="Renders" value=grouped(all)>
                    {before}
                </Figure>
                <Figure label="Success rate" value=rate unit="%">
                    {grouped(figures.failed)}
                    " failed"
                    {(figures.failed > 0)
                        .then(|| {
                            view! {
                                ", "
                                <a href=failures>"View them"</a>
                            }
                        })}
                </Figure>
                <Figure label="Median duration" value=time(median)>
                    {median_of}
                </Figure>
                <Figure label="95th percentile" value=time(percentile_95)>
                    {percentile_of}
                </Figure>
            </div>
            <div class="stack">
                <RendersChart activity key />
            </div>
        </Section>
    }
}

#[component]
fn RendersChart(activity: RenderActivity, key: Option<ApiKeyId>) -> impl IntoView {
    let by_hour = activity.span == Span::Day;
    let bars: Vec<_> = activity
        .steps
        .iter()
        .map(|step| {
            let (date, hour) = (step.from.date(), hour(step.from));
            let (label, name) = if by_hour {
                (hour.clone(), format!("{}, {hour}", day(date)))
            } else {
                (short_day(date), day(date))
            };
            Bar {
                label,
                name,
                lower: step.succeeded,
                upper: step.failed,
                later: step.from > activity.now,
                href: Some(list(key, &[("from", &date.to_string()), ("to", &date.to_string())])),
            }
        })
        .collect();
    let highest = bars.iter().max_by_key(|bar| bar.lower + bar.upper);
    let description = highest.map_or_else(String::new, |bar| {
        let most = grouped(bar.lower + bar.upper);
        let all = bars.iter().map(|bar| bar.lower + bar.upper).sum();
        format!("Most: {most}, {}. Total: {}.", bar.name, grouped(all))
    });
    let unit = if by_hour { "Renders per hour" } else { "Renders per day" };
    let ends = [activity.steps.first(), activity.steps.last()];
    let title = match ends.map(|step| step.map(|step| day(step.from.date()))) {
        [Some(begin), Some(end)] => format!("{unit}, {begin} to {end}, UTC"),
        _ => unit.to_owned(),
    };
    let step = if by_hour { "Hour" } else { "Day" };
    let parts = Parts {
        lower: "succeeded",
        upper: "failed",
        upper_is_failure: true,
    };
    view! { <Chart id="renders-chart" title description step parts bars /> }
}

/// Returns the address of the list of renders with these filters, of all keys or of one.
fn list(key: Option<ApiKeyId>, filters: &[(&str, &str)]) -> String {
    let key = key.map(|key| format!("key={key}"));
    let filters = filters.iter().map(|(name, value)| format!("{name}={value}"));
    let filters: Vec<_> = filters.chain(key).collect();
    format!("{}?{}", renders::PATH, filters.join("&"))
}

fn time(milliseconds: Option<f64>) -> String {
    milliseconds.map_or_else(|| "–".to_owned(), duration)
}

/// Formats an hour as `08:00`.
fn hour(at: OffsetDateTime) -> String {
    format!("{:02}:00", at.hour())
}

/// Compares the number of renders with that before: `12% more than in`.
fn compared(now: i64, before: i64) -> String {
    let change = (now - before) as f64 * 100.0 / before.max(1) as f64;
    match change.round() as i64 {
        _ if before == 0 => "none in".to_owned(),
        0 => "as many as in".to_owned(),
        more if more > 0 => format!("{}% more than in", grouped(more)),
        less => format!("{}% fewer than in", grouped(-less)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders_are_compared_with_those_before() {
        for (now, before, expected) in [
            (0, 0, "none in"),
            (7, 0, "none in"),
            (7, 7, "as many as in"),
            (112, 100, "12% more than in"),
            (3000, 100, "2,900% more than in"),
            (50, 100, "50% fewer than in"),
            (0, 3, "100% fewer than in"),
        ] {
            assert_eq!(compared(now, before), expected, "{now}, {before}");
        }
    }
}
