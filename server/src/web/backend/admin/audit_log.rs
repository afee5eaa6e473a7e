//! The operator audit log.

use async_trait::async_trait;
use platen_app::{
    backend::admin::audit_log::AuditBackend,
    error::AppError,
    model::admin::audit_log::{AuditPage, AuditSearch},
};
use platen_core::{service::operators::log, store::audit_log::AuditFilter};
use platen_domain::render::log::containing;
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
            entries: page.items,
            next: page.next.map(|number| number.to_string()),
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
