//! Failed jobs, for operators.

use async_trait::async_trait;
use platen_app::{
    backend::admin::failed_jobs::FailedWorkBackend,
    error::AppError,
    model::{
        admin::failed_jobs::{ChosenWork, FailedWorkPage, FailedWorkSearch},
        rejection::Field,
    },
};
use platen_core::{
    clock,
    service::{
        accounts::{self, SelectError, Selection},
        failed_jobs::{self, Chosen},
    },
    store::failed_jobs::FailedJobFilter,
};
use platen_domain::{
    audit_log::{AuditActor, Reason},
    failed_jobs::{Done, MOST_AT_ONCE},
    ids::AccountId,
};

use super::super::{RequestBackend, invalid};

/// An id that no account has, for searches for an unknown account.
const NO_ACCOUNT: AccountId = AccountId(uuid::Uuid::nil());
#[async_trait]
impl FailedWorkBackend for RequestBackend {
    async fn failed_jobs(&self, search: FailedWorkSearch) -> Result<FailedWorkPage, AppError> {
        self.operator().await?;
        let filter = self.filter(&search).await?;
        let after = search.after.as_deref().and_then(|cursor| cursor.parse().ok());
        let page = failed_jobs::page(&self.app.db, filter, after).await;
        let page = page.map_err(|error| self.internal(&error))?;
        let found = failed_jobs::count(&self.app.db, filter).await;
        Ok(FailedWorkPage {
            work: page.items,
            next: page.next.map(|next| next.to_string()),
            found: found.map_err(|error| self.internal(&error))?,
            account_known: filter.account != Some(NO_ACCOUNT),
            now: clock::now(),
        })
    }

    async fn retry_failed_work(&self, chosen: ChosenWork, reason: String) -> Result<Done, AppError> {
        let actor = AuditActor::of_operator(&self.confirmed_operator().await?);
        let reason = match reason.trim() {
            "" => Reason::default(),
            reason => sound_reason(reason)?,
        };
        let chosen = self.chosen(chosen).await?;
        let done = failed_jobs::retry(&self.app, &actor, chosen, &reason, clock::now()).await;
        done.map_err(|error| self.internal(&error))
    }

    async fn discard_failed_work(&self, chosen: ChosenWork, reason: String) -> Result<Done, AppError> {
        let actor = AuditActor::of_operator(&self.confirmed_operator().await?);
        let reason = sound_reason(&reason)?;
        let chosen = self.chosen(chosen).await?;
        let done = failed_jobs::discard(&self.app, &actor, chosen, &reason, clock::now()).await;
        done.map_err(|error| self.internal(&error))
    }
}

impl RequestBackend {
    async fn filter(&self, search: &FailedWorkSearch) -> Result<FailedJobFilter, AppError> {
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

    async fn chosen(&self, chosen: ChosenWork) -> Result<Chosen, AppError> {
        match chosen {
            ChosenWork::Found(search) => Ok(Chosen::Found(self.filter(&search).await?)),
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

fn sound_reason(reason: &str) -> Result<Reason, AppError> {
    reason.parse().map_err(|_| invalid(vec![Field::OperatorsReason]))
}
