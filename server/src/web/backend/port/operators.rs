//! Operators.

use async_trait::async_trait;
use platen_app::{
    backend::operators::OperatorBackend,
    error::AppError,
    model::{
        admin::{
            OperatorStanding,
            accounts::AccountFile,
            failed_jobs::{ChosenWork, FailedWorkPage, FailedWorkSearch},
            health::Health,
        },
        person::Person,
        rejection::Field,
    },
};
use platen_core::{
    clock,
    service::{
        accounts::PlanChoice,
        announcements, failed_jobs,
        operators::{accounts, directory, log, look},
    },
};
use platen_domain::{
    account_directory::{DirectoryPage, DirectorySearch},
    announcement::{Announcement, AnnouncementField, AnnouncementForm, NewAnnouncement},
    audit_log::{AuditActor, AuditFilter, AuditRow, Reason},
    failed_jobs::Done,
    ids::{AccountId, AnnouncementId, InstanceId},
    page::Page,
};
use time::OffsetDateTime;

use crate::web::backend::{
    RequestBackend, catalog, number,
    operations::{MOST_CREDITS, NO_ACCOUNT, operation, own_limits, read_reason},
    visitor_errors::invalid,
};

#[async_trait]
impl OperatorBackend for RequestBackend {
    async fn operator_standing(&self) -> Result<OperatorStanding, AppError> {
        let operator = self.operator().await?;
        Ok(OperatorStanding {
            person: Person {
                name: operator.name,
                email: operator.user.email,
            },
            health: self.health_summary().await,
        })
    }

    async fn accounts(&self, search: DirectorySearch) -> Result<(DirectoryPage, Vec<String>), AppError> {
        self.operator().await?;
        let page = self.answer(directory::list(&self.app.db, &search, clock::now()).await)?;
        Ok((page, self.plan_names().await?))
    }

    async fn account_file(&self, id: AccountId) -> Result<AccountFile, AppError> {
        self.operator().await?;
        let now = clock::now();
        let found = self.answer(directory::find(&self.app.db, id, now).await)?;
        let found = found.ok_or(AppError::NotFound)?;
        let invoices = match &found.record.customer {
            Some(_) => catalog::invoices(&self.app.billing, id, now).await,
            None => None,
        };
        Ok(AccountFile {
            now,
            id: id.to_string(),
            file: found,
            plans: self.plan_names().await?,
            invoices,
        })
    }

    async fn suspend_account(&self, id: AccountId, reason: String, notify_owner: bool) -> Result<(), AppError> {
        let (actor, reason) = (self.auditor().await?, read_reason(Vec::new(), &reason)?);
        let operation = operation(&actor, id, &reason);
        self.answer(accounts::suspend(&self.app.db, operation, notify_owner).await)
            .map(drop)
    }

    async fn restore_account(&self, id: AccountId, reason: String, notify_owner: bool) -> Result<(), AppError> {
        let (actor, reason) = (self.auditor().await?, read_reason(Vec::new(), &reason)?);
        let operation = operation(&actor, id, &reason);
        self.answer(accounts::restore(&self.app.db, operation, notify_owner).await)
            .map(drop)
    }

    async fn grant_credits(
        &self,
        id: AccountId,
        credits: String,
        lasts: String,
        reason: String,
    ) -> Result<(), AppError> {
        let (actor, mut problems) = (self.auditor().await?, Vec::new());
        let amount = number(&mut problems, Field::CreditAmount, &credits, 1, MOST_CREDITS);
        let lasts = lasts.parse().map_err(|_| AppError::Malformed)?;
        let reason = read_reason(problems, &reason)?;
        let amount = amount.ok_or_else(|| invalid(vec![Field::CreditAmount]))?;
        self.answer(accounts::grant(&self.app.db, operation(&actor, id, &reason), amount, lasts).await)
    }

    async fn set_plan(&self, id: AccountId, plan: String, credits: String, reason: String) -> Result<(), AppError> {
        let (actor, mut problems) = (self.auditor().await?, Vec::new());
        let credits = number(&mut problems, Field::PeriodCredits, &credits, 0, MOST_CREDITS);
        let (reason, choice) = (read_reason(problems, &reason)?, PlanChoice { plan, credits });
        self.answer(accounts::set_plan(&self.app.db, operation(&actor, id, &reason), &choice).await)
    }

