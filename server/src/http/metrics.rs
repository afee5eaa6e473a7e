//! `/metrics`: metrics of the process, for Prometheus.

use axum::{
    Router,
    extract::{FromRef, MatchedPath, Request, State},
    http::{HeaderMap, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
    routing::get,
};
use platen_core::{
    config::metrics::MetricsConfig,
    service::{
        Services,
        metrics::{self, CONTENT_TYPE},
    },
};
use secrecy::ExposeSecret;
use subtle::ConstantTimeEq;

use crate::http::extract::bearer_token;

/// Label of requests that match no route.
const NO_ROUTE: &str = "none";
/// Label of methods that no route supports.
const OTHER_METHOD: &str = "other";

/// Returns the route, if metrics are served by the API's listener.
pub(super) fn routes<S: Clone + Send + Sync + 'static>(config: &MetricsConfig) -> Router<S>
where
    Services: FromRef<S>,
{
    match (config.listen, &config.token) {
        (None, Some(_)) => route(),
        _ => Router::new(),
    }
}

/// Returns the route, for any listener.
pub(super) fn route<S: Clone + Send + Sync + 'static>() -> Router<S>
where
    Services: FromRef<S>,
{
    Router::new().route("/metrics", get(show))
}

async fn show(State(app): State<Services>, headers: HeaderMap) -> Response {
    if !is_allowed(&app.config.metrics, &headers) {
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")]).into_response();
    }
    let text = metrics::expose(&app).await;
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response()
}

fn is_allowed(config: &MetricsConfig, headers: &HeaderMap) -> bool {
    let Some(token) = &config.token else { return true };
    let given = bearer_token(headers).unwrap_or_default();
    given.as_bytes().ct_eq(token.expose_secret().as_bytes()).into()
}

/// Counts every response. A client that disconnects before the response isn't counted.
pub(super) async fn count(State(app): State<Services>, request: Request, next: Next) -> Response {
    let method = known_method(request.method());
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or(NO_ROUTE, MatchedPath::as_str).to_owned();
    let response = next.run(request).await;
    app.metrics.http_answered(method, &route, class(response.status()));
    response
}

/// Maps unknown methods to one label, because clients can send arbitrary ones.
fn known_method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => OTHER_METHOD,
    }
}

fn class(status: StatusCode) -> &'static str {
    match status.as_u16() {
        ..200 => "1xx",
        200..300 => "2xx",
        300..400 => "3xx",
        400..500 => "4xx",
        500.. => "5xx",
    }
}
