//! Renders and their webhook deliveries.

use async_trait::async_trait;

use crate::{
    error::AppError,
    model::{
        delivery::{DeliverySearch, Webhooks},
        render::{RenderPage, RenderSearch, detail::RenderDetail},
    },
};

/// The account's renders and webhook deliveries.
#[async_trait]
pub trait RenderBackend: Send + Sync {
    /// Returns a page of renders.
    async fn renders(&self, search: RenderSearch) -> Result<RenderPage, AppError>;

    /// Returns the details of a render.
    async fn render(&self, id: String) -> Result<RenderDetail, AppError>;

    /// Cancels an asynchronous render.
    async fn cancel_render(&self, id: String) -> Result<(), AppError>;

    /// Returns the signing secret and a page of deliveries.
    async fn webhooks(&self, search: DeliverySearch) -> Result<Webhooks, AppError>;

    /// Retries the delivery of a render at once.
    async fn resend_callback(&self, render: String) -> Result<(), AppError>;

    /// Discards the delivery of a render.
    async fn stop_callback(&self, render: String) -> Result<(), AppError>;

    /// Shows the signing secret in this session for one minute.
    async fn reveal_webhook_secret(&self) -> Result<(), AppError>;

    /// Replaces the signing secret. The previous one keeps signing for a day.
    async fn replace_webhook_secret(&self) -> Result<(), AppError>;
}
