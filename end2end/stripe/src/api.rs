//! Stripe's API.

use axum::{
    Json, Router,
    extract::{Path, RawForm, RawQuery, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::{Value, json};
use url::form_urlencoded;

use crate::{
    Shared,
    state::{Form, MeterEvents, find, now, value},
};

pub(crate) fn routes() -> Router<Shared> {
    Router::new()
        .route("/v1/products", post(create_product))
        .route("/v1/products/{id}", get(product))
        .route("/v1/prices", get(prices).post(create_price))
        .route("/v1/customers", post(create_customer))
        .route("/v1/customers/{id}", get(customer))
        .route("/v1/checkout/sessions", get(sessions).post(create_session))
        .route("/v1/billing_portal/sessions", post(portal))
        .route("/v1/subscriptions", get(subscriptions))
        .route(
            "/v1/subscriptions/{id}",
            post(update_subscription).delete(delete_subscription),
        )
        .route("/v1/billing/meters", get(meters).post(create_meter))
        .route("/v1/billing/meters/{id}/event_summaries", get(summaries))
        .route("/v1/billing/meter_events", post(create_meter_event))
        .route("/v1/invoices", get(invoices))
        .route("/v1/invoices/create_preview", post(preview))
        .route("/fake/webhook", post(webhook))
        .route("/fake/failed-payment", post(fail_payment))
}

fn parse(text: &[u8]) -> Form {
    form_urlencoded::parse(text).into_owned().collect()
}

fn query(text: Option<String>) -> Form {
    parse(text.unwrap_or_default().as_bytes())
}

fn refuse(status: StatusCode, kind: &str, message: &str) -> Response {
    (status, Json(json!({"error": {"type": kind, "message": message}}))).into_response()
}

fn none(what: &str) -> Response {
    refuse(
        StatusCode::NOT_FOUND,
        "invalid_request_error",
        &format!("No such {what}"),
    )
}

/// Lists the latest object first, like Stripe.
fn list(found: impl DoubleEndedIterator<Item = Value>) -> Response {
    let data: Vec<Value> = found.rev().collect();
    Json(json!({"object": "list", "has_more": false, "url": "/v1", "data": data})).into_response()
}

async fn webhook(State(shared): State<Shared>, RawQuery(text): RawQuery) {
    shared.lock().webhook = value(&query(text), "url").map(ToOwned::to_owned);
}

/// Makes the payment for a customer's latest subscription fail, as of `seconds_ago`.
async fn fail_payment(State(shared): State<Shared>, RawQuery(text): RawQuery) {
    let form = query(text);
    let [email, seconds_ago] = ["email", "seconds_ago"].map(|name| value(&form, name).unwrap());
    {
        let mut state = shared.lock();
        let customer = state.customers.iter().find(|one| one["email"] == email).unwrap();
        let customer = customer["id"].clone();
        let mut theirs = state.subscriptions.iter().filter(|one| one["customer"] == customer);
        let subscription = theirs.next_back().unwrap()["id"].as_str().unwrap().to_owned();
        state.fail_payment(&subscription, seconds_ago.parse().unwrap());
    }
    shared.send_events().await;
}

async fn create_product(State(shared): State<Shared>, RawForm(body): RawForm) -> Response {
    let form = parse(&body);
    let product = json!({"id": value(&form, "id"), "object": "product", "name": value(&form, "name")});
    shared.lock().products.push(product.clone());
    Json(product).into_response()
}

async fn product(State(shared): State<Shared>, Path(id): Path<String>) -> Response {
    match find(&mut shared.lock().products, &id) {
        Some(product) => Json(product.clone()).into_response(),
        None => none("product"),
    }
}

async fn prices(State(shared): State<Shared>, RawQuery(text): RawQuery) -> Response {
    let form = query(text);
    let wanted = |price: &&Value| {
        let mut keys = form.iter().filter(|(name, _)| name == "lookup_keys[]");
        keys.any(|(_, key)| price["lookup_key"] == key.as_str())
    };
    list(shared.lock().prices.iter().filter(wanted).cloned())
}

async fn create_price(State(shared): State<Shared>, RawForm(body): RawForm) -> Response {
    let form = parse(&body);
    let mut state = shared.lock();
    let usage = value(&form, "recurring[usage_type]").unwrap_or("licensed");
    let recurring = value(&form, "recurring[interval]").map(|interval| {
        json!({
            "interval": interval, "interval_count": 1, "usage_type": usage, "meter": value(&form, "recurring[meter]"),
        })
    });
    let whole = value(&form, "unit_amount");
    let amount: Option<i64> = whole.map(|amount| amount.parse().unwrap());
    let decimal = value(&form, "unit_amount_decimal").or(whole);
    let price = json!({
        "id": state.id("price"), "object": "price", "product": value(&form, "product"),
        "lookup_key": value(&form, "lookup_key"), "currency": value(&form, "currency"), "unit_amount": amount,
        "unit_amount_decimal": decimal, "recurring": recurring,
    });
    state.prices.push(price.clone());
    Json(price).into_response()
}

async fn create_customer(State(shared): State<Shared>, headers: HeaderMap, RawForm(body): RawForm) -> Response {
    let form = parse(&body);
    let mut state = shared.lock();
    let key = headers["idempotency-key"].to_str().unwrap().to_owned();
    if let Some((_, answer)) = state.answered.iter().find(|(known, _)| *known == key) {
        return Json(answer.clone()).into_response();
    }
    let customer = json!({
        "id": state.id("cus"), "object": "customer", "name": value(&form, "name"), "email": value(&form, "email"),
    });
    state.customers.push(customer.clone());
    state.answered.push((key, customer.clone()));
    state.happened("customer.created", &customer);
    Json(customer).into_response()
}

async fn customer(State(shared): State<Shared>, Path(id): Path<String>) -> Response {
    match find(&mut shared.lock().customers, &id) {
        Some(customer) => Json(customer.clone()).into_response(),
        None => none("customer"),
    }
}

async fn sessions(State(shared): State<Shared>, RawQuery(text): RawQuery) -> Response {
    let form = query(text);
    let state = shared.lock();
    let wanted = |one: &&Value| one["customer"] == value(&form, "customer").unwrap() && one["status"] == "complete";
    let expands = value(&form, "expand[]") == Some("data.payment_intent.latest_charge");
    let found = state.sessions.iter().filter(wanted).cloned().map(|mut session| {
        let intent = state.intents.iter().find(|(id, _)| session["id"] == id.as_str());
        session["payment_intent"] = match intent {
            Some((_, intent)) if expands => intent.clone(),
            Some((_, intent)) => intent["id"].clone(),
            None => Value::Null,
        };
        session
    });
    list(found)
}

async fn create_session(State(shared): State<Shared>, RawForm(body): RawForm) -> Response {
    let form = parse(&body);
    let mut state = shared.lock();
    let id = state.id("cs");
    let session = json!({
        "id": id, "object": "checkout.session", "mode": value(&form, "mode"), "customer": value(&form, "customer"),
        "status": "open", "payment_status": "unpaid", "created": now(), "url": format!("{}pay/{id}", state.url),
        "metadata": {"platen_credits": value(&form, "metadata[platen_credits]")},
        "price": value(&form, "line_items[0][price]"), "success_url": value(&form, "success_url"),
        "cancel_url": value(&form, "cancel_url"),
    });
    state.sessions.push(session.clone());
    Json(session).into_response()
}

async fn portal(State(shared): State<Shared>, RawForm(body): RawForm) -> Response {
    let form = parse(&body);
    let back = form_urlencoded::Serializer::new(String::new())
        .append_pair("back", value(&form, "return_url").unwrap())
        .finish();
    let url = format!("{}portal?{back}", shared.lock().url);
    Json(json!({"id": "bps_1", "object": "billing_portal.session", "url": url})).into_response()
}

async fn subscriptions(State(shared): State<Shared>, RawQuery(text): RawQuery) -> Response {
    let form = query(text);
    let state = shared.lock();
    let wanted = |one: &&Value| {
        let theirs = value(&form, "customer").is_none_or(|customer| one["customer"] == customer);
        theirs && (value(&form, "status") == Some("all") || one["status"] != "canceled")
    };
    list(state.subscriptions.iter().filter(wanted).cloned())
}

async fn update_subscription(State(shared): State<Shared>, Path(id): Path<String>, RawForm(body): RawForm) -> Response {
    let changed = shared.lock().update_subscription(&id, &parse(&body));
    shared.send_events().await;
    match changed {
        Some(changed) => Json(changed).into_response(),
        None => refuse(StatusCode::PAYMENT_REQUIRED, "card_error", "Your card was declined."),
    }
}

async fn delete_subscription(State(shared): State<Shared>, Path(id): Path<String>) -> Response {
    shared.lock().end(&id);
    shared.send_events().await;
    Json(json!({"id": id})).into_response()
}

async fn meters(State(shared): State<Shared>) -> Response {
    list(shared.lock().meters.iter().cloned())
}

async fn create_meter(State(shared): State<Shared>, RawForm(body): RawForm) -> Response {
    let form = parse(&body);
    let mut state = shared.lock();
    let meter = json!({
        "id": state.id("mtr"), "object": "billing.meter", "event_name": value(&form, "event_name"), "status": "active",
    });
    state.meters.push(meter.clone());
    Json(meter).into_response()
}

async fn create_meter_event(State(shared): State<Shared>, RawForm(body): RawForm) -> Response {
    let form = parse(&body);
    let mut state = shared.lock();
    match state.at_meter_events {
        MeterEvents::Count | MeterEvents::CountAndLoseTheAnswer => {}
        MeterEvents::Refuse => return refuse(StatusCode::BAD_REQUEST, "invalid_request_error", "No such customer."),
        MeterEvents::Lose => return refuse(StatusCode::INTERNAL_SERVER_ERROR, "api_error", "Something went wrong."),
    }
    let identifier = value(&form, "identifier").unwrap();
    if state.meter_events.iter().any(|event| event["identifier"] == identifier) {
        let message = format!("An event already exists with identifier {identifier}.");
        return refuse(StatusCode::BAD_REQUEST, "invalid_request_error", &message);
    }
    let number = |name: &str| -> i64 { value(&form, name).unwrap().parse().unwrap() };
    let event = json!({
        "object": "billing.meter_event", "identifier": identifier, "event_name": value(&form, "event_name"),
        "timestamp": number("timestamp"), "payload": {
            "stripe_customer_id": value(&form, "payload[stripe_customer_id]"), "value": number("payload[value]"),
        },
    });
    state.meter_events.push(event.clone());
    if state.at_meter_events == MeterEvents::CountAndLoseTheAnswer {
        return refuse(StatusCode::INTERNAL_SERVER_ERROR, "api_error", "Something went wrong.");
    }
    Json(event).into_response()
}

async fn summaries(State(shared): State<Shared>, RawQuery(text): RawQuery) -> Response {
    let form = query(text);
    let number = |name: &str| -> i64 { value(&form, name).unwrap().parse().unwrap() };
    let times = number("start_time")..number("end_time");
    let customer = value(&form, "customer").unwrap();
    let state = shared.lock();
    let counted = state.meter_events.iter().filter(|event| {
        event["payload"]["stripe_customer_id"] == customer && times.contains(&event["timestamp"].as_i64().unwrap())
    });
    let sum: i64 = counted.map(|event| event["payload"]["value"].as_i64().unwrap()).sum();
    list(std::iter::once(json!({
        "id": "mtrusg_1", "object": "billing.meter_event_summary", "aggregated_value": sum,
    })))
}

async fn invoices(State(shared): State<Shared>, RawQuery(text): RawQuery) -> Response {
    let form = query(text);
    let state = shared.lock();
    let wanted = |one: &&Value| {
        ["customer", "subscription", "status"]
            .into_iter()
            .all(|name| value(&form, name).is_none_or(|wanted| one[name] == wanted))
    };
    list(state.invoices.iter().filter(wanted).cloned())
}

async fn preview(State(shared): State<Shared>, RawForm(body): RawForm) -> Response {
    let form = parse(&body);
    let state = shared.lock();
    let price = state.price(value(&form, "subscription_details[items][0][price]").unwrap());
    let total = state.difference(value(&form, "subscription").unwrap(), &price);
    Json(json!({"object": "invoice", "total": total, "currency": "eur"})).into_response()
}
