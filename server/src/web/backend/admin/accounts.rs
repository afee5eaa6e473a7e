//! Accounts, for operators.

use async_trait::async_trait;
use platen_app::{
    backend::admin::accounts::AdminAccountsBackend,
    error::AppError,
    model::{
        admin::accounts::{AccountFile, AccountPage, AccountSearch},
        payment::BillingDetails as ShownBillingDetails,
        rejection::Field,
    },
};
use platen_core::{
    clock,
    service::{
        accounts::PlanChoice,
        billing,
        operators::{
            accounts::{self, Operation, OperationError},
            directory,
            look::{self, ImpersonationError},
        },
        plans,
    },
    store::directory::{DirectoryCursor, DirectorySearch},
};
use platen_domain::{
    audit_log::{AuditActor, Reason},
    ids::AccountId,
    plan::{OwnLimits, StorageLimits},
};

use crate::web::backend::{RequestBackend, invalid, number, payment::billing_details};

/// Largest number of credits in one grant.
const MOST_CREDITS: i64 = 1_000_000_000;
const MIB: i32 = 1024 * 1024;
/// Largest storage limit: one pebibyte.
const MOST_STORED: i64 = 1 << 50;

#[async_trait]
impl AdminAccountsBackend for RequestBackend {
    async fn accounts(&self, search: AccountSearch) -> Result<AccountPage, AppError> {
        self.operator().await?;
        let wanted = DirectorySearch {
            text: search.text,
            plan: search.plan,
            state: search.state,
            order: search.order,
            after: search.after.as_deref().and_then(read_cursor),
        };
        let page = directory::list(&self.app.db, &wanted, clock::now()).await;
        let page = page.map_err(|error| self.internal(&error))?;
        Ok(AccountPage {
            accounts: page.entries,
            next: page.next.map(|next| format!("{}:{}", next.rank, next.account)),
            plans: self.plan_names().await?,
            counts: page.counts,
        })
    }

    async fn account_file(&self, id: String) -> Result<AccountFile, AppError> {
        self.operator().await?;
        let id = read_id(&id)?;
        let now = clock::now();
        let found = directory::find(&self.app.db, id, now).await;
        let found = found
            .map_err(|error| self.internal(&error))?
            .ok_or(AppError::NotFound)?;
        let billing_details_at_stripe = match &found.record.customer {
            Some(_) => billing::status::overview(&self.app.billing, id, false, now)
                .await
                .ok()
                .flatten(),
            None => None,
        };
        let invoices =
            billing_details_at_stripe.and_then(|overview| match billing_details(overview.billing_details?) {
                ShownBillingDetails::Known { invoices, .. } => Some(invoices),
                ShownBillingDetails::Unknown => None,
            });
        Ok(AccountFile {
            now,
            id: id.to_string(),
            file: found,
            plans: self.plan_names().await?,
            invoices,
        })
    }

    async fn suspend_account(&self, id: String, reason: String, notify_owner: bool) -> Result<(), AppError> {
        let (actor, account, reason) = (self.auditor().await?, read_id(&id)?, read_reason(&reason)?);
        let done = accounts::suspend(&self.app.db, operation(&actor, account, &reason), notify_owner).await;
        done.map(drop).map_err(|error| self.not_done(error))
    }

    async fn restore_account(&self, id: String, reason: String, notify_owner: bool) -> Result<(), AppError> {
        let (actor, account, reason) = (self.auditor().await?, read_id(&id)?, read_reason(&reason)?);
        let done = accounts::restore(&self.app.db, operation(&actor, account, &reason), notify_owner).await;
        done.map(drop).map_err(|error| self.not_done(error))
    }

    async fn grant_credits(&self, id: String, credits: String, lasts: String, reason: String) -> Result<(), AppError> {
        let (actor, account) = (self.auditor().await?, read_id(&id)?);
        let mut problems = Vec::new();
        let amount = number(&mut problems, Field::CreditAmount, &credits, 1, MOST_CREDITS);
        let lasts = lasts.parse().map_err(|_| AppError::Malformed)?;
        let reason = all_sound(problems, &reason)?;
        let amount = amount.ok_or_else(|| invalid(vec![Field::CreditAmount]))?;
        let done = accounts::grant(&self.app.db, operation(&actor, account, &reason), amount, lasts).await;
        done.map_err(|error| self.not_done(error))
    }

