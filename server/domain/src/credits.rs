//! Prices of renders, and the credits of an account in a period.

use strum::{EnumString, IntoStaticStr, VariantArray};
use time::{Date, Month, OffsetDateTime, UtcOffset, format_description::well_known::Rfc3339};

use crate::ids::ApiKeyId;

/// Pages per credit; a started block counts as a whole one.
const PAGES_PER_CREDIT: usize = 10;

/// Returns the price of a document in credits.
pub fn price(page_count: usize) -> i64 {
    i64::try_from(page_count.div_ceil(PAGES_PER_CREDIT)).unwrap_or(i64::MAX)
}

/// A month for which credits are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// Inclusive.
    pub starts_at: OffsetDateTime,
    /// Exclusive.
    pub ends_at: OffsetDateTime,
}

impl Period {
    /// Returns the part of a UTC day within the period, as start (inclusive) and end (exclusive).
    pub fn part_of(&self, day: Date) -> (OffsetDateTime, OffsetDateTime) {
        let midnight = day.midnight().assume_utc();
        let next = midnight + time::Duration::DAY;
        (midnight.max(self.starts_at), next.min(self.ends_at))
    }

    /// Returns the period that contains `now`. Each period begins on the anchor's day and time (UTC), or on the last
    /// day of a month that is too short, whatever day the previous period began on: with an anchor of January 31, on
    /// February 28 or 29, March 31, April 30 and so on. Works for times before the anchor, too.
    pub fn around(anchor: OffsetDateTime, now: OffsetDateTime) -> Self {
        let anchor = anchor.to_offset(UtcOffset::UTC);
        let number = |time: OffsetDateTime| time.year() * 12 + i32::from(u8::from(time.month())) - 1;
        let mut months = number(now.to_offset(UtcOffset::UTC)) - number(anchor);
        if months_after(anchor, months) > now {
            months -= 1;
        }
        Self {
            starts_at: months_after(anchor, months),
            ends_at: months_after(anchor, months + 1),
        }
    }
}

fn months_after(anchor: OffsetDateTime, months: i32) -> OffsetDateTime {
    let number = anchor.year() * 12 + i32::from(u8::from(anchor.month())) - 1 + months;
    let year = number.div_euclid(12);
    let month = Month::January.nth_next(number.rem_euclid(12) as u8);
    let day = anchor.day().min(month.length(year));
    // The day exists unless the year is beyond 9999.
    Date::from_calendar_date(year, month, day).map_or(anchor, |date| anchor.replace_date(date))
}

/// The kind of usage that credits are charged for. The names are used in responses and in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum Meter {
    /// Synchronous renders.
    SyncRender,
    /// Asynchronous renders.
    AsyncRender,
}

/// The credits of an account in a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Balance {
    pub period: Period,
    /// Credits of the plan, purchased ones, and those that an operator granted.
    pub own: i64,
    /// Credits that may be used in addition.
    pub overage_limit: i64,
    /// All charged credits.
    pub used: i64,
    /// The part of `used` that exceeded `own` when it was charged.
    pub overage_used: i64,
}

