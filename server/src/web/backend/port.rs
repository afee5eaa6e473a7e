//! Implements [`Backend`], one file for each area. Each method begins with its check: whose request it is, and what they may do.

mod account;
mod api_keys;
mod assets;
mod connections;
mod log_in;
mod operators;
mod payment;
mod playground;
mod renders;
mod second_factor;
mod settings;
mod team;
mod templates;
mod webhooks;

use platen_app::{backend::Backend, error::AppError};
use platen_domain::ids::TemplateId;

use super::RequestBackend;
use crate::http::csrf;

impl Backend for RequestBackend {
    fn base_url(&self) -> String {
        self.app.base_url.as_str().trim_end_matches('/').to_owned()
    }

    fn is_logged_in(&self) -> bool {
        self.person.is_some()
    }

    fn csrf_token(&self) -> Option<String> {
        csrf::token(&self.session)
    }
}

/// Parses the id of a template in a message of the editor. Invalid ids are not found.
fn template_id(id: &str) -> Result<TemplateId, AppError> {
    TemplateId::parse(id).ok_or(AppError::NotFound)
}
