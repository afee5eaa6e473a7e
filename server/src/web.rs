//! The dashboard: the pages of `platen-app`, its server functions, and its static files.
//!
//! Every page is rendered here as complete HTML; its islands are hydrated in the browser. Pages and server functions
//! reach the services through [`backend`], which is provided in the context of each request.

mod account_log;
mod assets;
mod audit_log;
mod backend;
mod batches;
mod csv_file;
mod documents;
mod events;
mod exports;
mod failures;
mod functions;
mod policy;
mod preview_pdf;
mod requests;
mod require_session;
mod site;
mod template_data;
mod thumbnails;
mod typed_values;
mod usage;
mod viewer;

use std::sync::Arc;

use axum::{
    Router,
    extract::{DefaultBodyLimit, FromRef, Request, State},
    http::{HeaderMap, StatusCode, header, request::Parts},
    middleware,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use leptos::prelude::{expect_context, provide_context};
use platen_app::{
    document::document,
    pages::{assets::UPLOAD_PATH, fonts::SHEET_PATH},
    routes::App,
};
use platen_core::service::Services;
use tower_http::compression::{
    CompressionLayer, Predicate,
    predicate::{DefaultPredicate, NotForContentType},
};

use crate::{
    http::{self, OwnApi, body_limits::FormLimits, browser_session},
    web::{
        backend::RequestBackend,
        site::{Site, SiteError},
    },
};

/// State shared by pages and server functions.
#[derive(Clone, FromRef)]
struct Web {
    app: Services,
    api: OwnApi,
    site: Arc<Site>,
}

/// Returns the routes of the dashboard, and the fallback for unknown paths. If the dashboard's files are missing, only
/// the dashboard is unavailable.
pub(crate) fn router(app: &Services, api: OwnApi) -> Router {
    routes(app, api).unwrap_or_else(|error| {
        tracing::warn!(%error, "dashboard unavailable: run deploy/site.sh and set PLATEN_SITE_DIR to its files");
        Router::new().fallback(without_pages)
    })
}

fn routes(app: &Services, api: OwnApi) -> Result<Router, SiteError> {
    let site = Arc::new(Site::open(&app.config.site.folder)?);
    let mut pages = Router::new().route("/web/{function}", post(functions::call));
    for listing in leptos_axum::generate_route_list(App) {
        pages = pages.route(listing.path(), get(page));
    }
    let pages = pages
        .merge(events::routes())
        .route("/dashboard/team/log.csv", get(account_log::get))
        .route("/admin/audit.csv", get(audit_log::get))
        .route("/dashboard/billing/usage.csv", get(usage::get))
        .route(
            "/dashboard/templates/{id}/preview.pdf",
            get(preview_pdf::get).post(preview_pdf::post),
        )
        .route(
            UPLOAD_PATH,
            // Bounded by `body_limits`.
            get(assets::form)
                .post(assets::upload)
                .layer(DefaultBodyLimit::disable()),
        )
        .route(
            "/dashboard/batches/{id}/rows",
            // As for assets.
            get(batches::form)
                .post(batches::upload)
                .layer(DefaultBodyLimit::disable()),
        )
        .route(
            "/dashboard/batches/{id}/preview.pdf",
            get(batches::form).post(batches::preview),
        )
        .route("/dashboard/batches/{id}/documents.zip", get(batches::archive))
        .route("/dashboard/batches/{id}/documents.pdf", get(batches::collection))
        .route("/dashboard/batches/{id}/results.csv", get(batches::results))
        .route("/dashboard/batches/{id}/errors.csv", get(batches::errors))
        .route("/dashboard/assets/{id}/picture", get(assets::picture))
        .route("/dashboard/assets/{id}/content", get(assets::download))
        .route("/dashboard/assets/{id}/font", get(assets::font))
        .route(SHEET_PATH, get(assets::specimen_sheet))
        .route("/dashboard/renders/{id}/document.pdf", get(documents::get))
        .route("/dashboard/renders/{id}/pages/{name}", get(thumbnails::get))
        .route("/dashboard/renders/{id}/request.json", get(requests::get))
        .route("/dashboard/templates/{id}/data.json", get(template_data::get))
        .route("/dashboard/exports/{id}", get(exports::get));
    let pages = pages
        .fallback(elsewhere)
        .layer(middleware::from_fn(require_session::keep));
    let proxies = app.config.http.trusted_proxies.clone();
    let form_limits = FormLimits {
        time: app.config.limits.body_time,
        memory: app.memory.clone(),
    };
    let web = Web {
        app: app.clone(),
        api,
        site: Arc::clone(&site),
    };
    Ok(
        browser_session::protect(pages, &app.people, &app.base_url, proxies, form_limits)
            .layer(middleware::from_fn_with_state(web.clone(), functions::show_again))
            .layer(middleware::from_fn(policy::keep))
            .layer(middleware::from_fn_with_state(Arc::clone(&site), failures::explain))
            // Outermost, because the other layers read the response.
            .layer(compression())
            .with_state(web)
            .merge(site.routes()),
    )
}

/// Compresses responses, except for streams (a compressed stream would be buffered), archives and PDFs.
fn compression() -> CompressionLayer<impl Predicate> {
    let at_once = NotForContentType::const_new("application/octet-stream");
    let packed = NotForContentType::const_new("application/zip");
    let documents = NotForContentType::const_new("application/pdf");
    let layer = CompressionLayer::new().no_br().no_deflate().no_zstd();
    layer.compress_when(DefaultPredicate::new().and(at_once).and(packed).and(documents))
}

/// Returns whether the client accepts HTML, as browsers do.
fn wants_page(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).into_iter();
    accepted
        .filter_map(|accepted| accepted.to_str().ok())
        .any(|accepted| accepted.contains("text/html"))
}

/// Renders the page at the request's path, or the page for unknown paths.
async fn page(State(web): State<Web>, request: Request) -> Response {
    let files = web.site.files.clone();
    let render = leptos_axum::render_app_async_stream_with_context(move || provide(&web), move || document(&files));
    render(request).await
}

/// The fallback for unknown paths: a page for browsers, the API's error for programs.
async fn elsewhere(state: State<Web>, request: Request) -> Response {
    if wants_page(request.headers()) {
        page(state, request).await
    } else {
        http::no_such_path().await
    }
}

async fn without_pages(headers: HeaderMap) -> Response {
    if wants_page(&headers) {
        let message = "The files of the dashboard are missing; see the service's log. The API is available.\n";
        return (StatusCode::SERVICE_UNAVAILABLE, message).into_response();
    }
    http::no_such_path().await
}

/// Provides the context of pages and server functions.
fn provide(web: &Web) {
    let request = expect_context::<Parts>();
    provide_context(RequestBackend::shared(web, &request));
    if let Some(typed) = typed_values::of_request(&request.headers) {
        provide_context(typed);
    }
    policy::announce(&web.app.config.billing);
}
