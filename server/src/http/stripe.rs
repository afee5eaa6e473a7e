//! `/webhooks/stripe`: events of Stripe. They are stored and acknowledged at once, and processed in the background.

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use platen_billing::webhook::SIGNATURE_HEADER;
use platen_core::{
    clock,
    service::{
        Services,
        billing::{
            BillingError,
            events::{self, ReceiveError},
        },
    },
};

use crate::http::error::ApiError;

/// Stores an event. Unless the response is 200, Stripe retries for days.
pub(super) async fn post(State(app): State<Services>, headers: HeaderMap, body: String) -> Response {
    let signature = headers.get(SIGNATURE_HEADER).and_then(|value| value.to_str().ok());
    match events::receive(&app.billing, &body, signature, clock::now()).await {
        Ok(()) => StatusCode::OK.into_response(),
        Err(ReceiveError::Webhook(problem)) => {
            tracing::warn!(%problem, "rejected a request to /webhooks/stripe");
            (StatusCode::BAD_REQUEST, format!("{problem}\n")).into_response()
        }
        Err(ReceiveError::Billing(BillingError::Store(error))) => ApiError::from(error).into_response(),
        Err(ReceiveError::Billing(_)) => ApiError::NoSuchPath.into_response(),
    }
}
