//! Stripe's pages.

use axum::{
    Router,
    extract::{Path, RawQuery, State},
    response::{Html, IntoResponse, Redirect, Response},
    routing::get,
};
use url::form_urlencoded;

use crate::{Shared, state::find};

pub(crate) fn routes() -> Router<Shared> {
    Router::new()
        .route("/pay/{id}", get(checkout).post(pay))
        .route("/portal", get(portal))
}

fn page(title: &str, content: &str) -> Response {
    let head = format!("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>");
    Html(format!(
        "{head}<link rel=\"icon\" href=\"data:,\"><main><h1>{title}</h1>{content}</main></html>"
    ))
    .into_response()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

async fn checkout(State(shared): State<Shared>, Path(id): Path<String>) -> Response {
    let mut state = shared.lock();
    let session = find(&mut state.sessions, &id).expect("a session").clone();
    let amount = state.price(session["price"].as_str().unwrap())["unit_amount"].clone();
    let back = escaped(session["cancel_url"].as_str().unwrap());
    let form = "<form method=\"post\"><button>Pay</button></form>";
    page(
        "Checkout",
        &format!("<p>{amount} cents</p>{form}<p><a href=\"{back}\">Back</a></p>"),
    )
}

async fn pay(State(shared): State<Shared>, Path(id): Path<String>) -> Redirect {
    let success = {
        let mut state = shared.lock();
        state.pay(&id);
        let session = find(&mut state.sessions, &id).expect("a session");
        session["success_url"].as_str().unwrap().to_owned()
    };
    shared.send_events().await;
    Redirect::to(&success)
}

async fn portal(RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let back = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "back");
    let back = escaped(&back.expect("a way back").1);
    page("Customer portal", &format!("<p><a href=\"{back}\">Return</a></p>"))
}
