//! The API.

use axum::{Router, http::StatusCode, routing::get};

use crate::state::AppState;

/// Every route.
pub fn router(state: AppState) -> Router {
    Router::new()
        .route("/livez", get(|| async { StatusCode::NO_CONTENT }))
        .with_state(state)
}
