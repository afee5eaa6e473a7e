//! CSV export of the operator audit log.

use axum::{
    extract::{Query, State},
    http::StatusCode,
    response::Response,
};
use platen_app::pages::{
    admin::audit_log::{FILTERS, filter},
    query::ListQuery,
};
use platen_core::service::operators::log;

use crate::web::{Web, csv_file, viewer::Viewer};

/// Exports all events that match the page's search, the latest first.
pub(super) async fn get(
    State(web): State<Web>,
    viewer: Viewer,
    Query(query): Query<Vec<(String, String)>>,
) -> Result<Response, StatusCode> {
    viewer.operator(&web).await?;
    let filter = filter(&ListQuery::of(&FILTERS, &query));
    let disposition = "attachment; filename=\"platen-audit.csv\"";
    Ok(csv_file::answer(disposition, &log::COLUMNS, move |after| {
        let (db, filter) = (web.app.db.clone(), filter.clone());
        async move { log::rows(&db, &filter, after).await }
    }))
}
