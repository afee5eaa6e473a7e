//! The part of [`Backend`](super::Backend) for webhooks.

use async_trait::async_trait;
use platen_domain::ids::{DeliveryId, EndpointId};

use crate::{
    error::AppError,
    model::delivery::{DeliverySearch, EndpointForm, Webhooks},
};

/// Webhook endpoints, deliveries of events, and the signing secret. Each method authorizes itself, as those of
/// [`Backend`](super::Backend).
#[async_trait]
pub trait WebhookBackend: Send + Sync {
    /// Returns the endpoints, the signing secret and a page of deliveries.
    async fn webhooks(&self, search: DeliverySearch) -> Result<Webhooks, AppError>;

    /// Creates a webhook endpoint.
    async fn create_endpoint(&self, form: EndpointForm) -> Result<(), AppError>;

    /// Changes a webhook endpoint.
    async fn edit_endpoint(&self, id: EndpointId, form: EndpointForm) -> Result<(), AppError>;

    /// Enables or disables a webhook endpoint.
    async fn switch_endpoint(&self, id: EndpointId, enable: bool) -> Result<(), AppError>;

    /// Sends a test event to a webhook endpoint.
    async fn test_endpoint(&self, id: EndpointId) -> Result<(), AppError>;

    /// Deletes a webhook endpoint.
    async fn delete_endpoint(&self, id: EndpointId) -> Result<(), AppError>;

    /// Sends an event to its endpoint again.
    async fn resend_delivery(&self, id: DeliveryId) -> Result<(), AppError>;

    /// Stops the delivery of an event to an endpoint.
    async fn stop_delivery(&self, id: DeliveryId) -> Result<(), AppError>;

    /// Shows the signing secret in this session for one minute.
    async fn reveal_webhook_secret(&self) -> Result<(), AppError>;

    /// Replaces the signing secret. The previous one keeps signing for a day.
    async fn replace_webhook_secret(&self) -> Result<(), AppError>;
}
