//! What pages ask about renders and their callbacks.

use async_trait::async_trait;

use crate::{
    error::AppError,
    model::{
        delivery::{DeliverySearch, Webhooks},
        render::{RenderPage, RenderSearch, detail::RenderDetail},
    },
};

/// The account's renders and callbacks.
#[async_trait]
pub trait RenderBackend: Send + Sync {
    /// A page of the list.
    async fn renders(&self, search: RenderSearch) -> Result<RenderPage, AppError>;

    /// All that is known of one.
    async fn render(&self, id: String) -> Result<RenderDetail, AppError>;

    /// Calls one off that nobody waits for.
    async fn cancel_render(&self, id: String) -> Result<(), AppError>;

    /// The signing secret, and a page of the deliveries.
    async fn webhooks(&self, search: DeliverySearch) -> Result<Webhooks, AppError>;

    /// Sends the callback of a render again, at once.
    async fn resend_callback(&self, render: String) -> Result<(), AppError>;

    /// Gives the callback of a render up.
    async fn stop_callback(&self, render: String) -> Result<(), AppError>;

    /// Lets the signing secret be seen in this session, for a minute.
    async fn reveal_webhook_secret(&self) -> Result<(), AppError>;

    /// Replaces the signing secret; the former one goes on to sign for a day.
    async fn replace_webhook_secret(&self) -> Result<(), AppError>;
}
