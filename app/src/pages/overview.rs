//! `/dashboard`: overview of the account.

pub mod api;
pub mod first_run;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use platen_domain::{
    number::{duration, grouped},
    role::Permission,
};
use strum::VariantArray;
use time::OffsetDateTime;

use crate::{
    layout::{
        page::{IfMay, PageHead, Section, loaded},
        shell::{Shell, rail::Entry},
    },
    model::{
        account_summary::CreditPeriod,
        overview::{Activity, Checklist, Span},
    },
    pages::{latest::Latest, overview::first_run::FirstRun},
    ui::{
        button::{ButtonLink, Rank},
        chart::{Bar, Chart, Parts},
        figure::Figure,
        gauge::Gauge,
        icon::Glyph,
        moment::{day, day_and_year, short_day},
    },
};

/// The overview page. `period` of the query selects the time span of the figures.
#[component]
pub fn Overview() -> impl IntoView {
    let span = use_query_map()
        .read_untracked()
        .get("period")
        .and_then(|word| word.parse().ok())
        .unwrap_or_default();
    view! {
        <Shell title="Overview" current=Entry::Overview>
            {loaded(
                move |backend| async move { backend.activity(span).await },
                |activity| view! { <Content activity /> },
            )}
        </Shell>
    }
}

#[component]
fn Content(activity: Activity) -> impl IntoView {
    let credits = activity.credits.clone();
    let checklist = activity.checklist.clone();
    let newcomer = checklist.as_ref().filter(|checklist| checklist.render.is_none());
    let title = newcomer.map_or_else(|| "Overview".to_owned(), welcome);
    let rank = if newcomer.is_some() { Rank::Plain } else { Rank::Primary };
    let renders = newcomer.is_none().then(|| {
        let all = view! {
            <a class="small" href="/dashboard/renders">
                "All renders"
            </a>
        }
        .into_any();
        view! {
            <Renders activity=activity.clone() />
            <Latest latest=activity.latest.clone() beside=all />
        }
    });
    let facts = view! {
        <span>{day_and_year(activity.now.date())}</span>
        <span>"Days are in UTC"</span>
    }
    .into_any();
    view! {
        <PageHead title facts>
            <IfMay permission=Permission::ManageKeys>
                <ButtonLink href="/dashboard/api-keys" icon=Glyph::Key>
                    "New key"
                </ButtonLink>
            </IfMay>
            <ButtonLink href="/dashboard/playground" rank icon=Glyph::Play>
                "New render"
            </ButtonLink>
        </PageHead>
        {checklist.map(|checklist| view! { <FirstRun checklist /> })}
        <Credits credits />
        {renders}
    }
}

/// Greets a user by the first of their names.
fn welcome(checklist: &Checklist) -> String {
    match checklist.person.split_whitespace().next() {
        Some(name) => format!("Welcome, {name}"),
        None => "Welcome".to_owned(),
    }
}

/// Credits used in this period, and a projection to its end.
#[component]
fn Credits(
    /// Credits of this period.
    credits: CreditPeriod,
) -> impl IntoView {
    let [used, total] = [credits.used, credits.total].map(grouped);
    let (share, now) = (credits.share_used(), credits.elapsed());
    let pace = (credits.used > 0 && now > 0.05).then(|| {
        let end = (credits.used as f64 / now) as i64;
        format!(
            "At this pace, about {} by {}",
            grouped(rounded(end)),
            day(credits.ends_at.date())
        )
    });
    let label = format!(
        "{used} of {total} credits used, {:.0} percent of the period elapsed",
        now * 100.0
    );
    let note = format!(
        "{} plan, {} to {}",
        credits.plan,
        day(credits.starts_at.date()),
        day(credits.ends_at.date()),
    );
    view! {
        <Section heading="Credits this period" note>
            <div class="cluster cluster--spread">
                <p>
                    <span class="figure__value">
                        {used} " " <span class="figure__unit">{format!("of {total} used")}</span>
                    </span>
                </p>
                {pace.map(|pace| view! { <p class="small quiet">{pace}</p> })}
            </div>
            <Gauge label used=share now=now end=total />
            <p class="small">
                <a href="/dashboard/billing">"Usage by day"</a>
            </p>
        </Section>
    }
}

/// Rounds a projection down to two digits, which is all the precision that it has.
fn rounded(guess: i64) -> i64 {
    let digits = guess.unsigned_abs().checked_ilog10().unwrap_or_default();
    let step = 10_i64.pow(digits.saturating_sub(1));
    guess / step * step
}

/// Number, success rate and duration of renders.
#[component]
fn Renders(activity: Activity) -> impl IntoView {
    let figures = activity.figures;
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
                href=format!("/dashboard?period={}", span.into_str())
                aria-current=(span == activity.span).then_some("true")
            >
                {span.name()}
            </a>
        }
    });
    let by_hour = activity.span == Span::Day;
    let bars: Vec<_> = activity
        .steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            let end = activity.steps.get(index + 1).map(|next| next.from);
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
                now: step.from <= activity.now && end.is_none_or(|end| activity.now < end),
                later: step.from > activity.now,
            }
        })
        .collect();
    let highest = bars.iter().max_by_key(|bar| bar.lower + bar.upper);
    let description = highest.map_or_else(String::new, |bar| {
        let most = grouped(bar.lower + bar.upper);
        format!("Most: {most}, {}. Total: {}.", bar.name, grouped(all))
    });
    let title = if by_hour { "Renders per hour" } else { "Renders per day" };
    let step = if by_hour { "Hour" } else { "Day" };
    let parts = Parts {
        lower: "succeeded",
        upper: "failed",
        upper_is_failure: true,
    };
    let (median, percentile_95) = (figures.median_ms, figures.percentile_95_ms);
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
                    "including test keys"
                </Figure>
                <Figure label="Success rate" value=rate unit="%">
                    {grouped(figures.failed)}
                    " failed"
                    {(figures.failed > 0)
                        .then(|| {
                            view! {
                                ", "
                                <a href="/dashboard/renders?state=failed">"View them"</a>
                            }
                        })}
                </Figure>
                <Figure label="Median duration" value=time(median)>
                    "including queue"
                </Figure>
                <Figure label="95th percentile" value=time(percentile_95)>
                    "including queue"
                </Figure>
            </div>
            <div class="stack">
                <Chart id="renders-chart" title=title.to_owned() description step parts bars />
            </div>
        </Section>
    }
}

fn time(milliseconds: Option<f64>) -> String {
    milliseconds.map_or_else(|| "–".to_owned(), duration)
}

/// Formats an hour as `08:00`.
fn hour(at: OffsetDateTime) -> String {
    format!("{:02}:00", at.hour())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_have_two_digits() {
        for (guess, expected) in [(0, 0), (7, 7), (42, 42), (16_731, 16_000), (999, 990)] {
            assert_eq!(rounded(guess), expected);
        }
    }
}
