//! The HTTP API. Handlers take what they need as extractors, call one service and respond. All errors become responses
//! in [`error`].

pub mod body_limits;
pub mod browser_session;
mod client_address;
mod conditional;
pub mod csrf;
mod dev_mail;
mod drain;
mod error;
mod extract;
pub(crate) mod file_name;
pub(crate) mod files;
pub(crate) mod held_body;
mod metrics;
mod probes;
mod rate_limit;
mod reference;
pub(crate) mod request_log;
mod security_txt;
pub(crate) mod server;
mod stripe;
pub(crate) mod v1;

use axum::{
    Router,
    extract::{FromRef, Request},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{MethodRouter, any, delete, get, post, put},
};
use platen_core::service::Services;
use platen_domain::{caller::Caller, validation::schema};
use tower::ServiceExt;

use crate::http::error::ApiError;

/// State shared by handlers and extractors.
#[derive(Clone, FromRef)]
struct ApiState {
    app: Services,
}

/// Returns every operation of the API, under its path in `openapi.json`.
fn operations() -> impl IntoIterator<Item = (&'static str, MethodRouter<ApiState>)> {
    use v1::{assets, batches, connections, credits, health, renderers, renders, templates};
    [
        ("/api/v1/assets", get(assets::get).post(assets::post)),
        (
            "/api/v1/assets/{id}",
            get(assets::one::get).put(assets::one::put).delete(assets::one::delete),
        ),
        ("/api/v1/assets/{id}/content", get(assets::one::content)),
        ("/api/v1/batches", get(batches::get).post(batches::post)),
        ("/api/v1/batches/{id}", get(batches::one::get)),
        ("/api/v1/batches/{id}/cancel", post(batches::one::cancel)),
        ("/api/v1/batches/{id}/documents", get(batches::one::documents)),
        ("/api/v1/batches/{id}/errors", get(batches::rows::errors)),
        ("/api/v1/batches/{id}/pause", post(batches::one::pause)),
        ("/api/v1/batches/{id}/results", get(batches::rows::results)),
        ("/api/v1/batches/{id}/resume", post(batches::one::resume)),
        ("/api/v1/batches/{id}/retry", post(batches::one::retry)),
        ("/api/v1/batches/{id}/rows", put(batches::rows::put)),
        ("/api/v1/connections", get(connections::get).post(connections::post)),
        (
            "/api/v1/connections/{id}",
            get(connections::one::get).delete(connections::one::delete),
        ),
        ("/api/v1/connections/{id}/test", post(connections::one::test)),
        ("/api/v1/credits", get(credits::get)),
        ("/api/v1/health", get(health::get)),
        ("/api/v1/renderers/pdf", post(renderers::pdf::post)),
        ("/api/v1/renderers/pdf/async", post(renderers::asynchronous::post)),
        ("/api/v1/renders", get(renders::get)),
        ("/api/v1/renders/{id}", get(renders::one::get)),
        ("/api/v1/renders/{id}/accessibility", get(renders::accessibility::get)),
        ("/api/v1/renders/{id}/callback/resend", post(renders::one::resend)),
        ("/api/v1/renders/{id}/cancel", post(renders::one::cancel)),
        (
            "/api/v1/renders/{id}/links",
            post(renders::links::post).delete(renders::links::delete),
        ),
        ("/api/v1/channels", get(templates::promotions::channels)),
        ("/api/v1/templates", get(templates::get).post(templates::post)),
        (
            "/api/v1/templates/{id}",
            get(templates::one::get)
                .patch(templates::one::patch)
                .delete(templates::one::delete),
        ),
        ("/api/v1/templates/{id}/channels", get(templates::promotions::releases)),
        ("/api/v1/templates/{id}/compare", post(templates::comparison::post)),
        ("/api/v1/templates/{id}/preview", post(templates::preview::post)),
        (
            "/api/v1/templates/{id}/promotions",
            get(templates::promotions::list).post(templates::promotions::post),
        ),
        (
            "/api/v1/templates/{id}/promotions/{promotion}",
            delete(templates::promotions::delete),
        ),
        (
            "/api/v1/templates/{id}/samples",
            get(templates::samples::get).put(templates::samples::put),
        ),
        ("/api/v1/templates/{id}/schema", get(templates::settings::schema)),
        (
            "/api/v1/templates/{id}/settings",
            get(templates::settings::get).patch(templates::settings::patch),
        ),
        ("/api/v1/templates/{id}/versions", get(templates::versions::list)),
        (
            "/api/v1/templates/{id}/versions/{number}",
            get(templates::versions::get),
        ),
        (
            "/api/v1/templates/{id}/versions/{number}/restore",
            post(templates::versions::restore),
        ),
    ]
}

