//! What the landing page asks of the server.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use crate::backend::backend;
use crate::{csrf::PageClient, error::AppError, model::plan::Plan};

/// What differs from service to service.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LandingContent {
    /// Where clients reach it, without a slash at the end.
    pub base_url: String,
    /// What is on offer, the smallest first.
    pub plans: Vec<Plan>,
}

/// For everybody.
#[server(prefix = "/web", endpoint = "landing", client = PageClient)]
pub async fn landing() -> Result<LandingContent, AppError> {
    let backend = backend();
    let base_url = backend.base_url();
    let plans = backend.plans().await?;
    Ok(LandingContent { base_url, plans })
}
