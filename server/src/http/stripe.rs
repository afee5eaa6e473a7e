//! `/webhooks/stripe`: what Stripe tells. It is kept and answered at once; what it means is found out in the background.

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use platen_billing::webhook::SIGNATURE_HEADER;

use crate::{
    clock,
    http::error::ApiError,
    service::billing::{
        BillingError,
        events::{self, ReceiveError},
    },
    state::AppState,
};

/// Keeps an event. Stripe sends it again, for days, unless the answer is 200.
pub(super) async fn post(State(app): State<AppState>, headers: HeaderMap, body: String) -> Response {
    let signature = headers.get(SIGNATURE_HEADER).and_then(|value| value.to_str().ok());
    match events::receive(&app.billing, &body, signature, clock::now()).await {
        Ok(()) => StatusCode::OK.into_response(),
        Err(ReceiveError::Webhook(fault)) => {
            tracing::warn!(%fault, "what came to /webhooks/stripe is not believed");
            (StatusCode::BAD_REQUEST, format!("{fault}\n")).into_response()
        }
        Err(ReceiveError::Billing(BillingError::Store(error))) => ApiError::from(error).into_response(),
        Err(ReceiveError::Billing(_)) => ApiError::NoSuchPath.into_response(),
    }
}
