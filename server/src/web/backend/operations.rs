//! Actions of operators on accounts and failed jobs.

use platen_app::{
    error::AppError,
    model::{
        admin::failed_jobs::{ChosenWork, FailedWorkSearch},
        rejection::Field,
    },
};
use platen_core::{
    clock,
    service::{
        accounts::{self, SelectError, Selection},
        failed_jobs::Chosen,
        operators::accounts::Operation,
        plans,
    },
};
use platen_domain::{
    audit_log::{AuditActor, Reason},
    failed_jobs::{FailedJobFilter, MOST_AT_ONCE},
    ids::AccountId,
    plan::{OwnLimits, StorageLimits},
};

use super::{RequestBackend, number, visitor_errors::invalid};

/// Largest number of credits in one grant.
pub(super) const MOST_CREDITS: i64 = 1_000_000_000;
const MIB: i32 = 1024 * 1024;
/// Largest storage limit: one pebibyte.
const MOST_STORED: i64 = 1 << 50;
/// An id that no account has, for searches for an unknown account.
pub(super) const NO_ACCOUNT: AccountId = AccountId(uuid::Uuid::nil());

impl RequestBackend {
    /// Returns the actor for the audit log.
    pub(super) async fn auditor(&self) -> Result<AuditActor, AppError> {
        Ok(AuditActor::of_operator(&self.confirmed_operator().await?))
    }

    pub(super) async fn plan_names(&self) -> Result<Vec<String>, AppError> {
        let plans = self.answer(plans::list(&self.app.db).await)?;
        Ok(plans.into_iter().map(|plan| plan.name).collect())
    }

    /// Returns the filter for a search.
    pub(super) async fn failed_job_filter(&self, search: &FailedWorkSearch) -> Result<FailedJobFilter, AppError> {
        let account = match search.account.as_deref() {
            Some(text) => Some(self.account_meant(text).await?.unwrap_or(NO_ACCOUNT)),
            None => None,
        };
        let kind = search.kind;
        Ok(FailedJobFilter { kind, account })
    }

    /// Finds the account with this id, or the one whose owner has this email address.
    async fn account_meant(&self, text: &str) -> Result<Option<AccountId>, AppError> {
        let selection = match (AccountId::parse(text), text.parse()) {
            (Some(id), _) => Selection::Id(id),
            (None, Ok(email)) => Selection::OwnedBy(email),
            (None, Err(_)) => return Ok(None),
        };
        match accounts::select(&self.app.db, selection).await {
            Ok(found) => Ok(Some(found.account)),
            Err(SelectError::Store(error)) => Err(self.internal(&error)),
            Err(_) => Ok(None),
        }
    }

    /// Returns the jobs that an operator has chosen.
    pub(super) async fn chosen_jobs(&self, chosen: ChosenWork) -> Result<Chosen, AppError> {
        match chosen {
            ChosenWork::Found(search) => Ok(Chosen::Found(self.failed_job_filter(&search).await?)),
            ChosenWork::These(names) => {
                let names: Vec<_> = names.iter().filter_map(|name| name.parse().ok()).collect();
                if names.is_empty() || names.len() > usize::from(MOST_AT_ONCE) {
                    return Err(invalid(vec![Field::Chosen]));
                }
                Ok(Chosen::These(names))
            }
        }
    }
}

/// Returns the operation on an account.
pub(super) fn operation<'a>(actor: &'a AuditActor, account: AccountId, reason: &'a Reason) -> Operation<'a> {
    Operation {
        actor,
        account,
        reason,
        now: clock::now(),
    }
}

/// Returns the reason, or the error for all invalid fields.
pub(super) fn read_reason(mut problems: Vec<Field>, reason: &str) -> Result<Reason, AppError> {
    match reason.parse() {
        Ok(reason) if problems.is_empty() => Ok(reason),
        Ok(_) => Err(invalid(problems)),
        Err(_) => {
            problems.push(Field::OperatorsReason);
            Err(invalid(problems))
        }
    }
}

/// Parses limits that override those of a plan.
pub(super) fn own_limits(problems: &mut Vec<Field>, typed: &[String; 5]) -> OwnLimits {
    let [concurrency, rate, body, deadline, storage] = typed;
    OwnLimits {
        concurrency: number(problems, Field::Concurrency, concurrency, 1, 1_000),
        rate_per_minute: number(problems, Field::RatePerMinute, rate, 1, 1_000_000),
        body_bytes: number(problems, Field::BodyMib, body, 1, 1_000).map(|mib: i32| mib * MIB),
        sync_deadline_seconds: number(problems, Field::DeadlineSeconds, deadline, 1, 3_600),
        storage: storage_limits(problems, storage),
    }
}

/// Parses lines such as `templates 100`.
fn storage_limits(problems: &mut Vec<Field>, lines: &str) -> StorageLimits {
    let read = |line: &str| {
        let (name, limit) = line.split_once(char::is_whitespace)?;
        let limit = limit.trim().replace(',', "").parse().ok()?;
        (0..=MOST_STORED)
            .contains(&limit)
            .then_some((name.parse().ok()?, limit))
    };
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    let limits: Option<StorageLimits> = lines.map(read).collect();
    limits.unwrap_or_else(|| {
        problems.push(Field::StorageLimits);
        StorageLimits::new()
    })
}
