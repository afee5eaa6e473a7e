//! CSV export of an account's activity.

use axum::{
    extract::{Query, State},
    http::StatusCode,
    response::Response,
};
use platen_app::pages::{
    query::ListQuery,
    team::log::{FILTERS, filter},
};
use platen_core::service::account_log;
use platen_domain::role::Permission;

use crate::web::{Web, csv_file, viewer::Viewer};

/// Exports all events that match the page's search, the latest first.
pub(super) async fn get(
    State(web): State<Web>,
    viewer: Viewer,
    Query(query): Query<Vec<(String, String)>>,
) -> Result<Response, StatusCode> {
    let account = viewer.caller(&web, Permission::ReadLog).await?.account;
    let filter = filter(&ListQuery::of(&FILTERS, &query));
    let disposition = "attachment; filename=\"platen-activity.csv\"";
    Ok(csv_file::answer(disposition, &account_log::COLUMNS, move |after| {
        let (db, filter) = (web.app.db.clone(), filter.clone());
        async move { account_log::rows(&db, account, &filter, after).await }
    }))
}
