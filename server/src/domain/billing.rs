//! What an account may use because of what it pays for.

use std::time::Duration as StdDuration;

use time::{Duration, OffsetDateTime};

use crate::domain::job::spread;

/// The plan of those who pay for nothing.
pub const FREE: &str = "Free";
/// So long a plan goes on that is not paid.
pub const GRACE: Duration = Duration::days(7);
/// So long somebody who looks has a customer in hand. Asking takes less.
pub const LEASE: StdDuration = StdDuration::from_mins(5);
/// Where nothing is to be expected, somebody looks all the same: an event may have been lost.
const LOOK_EVERY: Duration = Duration::DAY;
/// Stripe needs a moment when a period ends.
const AFTERWARDS: Duration = Duration::minutes(2);

/// Waits before the second, third … look; then an hour each time.
const DELAYS: [StdDuration; 4] = [
    StdDuration::from_secs(5),
    StdDuration::from_mins(1),
    StdDuration::from_mins(10),
    StdDuration::from_hours(1),
];

/// How long to wait after a look has failed, when `failures` have failed before it.
pub fn delay(failures: i32, chance: f64) -> StdDuration {
    spread(&DELAYS, failures.min(3), chance).unwrap_or(DELAYS[3])
}

/// What part of credits that were bought a refund takes back: as large a part as that of the amount, rounded down.
pub fn refunded_credits(credits: i64, paid: i64, refunded: i64) -> i64 {
    if paid <= 0 {
        return 0;
    }
    let part = i128::from(credits) * i128::from(refunded.clamp(0, paid)) / i128::from(paid);
    i64::try_from(part).unwrap_or(credits)
}

/// A subscription, as it is at Stripe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Stripe's name for it.
    pub id: String,
    /// Stripe's word.
    pub status: String,
    /// What it pays for from the next period on, or now.
    pub product: String,
    /// Its periods are the months from here.
    pub anchor: OffsetDateTime,
    /// When the current one ends.
    pub period_ends_at: OffsetDateTime,
    /// When the subscription ends, if that is decided.
    pub cancel_at: Option<OffsetDateTime>,
    /// What stays paid for after a change to something smaller.
    pub kept: Option<Kept>,
    /// Since when something is to be paid.
    pub unpaid_since: Option<OffsetDateTime>,
    /// Credits that its owner allows beyond those of the plan, in each period.
    pub overage_limit: i64,
    /// When it began.
    pub created_at: OffsetDateTime,
}

/// What stays paid for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// What it is.
    pub product: String,
    /// Until then.
    pub until: OffsetDateTime,
}

/// How a subscription stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Paid for.
    Paid,
    /// Something is to be paid, and until then everything goes on.
    Due {
        /// The end of it.
        until: OffsetDateTime,
    },
    /// Something was to be paid for too long.
    Overdue,
    /// It has ended.
    Ended,
    /// It has never begun: the first payment is still to come, or never came.
    Unborn,
}

impl Subscription {
    /// How it stands. Words that are unknown here are those of something that pays for nothing.
    pub fn standing(&self, now: OffsetDateTime) -> Standing {
        match self.status.as_str() {
            "active" | "trialing" => Standing::Paid,
            "past_due" | "unpaid" => {
                let until = self.unpaid_since.unwrap_or(now) + GRACE;
                if now < until {
                    Standing::Due { until }
                } else {
                    Standing::Overdue
                }
            }
            "incomplete" | "incomplete_expired" => Standing::Unborn,
            _ => Standing::Ended,
        }
    }

    /// What may be used; `None`: nothing that costs.
    pub fn product_at(&self, now: OffsetDateTime) -> Option<&str> {
        match self.standing(now) {
            Standing::Paid | Standing::Due { .. } => {
                let kept = self.kept.as_ref().filter(|kept| now < kept.until);
                Some(kept.map_or(&self.product, |kept| &kept.product))
            }
            Standing::Overdue | Standing::Ended | Standing::Unborn => None,
        }
    }

    /// Whether anything may be had that is paid for afterwards: not by those who are late with paying.
    pub fn has_trust(&self, now: OffsetDateTime) -> bool {
        self.standing(now) == Standing::Paid
    }

    /// What may be used beyond the credits, where the plan lets it be `most`.
    pub fn overage_limit_at(&self, now: OffsetDateTime, most: i64) -> i64 {
        if self.has_trust(now) {
            self.overage_limit.min(most)
        } else {
            0
        }
    }

    /// Whether it goes on, however it is paid for.
    pub fn is_alive(&self, now: OffsetDateTime) -> bool {
        !matches!(self.standing(now), Standing::Ended | Standing::Unborn)
    }

