//! What pages ask of the services.

use std::sync::Arc;

use async_trait::async_trait;
use axum::http::request::Parts;
use platen_app::{backend::Backend, error::AppError, model::plan::Plan};

use crate::{http::request_log::RequestId, service::plans, state::AppState, store::plans::Plan as StoredPlan};

/// The services, on behalf of one request.
pub(super) struct RequestBackend {
    app: AppState,
    request_id: String,
}

impl RequestBackend {
    /// For the context of a request.
    pub(super) fn shared(app: &AppState, request: &Parts) -> Arc<dyn Backend> {
        let request_id = request.extensions.get::<RequestId>();
        Arc::new(Self {
            app: app.clone(),
            request_id: request_id.map(|id| id.0.clone()).unwrap_or_default(),
        })
    }

    /// The log gets the reason, the visitor the request's id.
    fn internal(&self, error: &dyn std::error::Error) -> AppError {
        tracing::error!(error = %error, "internal error");
        AppError::Internal {
            request_id: self.request_id.clone(),
        }
    }
}

#[async_trait]
impl Backend for RequestBackend {
    fn base_url(&self) -> String {
        self.app.base_url.as_str().trim_end_matches('/').to_owned()
    }

    async fn plans(&self) -> Result<Vec<Plan>, AppError> {
        let plans = plans::list(&self.app.db).await.map_err(|error| self.internal(&error))?;
        Ok(plans.into_iter().map(shown).collect())
    }
}

fn shown(plan: StoredPlan) -> Plan {
    Plan {
        name: plan.name,
        credits: plan.credits,
        concurrency: plan.concurrency,
        rate_per_minute: plan.rate_per_minute,
        body_bytes: plan.body_bytes,
        retention_days: plan.retention_days,
    }
}
