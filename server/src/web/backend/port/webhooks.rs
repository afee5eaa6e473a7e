//! Webhook endpoints, deliveries of events, and the signing secret.

use async_trait::async_trait;
use platen_app::{
    backend::webhooks::WebhookBackend,
    error::AppError,
    model::delivery::{DeliverySearch, EndpointForm, Webhooks},
};
use platen_core::{
    clock,
    service::{deliveries, webhook_deliveries, webhook_endpoints, webhook_secrets},
};
use platen_domain::{
    account_log::Actor,
    ids::{DeliveryId, EndpointId},
    role::Permission::ManageWebhooks,
};
use time::Duration;

use crate::web::backend::RequestBackend;

/// Session key of the time until which the signing secret is shown.
const SECRET_SHOWN_UNTIL: &str = "webhook_secret_shown_until";
/// Time for which the signing secret is shown.
const SECRET_SHOWN: Duration = Duration::minutes(1);

#[async_trait]
impl WebhookBackend for RequestBackend {
    async fn webhooks(&self, search: DeliverySearch) -> Result<Webhooks, AppError> {
        let (account, now) = (self.caller_who_may(ManageWebhooks).await?.account, clock::now());
        let (db, secret_keys) = (&self.app.db, &self.app.secret_keys);
        let since = search.since.days().map(|days| now - Duration::days(days));
        // The session's entry belongs to the operator's own account, so it is ignored during impersonation.
        let reveal = match self.look() {
            Some(_) => None,
            None => self.answer(self.session.get::<i64>(SECRET_SHOWN_UNTIL).await)?,
        };
        let reveal = reveal.is_some_and(|until| now.unix_timestamp() < until);
        let listed = deliveries::list(db, account, search.state, since, &search.text, search.after, now).await;
        Ok(Webhooks {
            endpoints: self.answer(webhook_endpoints::list(&self.app, account).await)?,
            deliveries: self.answer(listed)?,
            secret: self.answer(webhook_secrets::status(db, secret_keys, account, reveal, now).await)?,
        })
    }

    async fn create_endpoint(&self, form: EndpointForm) -> Result<(), AppError> {
        let caller = self.caller_who_may(ManageWebhooks).await?;
        let (actor, form, now) = (Actor::of_caller(&caller), submitted(&form), clock::now());
        self.answer(webhook_endpoints::create(&self.app, caller.account, &actor, &form, now).await)
    }

    async fn edit_endpoint(&self, id: EndpointId, form: EndpointForm) -> Result<(), AppError> {
        let caller = self.caller_who_may(ManageWebhooks).await?;
        let (actor, form, now) = (Actor::of_caller(&caller), submitted(&form), clock::now());
        self.answer(webhook_endpoints::update(&self.app, caller.account, &actor, id, &form, now).await)
    }

    async fn switch_endpoint(&self, id: EndpointId, enable: bool) -> Result<(), AppError> {
        let caller = self.caller_who_may(ManageWebhooks).await?;
        let (actor, now) = (Actor::of_caller(&caller), clock::now());
        self.answer(webhook_endpoints::switch(&self.app, caller.account, &actor, id, enable, now).await)
    }

    async fn test_endpoint(&self, id: EndpointId) -> Result<(), AppError> {
        let account = self.caller_who_may(ManageWebhooks).await?.account;
        self.answer(webhook_endpoints::test(&self.app, account, id, clock::now()).await)
    }

    async fn delete_endpoint(&self, id: EndpointId) -> Result<(), AppError> {
        let caller = self.caller_who_may(ManageWebhooks).await?;
        let (actor, now) = (Actor::of_caller(&caller), clock::now());
        self.answer(webhook_endpoints::delete(&self.app, caller.account, &actor, id, now).await)
    }

    async fn resend_delivery(&self, id: DeliveryId) -> Result<(), AppError> {
        let account = self.caller_who_may(ManageWebhooks).await?.account;
        self.answer(webhook_deliveries::resend(&self.app, account, id).await)
    }

    async fn stop_delivery(&self, id: DeliveryId) -> Result<(), AppError> {
        let account = self.caller_who_may(ManageWebhooks).await?.account;
        self.answer(webhook_deliveries::stop(&self.app, account, id).await)
    }

    async fn reveal_webhook_secret(&self) -> Result<(), AppError> {
        let (caller, now) = (self.caller_who_may(ManageWebhooks).await?, clock::now());
        let actor = Actor::of_caller(&caller);
        self.answer(webhook_secrets::note_reading(&self.app.db, caller.account, &actor, now).await)?;
        let until = (now + SECRET_SHOWN).unix_timestamp();
        self.answer(self.session.insert(SECRET_SHOWN_UNTIL, until).await)
    }

    async fn replace_webhook_secret(&self) -> Result<(), AppError> {
        let caller = self.caller_who_may(ManageWebhooks).await?;
        let (db, keys, actor) = (&self.app.db, &self.app.secret_keys, Actor::of_caller(&caller));
        self.answer(webhook_secrets::replace(db, keys, caller.account, &actor, clock::now()).await)
    }
}

fn submitted(form: &EndpointForm) -> webhook_endpoints::EndpointForm<'_> {
    webhook_endpoints::EndpointForm {
        url: &form.webhook_url,
        description: &form.endpoint_description,
        events: &form.events,
    }
}
