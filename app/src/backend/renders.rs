//! The part of [`Backend`](super::Backend) for renders.

use async_trait::async_trait;
use platen_domain::{
    ids::RenderId,
    render::{detail::RenderDetail, log::LogFilter, structure::RenderStructure},
};

use crate::{error::AppError, model::render::RenderPage};

/// Renders and their webhook deliveries. Each method authorizes itself, as those of [`Backend`](super::Backend).
#[async_trait]
pub trait RenderBackend: Send + Sync {
    /// Returns a page of renders. `search` is an id, or part of a title or of a template's name.
    async fn renders(&self, filter: LogFilter, search: String, after: Option<RenderId>)
    -> Result<RenderPage, AppError>;

    /// Returns the ids and titles of the latest renders whose titles contain a text, newest first.
    async fn find_renders_by_title(&self, search: String) -> Result<Vec<(RenderId, String)>, AppError>;

    /// Returns the details of a render.
    async fn render(&self, id: RenderId) -> Result<RenderDetail, AppError>;

    /// Returns the structure of a render's document.
    async fn render_structure(&self, id: RenderId) -> Result<RenderStructure, AppError>;

    /// Cancels an asynchronous render.
    async fn cancel_render(&self, id: RenderId) -> Result<(), AppError>;

    /// Revokes all links to the document of a render.
    async fn revoke_links(&self, id: RenderId) -> Result<(), AppError>;

    /// Retries the delivery of a render at once.
    async fn resend_callback(&self, render: RenderId) -> Result<(), AppError>;

    /// Discards the delivery of a render.
    async fn stop_callback(&self, render: RenderId) -> Result<(), AppError>;
}