/// Why a render is refused for lack of credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotEnoughCredits {
    /// No credit can be reserved.
    #[error(
        "no credits are left: of {total}, {used} are used and {reserved} reserved by renders in progress; the period \
         ends at {}",
        show(*.ends_at)
    )]
    NoneFree {
        /// All credits of the period.
        total: i64,
        /// Charged credits.
        used: i64,
        /// Credits reserved by other renders.
        reserved: i64,
        ends_at: OffsetDateTime,
    },
    /// The document costs more than the remaining credits.
    #[error(
        "the document costs {price} credits and {free} are free; nothing was charged; the period ends at {}",
        show(*.ends_at)
    )]
    TooExpensive {
        /// In credits.
        price: i64,
        /// The remaining credits.
        free: i64,
        ends_at: OffsetDateTime,
    },
    /// The key has used all credits that it may use in a period.
    #[error(
        "this API key has reached its credit limit of {limit} a month, with the credits reserved by renders in progress; \
         the count starts anew at {}; the limit can be changed at /dashboard/api-keys/{key}",
        show(*.ends_at)
    )]
    KeyLimitReached {
        key: ApiKeyId,
        /// In credits.
        limit: i64,
        ends_at: OffsetDateTime,
    },
    /// The document costs more than the key may still use in the period.
    #[error(
        "the document costs {price} credits and {free} are left of this API key's credit limit of {limit} a month; \
         nothing was charged; the count starts anew at {}; the limit can be changed at /dashboard/api-keys/{key}",
        show(*.ends_at)
    )]
    OverKeyLimit {
        /// In credits.
        price: i64,
        /// The remaining credits of the limit.
        free: i64,
        key: ApiKeyId,
        /// In credits.
        limit: i64,
        ends_at: OffsetDateTime,
    },
}

impl Balance {
    /// Returns all credits that may be used in the period.
    pub fn total(&self) -> i64 {
        self.own + self.overage_limit
    }
}

fn show(time: OffsetDateTime) -> String {
    time.format(&Rfc3339).unwrap_or_default()
}

/// How long credits granted by an operator can be used. The names are used in forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum GrantLasts {
    /// Until the account's period ends.
    Period,
    /// Until they are used up.
    UntilUsed,
}

