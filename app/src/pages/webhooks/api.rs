//! Server functions of the page of webhooks. Those for the webhooks of requests are in [`crate::pages::render::api`].

use leptos::prelude::*;
use platen_domain::ids::{DeliveryId, EndpointId};

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::delivery::EndpointForm,
    pages::webhooks::PATH,
};

/// Creates a webhook endpoint of the logged-in user's account.
#[server(prefix = "/web", endpoint = "create-webhook-endpoint")]
pub async fn create_endpoint(
    /// The URL that receives events.
    webhook_url: String,
    /// May be empty.
    #[server(default)]
    endpoint_description: String,
    /// Types of the events.
    #[server(default)]
    events: Vec<String>,
) -> Result<(), AppError> {
    let form = EndpointForm {
        webhook_url,
        endpoint_description,
        events,
    };
    backend().create_endpoint(form).await?;
    leave_for("/dashboard/webhooks?done=created")
}

/// Changes a webhook endpoint of the logged-in user's account.
#[server(prefix = "/web", endpoint = "edit-webhook-endpoint")]
pub async fn edit_endpoint(
    /// Id of the endpoint.
    subject: EndpointId,
    /// As for `create_endpoint`.
    webhook_url: String,
    #[server(default)] endpoint_description: String,
    #[server(default)] events: Vec<String>,
) -> Result<(), AppError> {
    let form = EndpointForm {
        webhook_url,
        endpoint_description,
        events,
    };
    backend().edit_endpoint(subject, form).await?;
    leave_for("/dashboard/webhooks?done=saved")
}

/// Enables or disables a webhook endpoint of the logged-in user's account.
#[server(prefix = "/web", endpoint = "switch-webhook-endpoint")]
pub async fn switch_endpoint(
    /// Id of the endpoint.
    subject: EndpointId,
    /// `yes` to enable it, `no` to disable it.
    enable: String,
) -> Result<(), AppError> {
    let enable = match enable.as_str() {
        "yes" => true,
        "no" => false,
        _ => return Err(AppError::Malformed),
    };
    backend().switch_endpoint(subject, enable).await?;
    leave_for(if enable {
        "/dashboard/webhooks?done=enabled"
    } else {
        "/dashboard/webhooks?done=disabled"
    })
}

/// Sends a test event to a webhook endpoint of the logged-in user's account.
#[server(prefix = "/web", endpoint = "test-webhook-endpoint")]
pub async fn test_endpoint(
    /// Id of the endpoint.
    subject: EndpointId,
) -> Result<(), AppError> {
    backend().test_endpoint(subject).await?;
    leave_for("/dashboard/webhooks?done=tested")
}

/// Deletes a webhook endpoint of the logged-in user's account.
#[server(prefix = "/web", endpoint = "delete-webhook-endpoint")]
pub async fn delete_endpoint(
    /// Id of the endpoint.
    subject: EndpointId,
) -> Result<(), AppError> {
    backend().delete_endpoint(subject).await?;
    leave_for("/dashboard/webhooks?done=deleted")
}

/// Sends an event to its endpoint again at once, for the logged-in user.
#[server(prefix = "/web", endpoint = "resend-delivery")]
pub async fn resend_delivery(
    /// Id of the delivery.
    id: DeliveryId,
) -> Result<(), AppError> {
    backend().resend_delivery(id).await?;
    leave_for(PATH)
}

/// Stops the delivery of an event to its endpoint, for the logged-in user.
#[server(prefix = "/web", endpoint = "stop-delivery")]
pub async fn stop_delivery(
    /// Id of the delivery.
    id: DeliveryId,
) -> Result<(), AppError> {
    backend().stop_delivery(id).await?;
    leave_for(PATH)
}

/// Shows the signing secret to the logged-in user for one minute. It is never part of an address.
#[server(prefix = "/web", endpoint = "reveal-webhook-secret")]
pub async fn reveal_secret() -> Result<(), AppError> {
    backend().reveal_webhook_secret().await?;
    leave_for(PATH)
}

/// Replaces the signing secret, for the logged-in user. The previous one keeps signing for a day.
#[server(prefix = "/web", endpoint = "replace-webhook-secret")]
pub async fn replace_secret() -> Result<(), AppError> {
    backend().replace_webhook_secret().await?;
    leave_for(PATH)
}
