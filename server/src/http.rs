//! The API over HTTP. Handlers take what they need as extractors, call one service and answer; every error becomes an
//! answer in [`error`].

mod drain;
mod error;
mod extract;
mod file_name;
mod probes;
mod rate_limit;
mod request_log;
mod v1;

use axum::{
    Router,
    extract::FromRef,
    http::header,
    middleware,
    routing::{get, post},
};

use crate::{
    domain::{render, validation::schema::OPENAPI},
    http::{error::ApiError, rate_limit::RateLimit},
    state::AppState,
};

/// What handlers and extractors share.
#[derive(Clone, FromRef)]
struct ApiState {
    app: AppState,
    rate_limit: RateLimit,
}

/// Every route.
pub fn router(app: AppState) -> Router {
    render::compile_schemas();
    let rate_limit = RateLimit::per_minute(app.config.limits.rate_per_minute);
    Router::new()
        .route("/api/v1/health", get(v1::health::get))
        .route("/api/v1/renderers/pdf", post(v1::renderers::pdf::post))
        .route(
            "/openapi.json",
            get(|| async { ([(header::CONTENT_TYPE, "application/json")], OPENAPI) }),
        )
        .route("/livez", get(probes::live))
        .route("/readyz", get(probes::ready))
        .fallback(|| async { ApiError::NoSuchPath })
        .method_not_allowed_fallback(|| async { ApiError::WrongMethod })
        .layer(middleware::from_fn(drain::drain))
        .layer(middleware::from_fn(request_log::log))
        .with_state(ApiState { app, rate_limit })
}
