//! Redirects visitors of pages that require a log-in. Each page also authorizes itself.

use axum::{
    extract::Request,
    http::uri::PathAndQuery,
    middleware::Next,
    response::{IntoResponse, Redirect, Response},
};
use platen_app::model::own_path::{ADMIN, DASHBOARD, OwnPath};
use platen_core::service::sessions::LoggedIn;
use platen_domain::mail::CONFIRM_EMAIL_PATH;

/// Redirects to the log-in, which leads back afterwards.
pub(super) async fn keep(request: Request, next: Next) -> Response {
    let logged_in = request.extensions().get::<LoggedIn>().is_some();
    if logged_in || !is_for_people(request.uri().path()) {
        return next.run(request).await;
    }
    let wanted = request.uri().path_and_query().map(PathAndQuery::as_str);
    Redirect::to(&OwnPath::after_log_in(wanted).after("/log-in").to_string()).into_response()
}

fn is_for_people(path: &str) -> bool {
    let is_in = |area| {
        let below = path.strip_prefix(area);
        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    };
    path == CONFIRM_EMAIL_PATH || is_in(DASHBOARD) || is_in(ADMIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dashboard_and_all_below_it_are_for_people() {
        for path in [
            "/dashboard",
            "/dashboard/",
            "/dashboard/renders",
            "/admin/accounts",
            "/settings/confirm-email",
        ] {
            assert!(is_for_people(path), "{path}");
        }
        for path in ["/", "/dashboards", "/administer", "/log-in", "/web/person"] {
            assert!(!is_for_people(path), "{path}");
        }
    }
}