    async fn set_limits(&self, id: AccountId, limits: [String; 5], reason: String) -> Result<(), AppError> {
        let (actor, mut problems) = (self.auditor().await?, Vec::new());
        let limits = own_limits(&mut problems, &limits);
        let reason = read_reason(problems, &reason)?;
        self.answer(accounts::set_limits(&self.app.db, operation(&actor, id, &reason), limits).await)
    }

    async fn impersonate(&self, id: AccountId, reason: String) -> Result<(), AppError> {
        let (actor, reason) = (self.auditor().await?, read_reason(Vec::new(), &reason)?);
        self.answer(look::begin(&self.app.db, &self.session, operation(&actor, id, &reason)).await)
    }

    async fn stop_impersonation(&self) -> Result<Option<AccountId>, AppError> {
        let Some(look) = self.look() else { return Ok(None) };
        let actor = AuditActor::of_operator(&self.operator().await?);
        self.answer(look::end(&self.app.db, &self.session, &actor, look, clock::now()).await)?;
        Ok(Some(look.account))
    }

    async fn failed_jobs(&self, search: FailedWorkSearch) -> Result<FailedWorkPage, AppError> {
        self.operator().await?;
        let (db, filter) = (&self.app.db, self.failed_job_filter(&search).await?);
        Ok(FailedWorkPage {
            work: self.answer(failed_jobs::page(db, filter, search.after).await)?,
            found: self.answer(failed_jobs::count(db, filter).await)?,
            account_known: filter.account != Some(NO_ACCOUNT),
            now: clock::now(),
        })
    }

    async fn retry_failed_work(&self, chosen: ChosenWork, reason: String) -> Result<Done, AppError> {
        let actor = self.auditor().await?;
        let reason = match reason.trim() {
            "" => Reason::default(),
            reason => read_reason(Vec::new(), reason)?,
        };
        let chosen = self.chosen_jobs(chosen).await?;
        self.answer(failed_jobs::retry(&self.app, &actor, chosen, &reason, clock::now()).await)
    }

    async fn discard_failed_work(&self, chosen: ChosenWork, reason: String) -> Result<Done, AppError> {
        let (actor, reason) = (self.auditor().await?, read_reason(Vec::new(), &reason)?);
        let chosen = self.chosen_jobs(chosen).await?;
        self.answer(failed_jobs::discard(&self.app, &actor, chosen, &reason, clock::now()).await)
    }

    async fn health(&self, process: Option<InstanceId>) -> Result<Health, AppError> {
        self.operator().await?;
        self.health_page(process).await
    }

    async fn audit_log(
        &self,
        filter: AuditFilter,
        after: Option<i64>,
    ) -> Result<(Page<AuditRow, i64>, Option<(i64, String)>), AppError> {
        self.operator().await?;
        let page = self.answer(log::page(&self.app.db, &filter, after).await)?;
        let end = self.answer(log::end(&self.app.db).await)?;
        Ok((page, end.map(|end| (end.number, end.digest))))
    }

    async fn announcements(&self) -> Result<(Vec<Announcement>, OffsetDateTime), AppError> {
        self.operator().await?;
        Ok((self.answer(announcements::list(&self.app.db).await)?, clock::now()))
    }

    async fn announce(&self, form: AnnouncementForm) -> Result<(), AppError> {
        let (actor, now) = (self.auditor().await?, clock::now());
        let new = NewAnnouncement::parse(&form, now);
        let new = new.map_err(|fields| invalid(fields.into_iter().map(announcement_field).collect()))?;
        self.answer(announcements::announce(&self.app.db, &actor, &new, now).await)
    }

    async fn end_announcement(&self, id: AnnouncementId) -> Result<(), AppError> {
        let ended = announcements::end(&self.app.db, &self.auditor().await?, id, clock::now()).await;
        self.answer(ended)?.then_some(()).ok_or(AppError::NotFound)
    }
}

fn announcement_field(field: AnnouncementField) -> Field {
    match field {
        AnnouncementField::Words => Field::AnnouncementWords,
        AnnouncementField::LinkAddress => Field::LinkAddress,
        AnnouncementField::LinkWords => Field::LinkWords,
        AnnouncementField::Level => Field::Level,
        AnnouncementField::StartsAt => Field::StartsAt,
        AnnouncementField::EndsAt => Field::EndsAt,
    }
}
