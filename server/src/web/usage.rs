//! CSV export of the credit usage in the current period.

use axum::{extract::State, http::StatusCode, response::Response};
use platen_core::{clock, service::credits};
use platen_domain::role::Permission;

use crate::web::{Web, csv_file, viewer::Viewer};

/// By day, meter and kind of key, the oldest first.
pub(super) async fn get(State(web): State<Web>, viewer: Viewer) -> Result<Response, StatusCode> {
    let account = viewer.caller(&web, Permission::SeeAccount).await?.account;
    let disposition = "attachment; filename=\"platen-usage.csv\"";
    Ok(csv_file::answer(disposition, &credits::COLUMNS, move |_: Option<()>| {
        let db = web.app.db.clone();
        async move { Ok((credits::rows(&db, account, clock::now()).await?, None)) }
    }))
}
