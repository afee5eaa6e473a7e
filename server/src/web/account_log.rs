//! The log of an account as a file.

use axum::{
    body::Body,
    extract::{RawQuery, State},
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use futures::{StreamExt, stream};
use platen_app::model::role::Permission;
use url::form_urlencoded;

use crate::{
    domain::{csv, ids::UserId},
    service::account_log,
    store::account_log::Wanted,
    web::{Web, viewer::Viewer},
};

/// All that the page would show of the same search, the latest first.
pub(super) async fn get(State(web): State<Web>, viewer: Viewer, RawQuery(query): RawQuery) -> Response {
    let account = match viewer.caller(&web, Permission::ReadLog).await {
        Ok(caller) => caller.account,
        Err(status) => return status.into_response(),
    };
    let wanted = wanted(&query.unwrap_or_default());
    let head = csv::row(&account_log::COLUMNS);
    let parts = stream::unfold(Some(None), move |next| {
        let (db, wanted) = (web.app.db.clone(), wanted.clone());
        async move {
            let after = next?;
            match account_log::rows(&db, account, &wanted, after).await {
                Ok((rows, next)) => Some((Ok(rows), next.map(Some))),
                Err(error) => {
                    tracing::error!(%error, "the log of an account could not be written out");
                    // The file ends in the middle, which the browser says.
                    Some((Err(error), None))
                }
            }
        }
    });
    // Bodies are asked for more after their end.
    let body = Body::from_stream(stream::once(async { Ok(head) }).chain(parts).fuse());
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/csv; charset=utf-8"),
        ),
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::from_static("attachment; filename=\"platen-activity.csv\""),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, body).into_response()
}

fn wanted(query: &str) -> Wanted {
    let value = |name: &str| {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        pairs
            .find(|(key, value)| key == name && !value.is_empty())
            .map(|(_, value)| value.into_owned())
    };
    Wanted {
        person: value("person").and_then(|id| UserId::parse(&id)),
        topic: value("about"),
    }
}
