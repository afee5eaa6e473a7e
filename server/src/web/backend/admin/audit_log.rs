//! The operator audit log.

use async_trait::async_trait;
use platen_app::{
    backend::admin::audit_log::AuditBackend,
    error::AppError,
    model::admin::audit_log::{AuditEntry as ShownEntry, AuditPage, AuditSearch},
};
use platen_core::{
    service::operators::log,
    store::audit_log::{AuditFilter, AuditRow},
};
use platen_domain::{audit_log::AuditEvent, render::log::containing};
use time::{Date, OffsetDateTime};

use crate::web::backend::RequestBackend;

#[async_trait]
impl AuditBackend for RequestBackend {
    async fn audit_log(&self, search: AuditSearch) -> Result<AuditPage, AppError> {
        self.operator().await?;
        let after = search.after.as_deref().and_then(|number| number.parse().ok());
        let page = log::page(&self.app.db, &filter(&search), after).await;
        let page = page.map_err(|error| self.internal(&error))?;
        let end = log::end(&self.app.db).await;
        let end = end.map_err(|error| self.internal(&error))?;
        Ok(AuditPage {
            entries: page.items.iter().map(shown).collect(),
            next: page.next.map(|number| number.to_string()),
            kinds: AuditEvent::KINDS.to_vec(),
            end: end.map(|end| (end.number, end.digest)),
        })
    }
}

/// Converts a search to a filter of the store.
pub(in crate::web) fn filter(search: &AuditSearch) -> AuditFilter {
    let text = search.text.trim();
    let midnight = |day: Date| -> OffsetDateTime { day.midnight().assume_utc() };
    AuditFilter {
        text: (!text.is_empty()).then(|| containing(text)),
        kind: search.kind.clone(),
        from: search.from.map(midnight),
        before: search.to.and_then(Date::next_day).map(midnight),
    }
}

fn shown(row: &AuditRow) -> ShownEntry {
    let entry = &row.entry;
    ShownEntry {
        number: row.number,
        at: row.happened_at,
        who: entry.by.who().to_owned(),
        what: row.what(),
        account: entry.account.map(|account| {
            let name = entry.account_name.clone().unwrap_or_default();
            (
                account.to_string(),
                if name.is_empty() { account.to_string() } else { name },
            )
        }),
        reason: entry.reason.clone(),
        address: entry.by.address().map(ToOwned::to_owned),
    }
}