    async fn set_plan(&self, id: String, plan: String, credits: String, reason: String) -> Result<(), AppError> {
        let (actor, account) = (self.auditor().await?, read_id(&id)?);
        let mut problems = Vec::new();
        let credits = number(&mut problems, Field::PeriodCredits, &credits, 0, MOST_CREDITS);
        let reason = all_sound(problems, &reason)?;
        let choice = PlanChoice { plan, credits };
        let done = accounts::set_plan(&self.app.db, operation(&actor, account, &reason), &choice).await;
        done.map_err(|error| self.not_done(error))
    }

    async fn set_limits(&self, id: String, limits: [String; 5], reason: String) -> Result<(), AppError> {
        let (actor, account) = (self.auditor().await?, read_id(&id)?);
        let mut problems = Vec::new();
        let [concurrency, rate, body, deadline, storage] = &limits;
        let limits = OwnLimits {
            concurrency: number(&mut problems, Field::Concurrency, concurrency, 1, 1_000),
            rate_per_minute: number(&mut problems, Field::RatePerMinute, rate, 1, 1_000_000),
            body_bytes: number(&mut problems, Field::BodyMib, body, 1, 1_000).map(|mib: i32| mib * MIB),
            sync_deadline_seconds: number(&mut problems, Field::DeadlineSeconds, deadline, 1, 3_600),
            storage: storage_limits(&mut problems, storage),
        };
        let reason = all_sound(problems, &reason)?;
        let done = accounts::set_limits(&self.app.db, operation(&actor, account, &reason), limits).await;
        done.map_err(|error| self.not_done(error))
    }

    async fn impersonate(&self, id: String, reason: String) -> Result<(), AppError> {
        let (actor, account, reason) = (self.auditor().await?, read_id(&id)?, read_reason(&reason)?);
        let begun = look::begin(&self.app.db, &self.session, operation(&actor, account, &reason)).await;
        begun.map_err(|error| self.not_looked(error))
    }

    async fn stop_impersonation(&self) -> Result<Option<String>, AppError> {
        let Some(look) = self.look() else { return Ok(None) };
        let actor = AuditActor::of_operator(&self.operator().await?);
        let ended = look::end(&self.app.db, &self.session, &actor, look, clock::now()).await;
        ended.map_err(|error| self.not_looked(error))?;
        Ok(Some(look.account.to_string()))
    }
}

impl RequestBackend {
    /// Returns the actor for the audit log.
    async fn auditor(&self) -> Result<AuditActor, AppError> {
        Ok(AuditActor::of_operator(&self.confirmed_operator().await?))
    }

    async fn plan_names(&self) -> Result<Vec<String>, AppError> {
        let plans = plans::list(&self.app.db).await.map_err(|error| self.internal(&error))?;
        Ok(plans.into_iter().map(|plan| plan.name).collect())
    }

    fn not_done(&self, error: OperationError) -> AppError {
        match error {
            OperationError::NotFound => AppError::NotFound,
            OperationError::UnknownPlan(_) => invalid(vec![Field::Plan]),
            OperationError::Store(error) => self.internal(&error),
        }
    }

    fn not_looked(&self, error: ImpersonationError) -> AppError {
        match error {
            ImpersonationError::NotFound => AppError::NotFound,
            error @ (ImpersonationError::Store(_) | ImpersonationError::Session(_)) => self.internal(&error),
        }
    }
}

fn operation<'a>(actor: &'a AuditActor, account: AccountId, reason: &'a Reason) -> Operation<'a> {
    Operation {
        actor,
        account,
        reason,
        now: clock::now(),
    }
}

fn read_id(id: &str) -> Result<AccountId, AppError> {
    AccountId::parse(id).ok_or(AppError::NotFound)
}

fn read_cursor(text: &str) -> Option<DirectoryCursor> {
    let (rank, account) = text.split_once(':')?;
    Some(DirectoryCursor {
        rank: rank.parse().ok()?,
        account: AccountId::parse(account)?,
    })
}

fn read_reason(reason: &str) -> Result<Reason, AppError> {
    all_sound(Vec::new(), reason)
}

/// Returns the reason, or the error for all invalid fields.
fn all_sound(mut problems: Vec<Field>, reason: &str) -> Result<Reason, AppError> {
    match reason.parse() {
        Ok(reason) if problems.is_empty() => Ok(reason),
        Ok(_) => Err(invalid(problems)),
        Err(_) => {
            problems.push(Field::OperatorsReason);
            Err(invalid(problems))
        }
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
