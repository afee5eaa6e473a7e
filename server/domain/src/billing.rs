//! Subscriptions: what an account may use because of its payments.

use time::{Duration, OffsetDateTime};

/// The plan of accounts without a subscription.
pub const FREE: &str = "Free";
/// How long an unpaid plan remains in effect.
pub const GRACE: Duration = Duration::days(7);
/// Interval of updates when no change is expected, because an event may have been lost.
const LOOK_EVERY: Duration = Duration::DAY;
/// Stripe needs a moment to act when a period ends.
const AFTERWARDS: Duration = Duration::minutes(2);

/// Returns how many purchased credits a refund takes back: the refunded fraction of the amount, rounded down.
pub fn refunded_credits(credits: i64, paid: i64, refunded: i64) -> i64 {
    if paid <= 0 {
        return 0;
    }
    let part = i128::from(credits) * i128::from(refunded.clamp(0, paid)) / i128::from(paid);
    i64::try_from(part).unwrap_or(credits)
}

/// A subscription at Stripe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Stripe's id.
    pub id: String,
    /// Stripe's status.
    pub status: String,
    /// The product paid for, now or from the next period on.
    pub product: String,
    /// The monthly periods are counted from here.
    pub anchor: OffsetDateTime,
    /// The end of the current period.
    pub period_ends_at: OffsetDateTime,
    /// The end of the subscription, if it has been decided.
    pub cancel_at: Option<OffsetDateTime>,
    /// The larger product that remains paid for after a downgrade.
    pub kept: Option<PaidProduct>,
    /// The time since which a payment is due.
    pub unpaid_since: Option<OffsetDateTime>,
    /// Credits in each period that the owner allows in addition to those of the plan.
    pub overage_limit: i64,
    pub created_at: OffsetDateTime,
}

/// A product that remains in effect until the end of its paid period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaidProduct {
    pub product: String,
    pub until: OffsetDateTime,
}

/// The payment status of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubscriptionStatus {
    Paid,
    /// A payment is due; until the end of the grace period nothing changes.
    Due {
        /// The end of the grace period.
        until: OffsetDateTime,
    },
    /// A payment is past due, and the grace period is over.
    Overdue,
    /// The subscription has ended.
    Ended,
    /// The subscription has not started: the first payment is pending, or failed.
    Unborn,
}

impl Subscription {
    /// Returns the status. Unknown statuses of Stripe count as ended.
    pub fn status(&self, now: OffsetDateTime) -> SubscriptionStatus {
        match self.status.as_str() {
            "active" | "trialing" => SubscriptionStatus::Paid,
            "past_due" | "unpaid" => {
                let until = self.unpaid_since.unwrap_or(now) + GRACE;
                if now < until {
                    SubscriptionStatus::Due { until }
                } else {
                    SubscriptionStatus::Overdue
                }
            }
            "incomplete" | "incomplete_expired" => SubscriptionStatus::Unborn,
            _ => SubscriptionStatus::Ended,
        }
    }

    /// Returns the product that is in effect, or `None` if nothing is paid for.
    pub fn product_at(&self, now: OffsetDateTime) -> Option<&str> {
        match self.status(now) {
            SubscriptionStatus::Paid | SubscriptionStatus::Due { .. } => {
                let kept = self.kept.as_ref().filter(|kept| now < kept.until);
                Some(kept.map_or(&self.product, |kept| &kept.product))
            }
            SubscriptionStatus::Overdue | SubscriptionStatus::Ended | SubscriptionStatus::Unborn => None,
        }
    }

    /// Returns whether credits may be used before they are paid for: only if no payment is due.
    pub fn has_trust(&self, now: OffsetDateTime) -> bool {
        self.status(now) == SubscriptionStatus::Paid
    }

    /// Returns the limit of overage credits, where the plan allows at most `most`.
    pub fn overage_limit_at(&self, now: OffsetDateTime, most: i64) -> i64 {
        if self.has_trust(now) {
            self.overage_limit.min(most)
        } else {
            0
        }
    }

    /// Returns whether the subscription continues, whatever its payment status.
    pub fn is_alive(&self, now: OffsetDateTime) -> bool {
        !matches!(self.status(now), SubscriptionStatus::Ended | SubscriptionStatus::Unborn)
    }

    /// Returns when the subscription must be updated from Stripe again, or `None` if only an event requires it.
    pub fn look_at(&self, now: OffsetDateTime) -> Option<OffsetDateTime> {
        if !self.is_alive(now) {
            return None;
        }
        let grace = match self.status(now) {
            SubscriptionStatus::Due { until } => Some(until),
            _ => None,
        };
        let kept = self.kept.as_ref().map(|kept| kept.until);
        let ends = [Some(self.period_ends_at), self.cancel_at].map(|at| at.map(|at| at + AFTERWARDS));
        let due = ends.into_iter().chain([grace, kept]).flatten().filter(|at| *at > now);
        Some(due.chain([now + LOOK_EVERY]).min().unwrap_or(now + LOOK_EVERY))
    }
}

/// Returns the subscription of an account that determines its plan: among those that continue the one with the highest
/// worth, or else the latest one. Subscriptions that have not started are ignored.
pub fn that_counts(
    subscriptions: &[Subscription],
    now: OffsetDateTime,
    worth: impl Fn(&str) -> i64,
) -> Option<&Subscription> {
    let born = subscriptions
        .iter()
        .filter(|one| one.status(now) != SubscriptionStatus::Unborn);
    born.max_by_key(|one| {
        let gives = one.product_at(now).map_or(0, &worth);
        (one.is_alive(now), gives, one.created_at, &one.id)
    })
}

/// An unpaid invoice of the subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentDue {
    /// The payment is due; the plan remains until then.
    Until(OffsetDateTime),
    /// The payment is past due; the account is on the free plan until it is paid.
    Overdue,
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
        assert_eq!(
            (late.status(NOW), late.product_at(NOW)),
            (SubscriptionStatus::Overdue, None)
        );
    }

    #[test]
    fn what_was_paid_for_stays_until_the_period_ends() {
        let mut smaller = subscription("active");
        smaller.kept = Some(PaidProduct {
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