/// Builds the router with all routes. `dashboard` builds the routes of the dashboard, and the fallback for unknown
/// paths.
pub(crate) fn router(app: Services, dashboard: impl FnOnce(&Services, OwnApi) -> Router) -> Router {
    schema::compile();
    let body_time = app.config.limits.body_time;
    let mut router = Router::new();
    for (path, methods) in operations() {
        router = router.route(path, methods);
    }
    let state = ApiState { app: app.clone() };
    let own_api = OwnApi(router.clone().with_state(state.clone()));
    router
        .merge(reference::routes())
        .merge(metrics::routes(&app.config.metrics))
        .merge(dev_mail::routes(&app.mailing.delivery))
        .merge(security_txt::routes(&app.config.disclosure))
        .route("/files/links/{token}", get(files::linked))
        .route("/files/renders/{name}", get(files::get))
        .route("/livez", get(probes::live))
        .route("/readyz", get(probes::ready))
        .route("/webhooks/stripe", post(stripe::post))
        .method_not_allowed_fallback(|| async { ApiError::WrongMethod })
        .route("/api/{*path}", any(no_such_path))
        .layer(middleware::from_fn(move |request: Request, next: Next| {
            body_limits::of_api(body_time, request, next)
        }))
        .merge(dashboard(&app, own_api).with_state(()))
        .layer(middleware::from_fn(rate_limit::add_headers))
        .layer(middleware::from_fn(drain::drain))
        .layer(middleware::from_fn(request_log::log))
        .layer(middleware::from_fn_with_state(app, metrics::count))
        .with_state(state)
}

/// The operations of the API for logged-in users, without a key.
#[derive(Clone)]
pub(crate) struct OwnApi(Router);

impl OwnApi {
    /// Handles a request as if it had been made with a key of the caller. It counts toward the account's rate limit.
    pub(crate) async fn answer(&self, caller: Caller, mut request: Request) -> Response {
        request.extensions_mut().insert(PreauthenticatedCaller(caller));
        match self.0.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

/// The preauthenticated caller of a request within the process. Clients can't set extensions.
#[derive(Clone)]
struct PreauthenticatedCaller(Caller);

/// The response for unknown paths.
pub(crate) async fn no_such_path() -> Response {
    ApiError::NoSuchPath.into_response()
}

/// Builds the router of a process that only runs background work.
pub fn probes(app: Services) -> Router {
    Router::new()
        .route("/livez", get(probes::live))
        .route("/readyz", get(probes::ready))
        .merge(metrics::routes(&app.config.metrics))
        .fallback(|| async { ApiError::NoSuchPath })
        .layer(middleware::from_fn(request_log::log))
        .layer(middleware::from_fn_with_state(app.clone(), metrics::count))
        .with_state(app)
}

/// Builds the router of a listener that serves only metrics.
pub fn metrics(app: Services) -> Router {
    metrics::route()
        .fallback(|| async { ApiError::NoSuchPath })
        .with_state(app)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use platen_domain::validation::schema::OPENAPI;
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_path_is_described_and_every_description_has_a_path() {
        let document: Value = serde_json::from_str(OPENAPI).expect("JSON");
        let described = document["paths"].as_object().expect("paths").keys();
        let described: BTreeSet<_> = described.map(String::as_str).collect();
        let served: BTreeSet<_> = operations().into_iter().map(|(path, _)| path).collect();
        assert_eq!(served, described);
    }
}
