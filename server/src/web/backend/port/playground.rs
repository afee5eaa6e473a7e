//! The playground.

use async_trait::async_trait;
use platen_app::{
    backend::{Backend as _, playground::PlaygroundBackend},
    error::AppError,
    model::playground::{Attempt, Bench, Played, Replayed, TemplateName},
};
use platen_core::service::{renders::request, templates};
use platen_domain::{caller::Access, ids::RenderId, render::content::MissingContent, role::Permission::Produce};

use crate::web::backend::{RequestBackend, playground, port::template_id};

/// Maximum number of templates in the playground.
const OFFERED_TEMPLATES: i64 = 100;

#[async_trait]
impl PlaygroundBackend for RequestBackend {
    async fn bench(&self) -> Result<Bench, AppError> {
        let (account, db) = (self.caller_who_may(Produce).await?.account, &self.app.db);
        let templates = self.answer(templates::names(db, account, OFFERED_TEMPLATES).await)?;
        let templates = templates.into_iter().map(|(id, name)| TemplateName {
            id: id.to_string(),
            name,
        });
        Ok(Bench {
            base_url: self.base_url(),
            templates: templates.collect(),
        })
    }

    async fn request_of_render(&self, id: RenderId) -> Result<Replayed, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let found = match caller.access {
            Access::Full | Access::Suspended => {
                self.answer(request::find_replayed(&self.app, caller.account, id).await)?
            }
            Access::Looking => Some(Err(MissingContent::Hidden)),
        };
        Ok(match found.ok_or(AppError::NotFound)? {
            Ok(body) => Replayed::Request(body),
            Err(missing) => Replayed::Missing(missing.reason().to_owned()),
        })
    }

    async fn play(&self, attempt: Attempt) -> Result<Played, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        playground::play(&self.app, &self.api, caller, attempt).await
    }

    async fn sample_of_template(&self, id: String) -> Result<String, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        let template = self.answer(templates::get(&self.app.db, account, template_id(&id)?).await)?;
        Ok(serde_json::Value::Object(template.preview_context).to_string())
    }
}
