//! The account of the logged-in user.

use async_trait::async_trait;
use platen_app::{
    backend::account::AccountBackend,
    error::AppError,
    model::{
        account_summary::AccountSummary,
        overview::{Activity, Span},
        usage::Usage,
    },
};
use platen_core::{
    clock,
    service::{account_summary, activity, announcements, credits, storage_use},
};
use platen_domain::{
    ids::{AnnouncementId, ApiKeyId},
    role::{Permission::SeeAccount, Role},
};

use crate::web::backend::{RequestBackend, overview};

#[async_trait]
impl AccountBackend for RequestBackend {
    async fn summary(&self) -> Result<AccountSummary, AppError> {
        let caller = self.caller_who_may(SeeAccount).await?;
        // Every page of the dashboard shows the summary.
        self.app.jobs.changes().page_loaded(caller.account);
        self.account_summary(&caller).await
    }

    async fn role(&self) -> Result<Role, AppError> {
        self.caller_who_may(SeeAccount).await?.role.ok_or(AppError::NoAccount)
    }

    async fn activity(&self, span: Span, new_key: Option<ApiKeyId>) -> Result<Activity, AppError> {
        let (caller, now) = (self.caller_who_may(SeeAccount).await?, clock::now());
        let usage = self.answer(credits::usage(&self.app.db, caller.account, now).await)?;
        let credits = overview::credit_period(usage, now);
        let renders = self.render_activity(&caller, None, span, &credits).await?;
        let latest = self.answer(activity::latest(&self.app.db, caller.account).await)?;
        Ok(Activity {
            renders,
            checklist: self.checklist(&caller, &latest, new_key, now).await?,
            latest: latest.into_iter().rev().collect(),
            credits,
        })
    }

    async fn dismiss_checklist(&self) -> Result<(), AppError> {
        let caller = self.caller_who_may(SeeAccount).await?;
        self.answer(account_summary::dismiss_checklist(&self.app.db, &caller, clock::now()).await)
    }

    async fn usage(&self) -> Result<Usage, AppError> {
        let (caller, now) = (self.caller_who_may(SeeAccount).await?, clock::now());
        let usage = self.answer(credits::usage(&self.app.db, caller.account, now).await)?;
        Ok(Usage {
            storage: self.answer(storage_use::list(&self.app.db, caller.account).await)?,
            limits: caller.limits,
            days: overview::used_days(&usage),
            credits: overview::credit_period(usage, now),
        })
    }

    async fn hide_announcement(&self, id: AnnouncementId) -> Result<(), AppError> {
        self.answer(announcements::hide(&self.app.db, self.user()?, id).await)
    }
}