impl GrantLasts {
    pub fn name(self) -> &'static str {
        match self {
            Self::Period => "End of this period",
            Self::UntilUsed => "Used up",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use time::{
        Duration,
        macros::{date, datetime},
    };

    use super::*;

    #[test]
    fn every_begun_ten_pages_cost_a_credit() {
        for (pages, credits) in [(1, 1), (10, 1), (11, 2), (20, 2), (21, 3), (2000, 200)] {
            assert_eq!(price(pages), credits, "{pages} pages");
        }
    }

    #[test]
    fn a_refusal_says_what_there_is_and_when_there_is_more() {
        let ends_at = datetime!(2027-02-28 14:30 UTC);
        let none_free = NotEnoughCredits::NoneFree {
            total: 10,
            used: 6,
            reserved: 4,
            ends_at,
        };
        assert_eq!(
            none_free.to_string(),
            "no credits are left: of 10, 6 are used and 4 reserved by renders in progress; the period ends at \
             2027-02-28T14:30:00Z"
        );
        let too_expensive = NotEnoughCredits::TooExpensive {
            price: 4,
            free: 3,
            ends_at,
        };
        assert_eq!(
            too_expensive.to_string(),
            "the document costs 4 credits and 3 are free; nothing was charged; the period ends at 2027-02-28T14:30:00Z"
        );
        let key = ApiKeyId::generate();
        let limit_reached = NotEnoughCredits::KeyLimitReached {
            key,
            limit: 100,
            ends_at,
        };
        assert_eq!(
            limit_reached.to_string(),
            format!(
                "this API key has reached its credit limit of 100 a month, with the credits reserved by renders in \
                 progress; the count starts anew at 2027-02-28T14:30:00Z; the limit can be changed at \
                 /dashboard/api-keys/{key}"
            )
        );
        let over_limit = NotEnoughCredits::OverKeyLimit {
            price: 4,
            free: 3,
            key,
            limit: 100,
            ends_at,
        };
        assert_eq!(
            over_limit.to_string(),
            format!(
                "the document costs 4 credits and 3 are left of this API key's credit limit of 100 a month; nothing was \
                 charged; the count starts anew at 2027-02-28T14:30:00Z; the limit can be changed at \
                 /dashboard/api-keys/{key}"
            )
        );
    }

    #[test]
    fn periods_begin_on_the_anchors_day_or_the_last_of_the_month() {
        let anchor = datetime!(2027-01-31 14:30:00.5 UTC);
        for (now, starts_at, ends_at) in [
            (
                datetime!(2027-01-31 14:30:00.5 UTC),
                datetime!(2027-01-31 14:30:00.5 UTC),
                datetime!(2027-02-28 14:30:00.5 UTC),
            ),
            (
                datetime!(2027-02-28 14:30:00.4 UTC),
                datetime!(2027-01-31 14:30:00.5 UTC),
                datetime!(2027-02-28 14:30:00.5 UTC),
            ),
            (
                datetime!(2027-03-01 00:00 UTC),
                datetime!(2027-02-28 14:30:00.5 UTC),
                datetime!(2027-03-31 14:30:00.5 UTC),
            ),
            (
                datetime!(2027-04-30 15:00 UTC),
                datetime!(2027-04-30 14:30:00.5 UTC),
                datetime!(2027-05-31 14:30:00.5 UTC),
            ),
            (
                datetime!(2028-02-29 14:30:00.5 UTC),
                datetime!(2028-02-29 14:30:00.5 UTC),
                datetime!(2028-03-31 14:30:00.5 UTC),
            ),
            (
                datetime!(2026-12-31 23:59 UTC),
                datetime!(2026-12-31 14:30:00.5 UTC),
                datetime!(2027-01-31 14:30:00.5 UTC),
            ),
        ] {
            assert_eq!(Period::around(anchor, now), Period { starts_at, ends_at }, "{now}");
        }
    }

    #[test]
    fn the_day_on_which_a_period_ends_is_divided() {
        let period = Period::around(datetime!(2027-01-31 14:30 UTC), datetime!(2027-02-01 00:00 UTC));
        for (day, starts, ends) in [
            (
                date!(2027 - 01 - 31),
                datetime!(2027-01-31 14:30 UTC),
                datetime!(2027-02-01 00:00 UTC),
            ),
            (
                date!(2027 - 02 - 01),
                datetime!(2027-02-01 00:00 UTC),
                datetime!(2027-02-02 00:00 UTC),
            ),
            (
                date!(2027 - 02 - 28),
                datetime!(2027-02-28 00:00 UTC),
                datetime!(2027-02-28 14:30 UTC),
            ),
        ] {
            assert_eq!(period.part_of(day), (starts, ends));
        }
    }

    #[test]
    fn a_leap_day_is_an_anchor_like_any_other() {
        let anchor = datetime!(2028-02-29 00:00 UTC);
        let period = Period::around(anchor, datetime!(2029-03-01 12:00 UTC));
        assert_eq!(
            (period.starts_at, period.ends_at),
            (datetime!(2029-02-28 00:00 UTC), datetime!(2029-03-29 00:00 UTC))
        );
    }

    #[test]
    fn another_offset_is_the_same_moment() {
        let anchor = datetime!(2027-01-31 14:30 UTC);
        let now = datetime!(2027-02-28 14:30 UTC);
        let offset = time::macros::offset!(+9);
        assert_eq!(
            Period::around(anchor.to_offset(offset), now.to_offset(offset)),
            Period::around(anchor, now)
        );
    }

    /// Times within the years 2000 to 2100, in whole seconds.
    fn moment() -> impl Strategy<Value = OffsetDateTime> {
        (946_684_800_i64..4_102_444_800).prop_map(|seconds| OffsetDateTime::UNIX_EPOCH + Duration::seconds(seconds))
    }

    proptest! {
        #[test]
        fn every_moment_is_in_one_period_and_the_next_begins_where_it_ends(anchor in moment(), now in moment()) {
            let period = Period::around(anchor, now);
            prop_assert!(period.starts_at <= now && now < period.ends_at);
            prop_assert!((28..=31).contains(&(period.ends_at - period.starts_at).whole_days()));
            prop_assert_eq!(period.starts_at.time(), anchor.time());
            prop_assert_eq!(Period::around(anchor, period.starts_at), period);
            prop_assert_eq!(Period::around(anchor, period.ends_at - Duration::microseconds(1)), period);
            prop_assert_eq!(Period::around(anchor, period.ends_at).starts_at, period.ends_at);
        }
    }
}
