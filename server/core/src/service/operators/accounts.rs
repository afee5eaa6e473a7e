//! Operations of operators on accounts. Each is recorded twice: in the account's activity and in the operator audit
//! log.

use platen_domain::{
    account_log::{AccountEvent, Actor},
    audit_log::{AuditActor, AuditEvent, Reason},
    credits::GrantLasts,
    ids::AccountId,
    mail::MailKind,
    plan::OwnLimits,
};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::{
    service::{
        accounts::{PlanChoice, UnknownPlan, known_plan},
        credits::lock_balance,
        mail::write_to_owner,
    },
    store::{
        account_limits, account_log,
        accounts::{self, suspension},
        audit_log, credits,
        error::StoreError,
        tx,
    },
};

/// Error of an operation on an account.
#[derive(Debug, thiserror::Error)]
pub enum OperationError {
    /// No account has this id.
    #[error("there is no such account")]
    NotFound,
    /// No plan has this name.
    #[error(transparent)]
    UnknownPlan(#[from] UnknownPlan),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Actor, account, reason and time of an operation.
#[derive(Debug, Clone, Copy)]
pub struct Operation<'a> {
    pub actor: &'a AuditActor,
    pub account: AccountId,
    /// Reason that the operator gave.
    pub reason: &'a Reason,
    pub now: OffsetDateTime,
}

impl Operation<'_> {
    /// Records the audit events in both logs. Must be the last statement of its transaction.
    pub(super) async fn write_down(
        self,
        db: &mut PgConnection,
        account_event: &AccountEvent,
        event: AuditEvent,
    ) -> Result<(), StoreError> {
        account_log::insert(db, self.account, &Actor::OPERATOR, account_event, self.now).await?;
        let (actor, reason) = (self.actor, self.reason.as_str());
        audit_log::insert(db, actor, Some(self.account), event, reason, self.now).await
    }
}

/// Suspends an account: its keys are refused, queued renders wait, and members have read-only access. Renders in
/// progress end normally. Returns `false` if the account is suspended already.
pub async fn suspend(db: &PgPool, operation: Operation<'_>, notify_owner: bool) -> Result<bool, OperationError> {
    let (account, now) = (operation.account, operation.now);
    let reason = operation.reason.as_str();
    let mut transaction = tx::begin(db).await?;
    let owner = accounts::find_owner_address(&mut transaction, account).await?;
    let owner = owner.ok_or(OperationError::NotFound)?;
    if !suspension::suspend(&mut transaction, account, reason, now).await? {
        return Ok(false);
    }
    if notify_owner {
        let mail = MailKind::AccountSuspended {
            account: owner.called.clone(),
            reason: reason.to_owned(),
        };
        write_to_owner(&mut transaction, &owner, &mail, now).await?;
    }
    let notified = if notify_owner {
        "owner notified"
    } else {
        "owner not notified"
    };
    let event = AuditEvent::AccountSuspended {
        told: notified.to_owned(),
    };
    operation
        .write_down(&mut transaction, &AccountEvent::Suspended {}, event)
        .await?;
    tx::commit(transaction).await?;
    Ok(true)
}

/// Lifts the suspension of an account, and queued renders continue. Returns `false` if it is not suspended.
pub async fn restore(db: &PgPool, operation: Operation<'_>, notify_owner: bool) -> Result<bool, OperationError> {
    let (account, now) = (operation.account, operation.now);
    let mut transaction = tx::begin(db).await?;
    let owner = accounts::find_owner_address(&mut transaction, account).await?;
    let owner = owner.ok_or(OperationError::NotFound)?;
    if !suspension::restore(&mut transaction, account).await? {
        return Ok(false);
    }
    if notify_owner {
        let mail = MailKind::AccountRestored {
            account: owner.called.clone(),
        };
        write_to_owner(&mut transaction, &owner, &mail, now).await?;
    }
    let event = AuditEvent::AccountRestored {};
    operation
        .write_down(&mut transaction, &AccountEvent::Restored {}, event)
        .await?;
    tx::commit(transaction).await?;
    Ok(true)
}

/// Adds credits to the account's current period.
pub async fn grant(
    db: &PgPool,
    operation: Operation<'_>,
    amount: i64,
    lasts: GrantLasts,
) -> Result<(), OperationError> {
    let (account, now) = (operation.account, operation.now);
    let mut transaction = tx::begin(db).await?;
    if !accounts::is_there(&mut transaction, account).await? {
        return Err(OperationError::NotFound);
    }
    let period = lock_balance(&mut transaction, account, now).await?.period;
    let until = match lasts {
        GrantLasts::Period => {
            credits::grant(&mut transaction, account, period, amount).await?;
            period.ends_at.date().to_string()
        }
        GrantLasts::UntilUsed => {
            credits::add_bought(&mut transaction, account, period, amount).await?;
            "they are used up".to_owned()
        }
    };
    let account_event = AccountEvent::CreditsGranted { credits: amount };
    let event = AuditEvent::CreditsGranted { credits: amount, until };
    operation.write_down(&mut transaction, &account_event, event).await?;
    Ok(tx::commit(transaction).await?)
}

/// Changes an account's plan, and its credits from the current period on. Used credits remain used.
pub async fn set_plan(db: &PgPool, operation: Operation<'_>, choice: &PlanChoice) -> Result<(), OperationError> {
    let account = operation.account;
    let mut transaction = tx::begin(db).await?;
    let plan = known_plan(&mut transaction, &choice.plan).await??;
    let former = accounts::update_plan(&mut transaction, account, &plan, choice.credits).await?;
    let from = former.ok_or(OperationError::NotFound)?;
    let balance = lock_balance(&mut transaction, account, operation.now).await?;
    credits::update_allowance(&mut transaction, account, balance.period).await?;
    let account_event = AccountEvent::PlanSet { plan: plan.clone() };
    let to = match choice.credits {
        Some(credits) => format!("{plan} with {credits} credits a month"),
        None => plan,
    };
    operation
        .write_down(&mut transaction, &account_event, AuditEvent::PlanSet { from, to })
        .await?;
    Ok(tx::commit(transaction).await?)
}

/// Sets limits of an account, from its next request on. The plan's limits apply where none is set.
pub async fn set_limits(db: &PgPool, operation: Operation<'_>, limits: OwnLimits) -> Result<(), OperationError> {
    let mut transaction = tx::begin(db).await?;
    if !account_limits::update(&mut transaction, operation.account, &limits).await? {
        return Err(OperationError::NotFound);
    }
    let event = AuditEvent::LimitsSet {
        limits: limits.to_string(),
    };
    operation
        .write_down(&mut transaction, &AccountEvent::LimitsSet {}, event)
        .await?;
    Ok(tx::commit(transaction).await?)
}
