//! The account of the logged-in user: its summary, and charts of its renders and credits.

use platen_app::{
    backend::team::TeamBackend as _,
    error::AppError,
    model::{
        account_summary::{AccountSummary, CreditPeriod},
        overview::{Checklist, FirstRender, RenderActivity, Span},
        person::Person,
        usage::UsedDay,
    },
    read_only::ReadOnly,
};
use platen_core::{
    clock,
    service::{account_summary, activity, announcements, billing, operators::look, renders::thumbnails},
    store::usage::PeriodUsage,
};
use platen_domain::{
    caller::{Access, Caller},
    credits::{Meter, Period},
    ids::ApiKeyId,
    render::{
        history::RenderState,
        statistics::{RenderGlance, RenderStep},
        thumbnail::Pictures,
    },
    role::Permission::ManageKeys,
};
use time::{Date, Duration, OffsetDateTime, Time, UtcOffset};

use super::RequestBackend;

impl RequestBackend {
    /// Returns what every dashboard page shows.
    pub(super) async fn account_summary(&self, caller: &Caller) -> Result<AccountSummary, AppError> {
        let (db, now) = (&self.app.db, clock::now());
        let found = self.answer(account_summary::find(db, caller, now).await)?;
        let due = billing::status::payment_due(&self.app.billing, caller.account, now).await;
        let announcements = self.answer(announcements::list_shown(db, caller.user.id, now).await)?;
        let summary = found.summary;
        let accounts = self.own_accounts().await?;
        let account = accounts.iter().find(|account| account.current);
        Ok(AccountSummary {
            account: account.map_or_else(String::new, |account| account.name.clone()),
            person: Person {
                name: summary.person,
                email: caller.user.email.clone(),
            },
            operator: summary.operator,
            read_only: match (self.look(), caller.access) {
                (Some(look), _) => Some(ReadOnly::Impersonation {
                    minutes_left: look::minutes_left(look, now),
                }),
                (None, Access::Suspended) => Some(ReadOnly::Suspended),
                (None, Access::Full | Access::Looking) => None,
            },
            announcements,
            role: caller.role.ok_or(AppError::NoAccount)?,
            accounts,
            payment_due: self.answer(due)?,
            delete_at: summary.delete_at,
            second_factor_from: summary.second_factor_from,
            credits: credit_period(found.usage, now),
            members: summary.members,
            templates: summary.templates,
            assets: summary.assets,
            keys: summary.keys,
            connections: summary.connections,
        })
    }
}

impl RequestBackend {
    /// Returns the checklist of the first steps, until the last is done or the user has dismissed it. `latest` are the
    /// latest renders, the latest first. `new_key` is the key that was just created for the page.
    pub(super) async fn checklist(
        &self,
        caller: &Caller,
        latest: &[RenderGlance],
        new_key: Option<ApiKeyId>,
        now: OffsetDateTime,
    ) -> Result<Option<Checklist>, AppError> {
        let (app, account) = (&self.app, caller.account);
        let summary = self.answer(account_summary::find(&app.db, caller, now).await)?.summary;
        if summary.checklist_dismissed {
            return Ok(None);
        }
        let mut checklist = Checklist {
            person: summary.person,
            role: caller.role.ok_or(AppError::NoAccount)?,
            has_key: summary.keys > 0,
            new_key: None,
            render: self.first_render(caller, latest).await?,
            went_on: summary.templates > 0 || summary.members > 1,
        };
        if checklist.has_document() && checklist.went_on {
            // It must not return once these renders are deleted.
            if caller.access == Access::Full {
                self.answer(account_summary::dismiss_checklist(&app.db, caller, now).await)?;
            }
            return Ok(None);
        }
        if caller.may(ManageKeys) && caller.access == Access::Full {
            let new = self.new_key(account, new_key, now).await?;
            checklist.new_key = new.map(|new| new.key.expose().to_owned());
        }
        Ok(Some(checklist))
    }

    async fn first_render(&self, caller: &Caller, latest: &[RenderGlance]) -> Result<Option<FirstRender>, AppError> {
        let succeeded = |render: &&RenderGlance| render.state == RenderState::Succeeded.into_str();
        let Some(render) = latest.iter().find(succeeded).or(latest.first()) else {
            return Ok(None);
        };
        let Ok(state) = render.state.parse() else {
            return Ok(None);
        };
        let pictures = match (state, caller.access) {
            (RenderState::Succeeded, Access::Full | Access::Suspended) => {
                self.answer(thumbnails::list(&self.app, caller.account, render.id).await)?
            }
            _ => Pictures::None,
        };
        Ok(Some(FirstRender {
            id: render.id,
            state,
            picture: match pictures {
                Pictures::Drawn(drawn) => drawn.into_iter().find(|thumbnail| thumbnail.page == 1),
                Pictures::Coming | Pictures::None => None,
            },
        }))
    }
}

impl RequestBackend {
    /// Returns the renders of all keys or of one in a span.
    pub(super) async fn render_activity(
        &self,
        caller: &Caller,
        key: Option<ApiKeyId>,
        span: Span,
        credits: &CreditPeriod,
    ) -> Result<RenderActivity, AppError> {
        let times = Times::of(span, credits);
        let found = activity::activity(&self.app.db, caller.account, key, times.span(credits.now)).await;
        let found = self.answer(found)?;
        Ok(RenderActivity {
            span,
            now: credits.now,
            figures: found.figures,
            before: found.before,
            steps: times.filled(&found.steps),
        })
    }
}

/// Returns the credits used with live keys on every day of the period.
pub(super) fn used_days(usage: &PeriodUsage) -> Vec<UsedDay> {
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

pub(super) fn credit_period(usage: PeriodUsage, now: OffsetDateTime) -> CreditPeriod {
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

    fn span(&self, now: OffsetDateTime) -> activity::Span {
        activity::Span {
            from: self.from,
            now,
            length: self.until - self.from,
            by_hour: self.step == Duration::HOUR,
        }
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
