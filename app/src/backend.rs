//! All that pages may ask of the server. The server implements [`Backend`] and hands it in through the context of every
//! request, for pages and server functions alike.

use std::sync::Arc;

use async_trait::async_trait;
use leptos::prelude::use_context;

use crate::{error::AppError, model::plan::Plan};

/// One request's way to the services.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Where clients reach the service, without a slash at the end.
    fn base_url(&self) -> String;

    /// What is on offer, the smallest plan first.
    async fn plans(&self) -> Result<Vec<Plan>, AppError>;
}

/// The services, on behalf of the request that is being answered.
pub fn backend() -> Arc<dyn Backend> {
    use_context().expect("the server gives every request its backend")
}