    /// When somebody has to look at it again; `None`: only if Stripe says so.
    pub fn look_at(&self, now: OffsetDateTime) -> Option<OffsetDateTime> {
        if !self.is_alive(now) {
            return None;
        }
        let grace = match self.standing(now) {
            Standing::Due { until } => Some(until),
            _ => None,
        };
        let kept = self.kept.as_ref().map(|kept| kept.until);
        let ends = [Some(self.period_ends_at), self.cancel_at].map(|at| at.map(|at| at + AFTERWARDS));
        let due = ends.into_iter().chain([grace, kept]).flatten().filter(|at| *at > now);
        Some(due.chain([now + LOOK_EVERY]).min().unwrap_or(now + LOOK_EVERY))
    }
}

/// The one of an account's subscriptions that counts: of those that go on the one that gives the most, else the one that
/// began last. Those that have never begun don't count.
pub fn that_counts(
    subscriptions: &[Subscription],
    now: OffsetDateTime,
    worth: impl Fn(&str) -> i64,
) -> Option<&Subscription> {
    let born = subscriptions.iter().filter(|one| one.standing(now) != Standing::Unborn);
    born.max_by_key(|one| {
        let gives = one.product_at(now).map_or(0, &worth);
        (one.is_alive(now), gives, one.created_at, &one.id)
    })
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-22 12:00 UTC);

    fn subscription(status: &str) -> Subscription {
        Subscription {
            id: "sub_1".into(),
            status: status.into(),
            product: "platen_starter".into(),
            anchor: datetime!(2026-11-01 00:00 UTC),
            period_ends_at: datetime!(2026-12-01 00:00 UTC),
            cancel_at: None,
            kept: None,
            unpaid_since: None,
            overage_limit: 0,
            created_at: datetime!(2026-11-01 00:00 UTC),
        }
    }

    #[test]
    fn what_is_not_paid_goes_on_for_seven_days() {
        let mut late = subscription("past_due");
        late.unpaid_since = Some(NOW - Duration::days(6));
        assert_eq!(late.product_at(NOW), Some("platen_starter"));
        assert_eq!(late.look_at(NOW), Some(NOW + Duration::DAY));
        late.unpaid_since = Some(NOW - Duration::days(7));
        assert_eq!((late.standing(NOW), late.product_at(NOW)), (Standing::Overdue, None));
    }

    #[test]
    fn what_was_paid_for_stays_until_the_period_ends() {
        let mut smaller = subscription("active");
        smaller.kept = Some(Kept {
            product: "platen_growth".into(),
            until: NOW + Duration::HOUR,
        });
        assert_eq!(smaller.product_at(NOW), Some("platen_growth"));
        assert_eq!(smaller.look_at(NOW), Some(NOW + Duration::HOUR));
        assert_eq!(smaller.product_at(NOW + Duration::HOUR), Some("platen_starter"));
    }

    #[test]
    fn a_refund_takes_its_part_of_the_credits_back_and_never_more_than_all() {
        for (paid, refunded, credits) in [
            (1200, 0, 0),
            (1200, 1, 0),
            (1200, 400, 333),
            (1200, 1200, 1000),
            (1200, 9999, 1000),
        ] {
            assert_eq!(refunded_credits(1000, paid, refunded), credits, "{refunded} of {paid}");
        }
        assert_eq!(refunded_credits(1000, 0, 0), 0);
        assert_eq!(refunded_credits(i64::MAX, i64::MAX, i64::MAX - 1), i64::MAX - 1);
    }

    #[test]
    fn only_what_has_begun_and_not_ended_pays_for_anything() {
        for (status, product) in [
            ("active", Some("platen_starter")),
            ("trialing", Some("platen_starter")),
            ("canceled", None),
            ("paused", None),
            ("incomplete", None),
            ("incomplete_expired", None),
            ("a word of next year", None),
        ] {
            assert_eq!(subscription(status).product_at(NOW), product, "{status}");
        }
    }

    #[test]
    fn only_who_pays_in_time_may_use_more_than_there_is() {
        for (status, limit) in [("active", 500), ("past_due", 0), ("canceled", 0)] {
            let mut one = subscription(status);
            one.overage_limit = 800;
            assert_eq!(one.overage_limit_at(NOW, 500), limit, "{status}");
        }
    }

    #[test]
    fn of_several_the_one_counts_that_gives_the_most() {
        let [mut small, mut large, mut unborn] = ["active", "active", "incomplete"].map(subscription);
        large.product = "platen_scale".into();
        unborn.product = "platen_scale".into();
        small.created_at = NOW;
        let worth = |product: &str| if product == "platen_scale" { 2 } else { 1 };
        let all = [small.clone(), large.clone(), unborn.clone()];
        assert_eq!(that_counts(&all, NOW, worth), Some(&large));
        large.status = "canceled".into();
        let all = [large, small.clone(), unborn.clone()];
        assert_eq!(that_counts(&all, NOW, worth), Some(&small));
        assert_eq!(that_counts(&[unborn], NOW, worth), None);
    }
}
