//! `/dashboard`: overview of the account.

pub mod api;
pub mod first_run;

use leptos::prelude::*;
use platen_domain::{number::grouped, role::Permission};

use crate::{
    layout::{
        page::{IfMay, PageHead, Section, loaded},
        shell::{Shell, rail::Entry},
    },
    model::{
        account_summary::CreditPeriod,
        overview::{Activity, Checklist},
        own_path::DASHBOARD,
    },
    pages::{
        activity::{REFRESH_SECONDS, Renders},
        api_keys::NEW_KEY,
        latest::Latest,
        overview::first_run::FirstRun,
        query::ListQuery,
        renders::EVENTS,
    },
    ui::{
        button::{ButtonLink, Rank},
        gauge::Gauge,
        icon::Glyph,
        live_part::LivePart,
        moment::{day, day_and_year},
    },
};

/// The overview page. `period` of the query selects the time span of the figures, and `new` is the key to show.
#[component]
pub fn Overview() -> impl IntoView {
    let query = ListQuery::of_page(&["period", NEW_KEY]);
    let (span, new_key) = (query.get("period").unwrap_or_default(), query.get(NEW_KEY));
    view! {
        <Shell title="Overview" current=Entry::Overview>
            {loaded(
                move |backend| async move { backend.activity(span, new_key).await },
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
    let today = day_and_year(activity.renders.now.date());
    let renders = newcomer.is_none().then(|| {
        let all = view! {
            <a class="small" href="/dashboard/renders">
                "All renders"
            </a>
        }
        .into_any();
        view! {
            <LivePart id="activity" events=Some(EVENTS.to_owned()) every=REFRESH_SECONDS>
                <Renders activity=activity.renders page=DASHBOARD.to_owned() />
                <Latest latest=activity.latest beside=all />
            </LivePart>
        }
    });
    let facts = view! {
        <span>{today}</span>
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
        <LivePart id="credits" events=Some(EVENTS.to_owned()) every=REFRESH_SECONDS>
            <Credits credits />
        </LivePart>
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
