//! API keys.

use async_trait::async_trait;
use platen_app::{
    backend::api_keys::ApiKeyBackend,
    error::AppError,
    model::{
        api_key::{ApiKeys, KeyDetail, KeySettingsForm, NewKey, NewKeyForm},
        overview::Span,
    },
};
use platen_core::{
    clock,
    service::{
        api_keys::{self, NewKeyRequest},
        credits,
        templates::channels,
    },
};
use platen_domain::{account_log::Actor, ids::ApiKeyId, role::Permission::ManageKeys};

use crate::web::backend::{RequestBackend, key_forms, overview};

#[async_trait]
impl ApiKeyBackend for RequestBackend {
    async fn api_keys(&self, new: Option<ApiKeyId>) -> Result<ApiKeys, AppError> {
        let (caller, now) = (self.caller_who_may(ManageKeys).await?, clock::now());
        let (db, account) = (&self.app.db, caller.account);
        let new = self.new_key(account, new, now).await?;
        let mut keys = self.answer(api_keys::list(db, key_forms::owned(&caller), now).await)?;
        self.app.key_usage.add_to(&mut keys);
        Ok(ApiKeys {
            now,
            keys,
            new: new.map(|new| NewKey {
                id: new.id,
                secret: new.key.expose().to_owned(),
            }),
            templates: self.template_labels(account).await?,
            channels: self.answer(channels::find(db, account).await)?,
        })
    }

    async fn api_key(&self, id: ApiKeyId, span: Span) -> Result<KeyDetail, AppError> {
        let (caller, now) = (self.caller_who_may(ManageKeys).await?, clock::now());
        let usage = self.answer(credits::usage(&self.app.db, caller.account, now).await)?;
        let period_ends_at = usage.balance.period.ends_at;
        let credits = overview::credit_period(usage, now);
        let found = self.render_activity(&caller, Some(id), span, &credits).await?;
        Ok(KeyDetail {
            key: self.key(&caller, id).await?,
            templates: self.template_labels(caller.account).await?,
            channels: self.answer(channels::find(&self.app.db, caller.account).await)?,
            renders: found,
            period_ends_at,
        })
    }

    async fn edit_key(&self, id: ApiKeyId, form: KeySettingsForm) -> Result<(), AppError> {
        let (caller, now) = (self.confirmed_caller_who_may(ManageKeys).await?, clock::now());
        let former = self.key(&caller, id).await?.expires_at;
        let (actor, settings) = (Actor::of_caller(&caller), key_forms::read(&form, former, now)?);
        self.answer(api_keys::edit(&self.app.db, caller.account, &actor, id, settings, now).await)
    }

    async fn create_key(&self, form: NewKeyForm) -> Result<ApiKeyId, AppError> {
        let (caller, now) = (self.confirmed_caller_who_may(ManageKeys).await?, clock::now());
        let (owned, actor) = (key_forms::owned(&caller), Actor::of_caller(&caller));
        let request = NewKeyRequest {
            livemode: form.live,
            settings: key_forms::read(&form.settings, None, now)?,
        };
        let created = self.answer(api_keys::create(&self.app.db, owned, &actor, request, now).await)?;
        self.show_once(caller.account, &created, now).await
    }

    async fn rotate_key(&self, id: ApiKeyId, overlap_hours: u16) -> Result<ApiKeyId, AppError> {
        let (caller, now) = (self.confirmed_caller_who_may(ManageKeys).await?, clock::now());
        let (actor, overlap) = (Actor::of_caller(&caller), key_forms::overlap(overlap_hours)?);
        let rotated = api_keys::rotate(&self.app.db, caller.account, &actor, id, overlap, now).await;
        self.show_once(caller.account, &self.answer(rotated)?, now).await
    }

    async fn revoke_key(&self, id: ApiKeyId, name: String) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(ManageKeys).await?;
        let (actor, now) = (Actor::of_caller(&caller), clock::now());
        self.answer(api_keys::revoke(&self.app.db, caller.account, &actor, id, Some(&name), now).await)
    }
}
