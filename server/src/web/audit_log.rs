//! CSV export of the operator audit log.

use axum::{
    extract::{RawQuery, State},
    http::StatusCode,
    response::Response,
};
use platen_app::model::admin::audit_log::AuditSearch;
use platen_core::service::operators::log;
use url::form_urlencoded;

use crate::web::{Web, backend::admin::audit_log::filter, csv_file, viewer::Viewer};

/// Exports all events that match the page's search, the latest first.
pub(super) async fn get(
    State(web): State<Web>,
    viewer: Viewer,
    RawQuery(query): RawQuery,
) -> Result<Response, StatusCode> {
    viewer.operator(&web).await?;
    let query = query.unwrap_or_default();
    let search = AuditSearch::read(|name| {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    });
    let filter = filter(&search);
    let disposition = "attachment; filename=\"platen-audit.csv\"";
    Ok(csv_file::answer(disposition, &log::COLUMNS, move |after| {
        let (db, filter) = (web.app.db.clone(), filter.clone());
        async move { log::rows(&db, &filter, after).await }
    }))
}
