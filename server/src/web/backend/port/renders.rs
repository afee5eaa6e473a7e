//! Renders and their webhook deliveries.

use async_trait::async_trait;
use platen_app::{backend::renders::RenderBackend, error::AppError, model::render::RenderPage};
use platen_core::{
    clock,
    service::{
        activity, api_keys, callbacks, plans,
        renders::{self, cancel, detail, links, structure},
        templates,
    },
};
use platen_domain::{
    ids::RenderId,
    render::{detail::RenderDetail, log::LogFilter, structure::RenderStructure},
    role::Permission::Produce,
};

use crate::web::backend::{RequestBackend, key_forms};

/// Maximum number of templates in the filters of the list of renders. Others can be searched by name.
const LISTED_TEMPLATES: i64 = 500;

#[async_trait]
impl RenderBackend for RequestBackend {
    async fn renders(
        &self,
        filter: LogFilter,
        search: String,
        after: Option<RenderId>,
    ) -> Result<RenderPage, AppError> {
        let (caller, db, now) = (self.caller_who_may(Produce).await?, &self.app.db, clock::now());
        let account = caller.account;
        let found = tokio::try_join!(
            renders::log::list(db, account, filter, &search, after),
            renders::log::count_of_month(db, account, now),
            activity::latest(db, account),
            api_keys::list(db, key_forms::owned(&caller), now),
            templates::names(db, account, LISTED_TEMPLATES),
            plans::retention_days(db, account),
        );
        let (renders, (this_month, since), latest, keys, templates, retention_days) = self.answer(found)?;
        Ok(RenderPage {
            renders: renders.page,
            is_partial: renders.is_partial,
            this_month,
            since,
            retention_days,
            latest: latest.into_iter().rev().collect(),
            templates,
            keys: keys.into_iter().map(|key| (key.id, key.name)).collect(),
        })
    }

    async fn find_renders_by_title(&self, search: String) -> Result<Vec<(RenderId, String)>, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        self.answer(renders::log::find_by_title(&self.app.db, account, &search).await)
    }

    async fn render(&self, id: RenderId) -> Result<RenderDetail, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let found = self.answer(detail::find(&self.app, caller.account, caller.access, id).await)?;
        found.ok_or(AppError::NotFound)
    }

    async fn render_structure(&self, id: RenderId) -> Result<RenderStructure, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let found = self.answer(structure::find(&self.app, caller.account, caller.access, id).await)?;
        found.ok_or(AppError::NotFound)
    }

    async fn cancel_render(&self, id: RenderId) -> Result<(), AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        self.answer(cancel::cancel(&self.app, account, id, None).await)
    }

    async fn revoke_links(&self, id: RenderId) -> Result<(), AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        self.answer(links::revoke(&self.app, account, id, None).await)
    }

    async fn resend_callback(&self, render: RenderId) -> Result<(), AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        self.answer(callbacks::resend(&self.app, account, render).await)
    }

    async fn stop_callback(&self, render: RenderId) -> Result<(), AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        self.answer(callbacks::stop(&self.app, account, render).await)
    }
}
