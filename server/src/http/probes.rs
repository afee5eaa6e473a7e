//! Liveness and readiness probes.

use std::time::Duration;

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use platen_core::{service::Services, store::pool};
use serde_json::json;

/// A database that responds more slowly counts as unreachable.
const DATABASE_PATIENCE: Duration = Duration::from_secs(2);

/// `GET /livez`: the process responds.
pub(super) async fn live() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: 200 if database and browser respond, otherwise 503. The body names the component that doesn't
/// respond.
pub(super) async fn ready(State(app): State<Services>) -> Response {
    let database = matches!(
        tokio::time::timeout(DATABASE_PATIENCE, pool::ping(&app.db)).await,
        Ok(Ok(()))
    );
    let browser = app.engine.status().browsers > 0;
    let status = if database && browser {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let word = |answers: bool| if answers { "ok" } else { "missing" };
    (
        status,
        Json(json!({"database": word(database), "browser": word(browser)})),
    )
        .into_response()
}
