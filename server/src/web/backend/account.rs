//! The account of the logged-in user.

use async_trait::async_trait;
use platen_app::{
    backend::{account::AccountBackend, team::TeamBackend as _},
    error::AppError,
    model::{
        account_summary::{AccountSummary, CreditPeriod, ReadOnly},
        overview::{Activity, Span},
        person::Person,
        usage::{Usage, UsedDay},
    },
};
use platen_core::{
    clock,
    service::{account_summary, activity, announcements, billing, credits, operators::look, storage_use},
    store::usage::PeriodUsage,
};
use platen_domain::{
    caller::Access,
    credits::{Meter, Period},
    render::statistics::RenderStep,
    role::{Permission, Role},
};
use time::{Date, Duration, OffsetDateTime, Time, UtcOffset};

use super::RequestBackend;

#[async_trait]
impl AccountBackend for RequestBackend {
    async fn summary(&self) -> Result<AccountSummary, AppError> {
        let (caller, now) = (self.caller_who_may(Permission::SeeAccount).await?, clock::now());
        let found = account_summary::find(&self.app.db, &caller, now).await;
        let found = found.map_err(|error| self.internal(&error))?;
        let due = billing::status::payment_due(&self.app.billing, caller.account, now).await;
        let due = due.map_err(|error| self.internal(&error))?;
        let announcements = announcements::list_shown(&self.app.db, caller.user.id, now).await;
        let announcements = announcements.map_err(|error| self.internal(&error))?;
        let summary = found.summary;
        let role = caller.role.ok_or(AppError::NoAccount)?;
        let accounts = self.own_accounts().await?;
        let account = accounts.iter().find(|account| account.current);
        Ok(AccountSummary {
            account: account.map_or_else(String::new, |account| account.name.clone()),
            person: Person {
                name: summary.person,
                email: caller.user.email,
            },
            operator: summary.operator,
            read_only: match (self.look(), caller.access) {
                (Some(look), _) => Some(ReadOnly::Looking {
                    minutes_left: look::minutes_left(look, now),
                }),
                (None, Access::Suspended) => Some(ReadOnly::Suspended),
                (None, Access::Full | Access::Looking) => None,
            },
            announcements,
            role,
            accounts,
            payment_due: due,
            delete_at: summary.delete_at,
            second_factor_from: summary.second_factor_from,
            credits: credit_period(found.usage, now),
            members: summary.members,
            templates: summary.templates,
            keys: summary.keys,
            connections: summary.connections,
        })
    }

    async fn role(&self) -> Result<Role, AppError> {
        let caller = self.caller_who_may(Permission::SeeAccount).await?;
        caller.role.ok_or(AppError::NoAccount)
    }

    async fn activity(&self, span: Span) -> Result<Activity, AppError> {
        let (account, now) = (self.caller_who_may(Permission::SeeAccount).await?.account, clock::now());
        let usage = credits::usage(&self.app.db, account, now).await;
        let credits = credit_period(usage.map_err(|error| self.internal(&error))?, now);
        let times = Times::of(span, &credits);
        let found = activity::activity(&self.app.db, account, times.from, times.by_hour()).await;
        let found = found.map_err(|error| self.internal(&error))?;
        Ok(Activity {
            span,
            now,
            figures: found.figures,
            steps: times.filled(&found.steps),
            first_run: found.latest.is_empty(),
            latest: found.latest.into_iter().rev().collect(),
            credits,
        })
    }

    async fn usage(&self) -> Result<Usage, AppError> {
        let (account, now) = (self.caller_who_may(Permission::SeeAccount).await?.account, clock::now());
        let usage = credits::usage(&self.app.db, account, now).await;
        let usage = usage.map_err(|error| self.internal(&error))?;
        let storage = storage_use::list(&self.app.db, account).await;
        Ok(Usage {
            storage: storage.map_err(|error| self.internal(&error))?,
            days: used_days(&usage),
            credits: credit_period(usage, now),
        })
    }
}

/// Returns the credits used with live keys on every day of the period.
fn used_days(usage: &PeriodUsage) -> Vec<UsedDay> {
    let sum = |day: Date, meter: Meter| {
        let of_day = usage.days.iter().filter(|used| used.livemode && used.day == day);
        of_day
            .filter(|used| used.meter == meter.into_str())
            .map(|used| used.credits)
            .sum()
    };
    let Period { starts_at, ends_at } = usage.balance.period;
    let mut days = Vec::new();
    let mut day = starts_at.to_offset(UtcOffset::UTC).date();
    while day.midnight().assume_utc() < ends_at {
        days.push(UsedDay {
            day,
            sync: sum(day, Meter::SyncRender),
            queued: sum(day, Meter::AsyncRender),
        });
        day += Duration::DAY;
    }
    days
}

fn credit_period(usage: PeriodUsage, now: OffsetDateTime) -> CreditPeriod {
    CreditPeriod {
        plan: usage.plan,
        starts_at: usage.balance.period.starts_at,
        ends_at: usage.balance.period.ends_at,
        now,
        total: usage.balance.total(),
        overage_limit: usage.balance.overage_limit,
        used: usage.balance.used,
    }
}

/// The hours or days on a chart.
struct Times {
    from: OffsetDateTime,
    until: OffsetDateTime,
    step: Duration,
}

impl Times {
    fn of(span: Span, credits: &CreditPeriod) -> Self {
        let now = credits.now.to_offset(UtcOffset::UTC);
        let tomorrow = now.replace_time(Time::MIDNIGHT) + Duration::DAY;
        match span {
            Span::Day => {
                let hour = Time::from_hms(now.hour(), 0, 0).unwrap_or(Time::MIDNIGHT);
                let until = now.replace_time(hour) + Duration::HOUR;
                Self {
                    from: until - Duration::DAY,
                    until,
                    step: Duration::HOUR,
                }
            }
            Span::Week => Self {
                from: tomorrow - Duration::WEEK,
                until: tomorrow,
                step: Duration::DAY,
            },
            Span::Period => Self {
                from: credits.starts_at.to_offset(UtcOffset::UTC).replace_time(Time::MIDNIGHT),
                until: credits.ends_at,
                step: Duration::DAY,
            },
        }
    }

    fn by_hour(&self) -> bool {
        self.step == Duration::HOUR
    }

    /// Returns every step, with zeros for steps without renders.
    fn filled(&self, found: &[RenderStep]) -> Vec<RenderStep> {
        let mut steps = Vec::new();
        let mut from = self.from;
        while from < self.until {
            let known = found.iter().find(|step| step.from == from);
            steps.push(RenderStep {
                from,
                succeeded: known.map_or(0, |step| step.succeeded),
                failed: known.map_or(0, |step| step.failed),
            });
            from += self.step;
        }
        steps
    }
}
