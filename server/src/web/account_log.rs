//! CSV export of an account's activity.

use axum::{
    extract::{RawQuery, State},
    http::StatusCode,
    response::Response,
};
use platen_core::{service::account_log, store::account_log::ActivityFilter};
use platen_domain::{ids::UserId, role::Permission};
use url::form_urlencoded;

use crate::web::{Web, csv_file, viewer::Viewer};

/// Exports all events that match the page's search, the latest first.
pub(super) async fn get(
    State(web): State<Web>,
    viewer: Viewer,
    RawQuery(query): RawQuery,
) -> Result<Response, StatusCode> {
    let account = viewer.caller(&web, Permission::ReadLog).await?.account;
    let filter = filter(&query.unwrap_or_default());
    let disposition = "attachment; filename=\"platen-activity.csv\"";
    Ok(csv_file::answer(disposition, &account_log::COLUMNS, move |after| {
        let (db, filter) = (web.app.db.clone(), filter.clone());
        async move { account_log::rows(&db, account, &filter, after).await }
    }))
}

fn filter(query: &str) -> ActivityFilter {
    let value = |name: &str| {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        pairs
            .find(|(key, value)| key == name && !value.is_empty())
            .map(|(_, value)| value.into_owned())
    };
    ActivityFilter {
        person: value("person").and_then(|id| UserId::parse(&id)),
        topic: value("about"),
    }
}
