//! Renders and their webhook deliveries.

mod detail;
mod timeline;

use std::collections::HashMap;

use async_trait::async_trait;
use platen_app::{
    backend::renders::RenderBackend,
    error::AppError,
    model::{
        delivery::{self, DeliverySearch, DeliveryState, Secret, Webhooks},
        rejection::{Reason, refusal::RenderRefusal},
        render::{RenderLine, RenderPage, RenderSearch, detail::RenderDetail},
    },
};
use platen_core::{
    clock,
    service::{
        activity,
        callbacks::{self, ResendError, StopError},
        deliveries,
        renders::{
            cancel::{self, CancelError},
            log,
        },
        webhook_secrets::{self, WebhookSecretError},
    },
    store::{
        api_keys, callbacks::CallbackState, deliveries::Delivery, error::StoreError, plans, templates,
        webhook_secrets as secrets,
    },
};
use platen_domain::{
    account_log::Actor,
    callback::Attempt,
    caller::Access,
    ids::{AccountId, ApiKeyId, RenderId, TemplateId},
    render::{
        history::RenderState,
        log::{LogFilter, LoggedRender},
    },
    role::Permission,
    template::labels::labels,
    webhook::webhook_id,
};
use secrecy::ExposeSecret;
use serde_json::Value;
use time::{Date, Duration, OffsetDateTime, Time};

use super::{RequestBackend, rejected};

/// Session key of the time until which the signing secret is shown.
const SECRET_SHOWN_UNTIL: &str = "webhook_secret_shown_until";
/// Time for which the signing secret is shown.
const SECRET_SHOWN: Duration = Duration::minutes(1);

/// Maximum number of templates to choose from. Others can be searched by name.
const MOST_TEMPLATES: i64 = 500;

#[async_trait]
impl RenderBackend for RequestBackend {
    async fn renders(&self, search: RenderSearch) -> Result<RenderPage, AppError> {
        let (account, now) = (self.caller_who_may(Permission::Produce).await?.account, clock::now());
        self.app.jobs.changes().page_loaded(account);
        self.render_page(account, search, now)
            .await
            .map_err(|error| self.internal(&error))
    }

    async fn render(&self, id: String) -> Result<RenderDetail, AppError> {
        let caller = self.caller_who_may(Permission::Produce).await?;
        let id = RenderId::parse(&id).ok_or(AppError::NotFound)?;
        self.app.jobs.changes().page_loaded(caller.account);
        let found = detail::find(&self.app, caller.account, id).await;
        let found = found
            .map_err(|error| self.internal(&error))?
            .ok_or(AppError::NotFound)?;
        Ok(match caller.access {
            Access::Full | Access::Suspended => found,
            Access::Looking => detail::without_content(found),
        })
    }

    async fn cancel_render(&self, id: String) -> Result<(), AppError> {
        let account = self.caller_who_may(Permission::Produce).await?.account;
        let id = RenderId::parse(&id).ok_or(AppError::NotFound)?;
        let cancelled = cancel::cancel(&self.app, account, id, None).await;
        cancelled.map_err(|error| match error {
            CancelError::NotFound => AppError::NotFound,
            CancelError::Ended => refused(RenderRefusal::HasEnded),
            CancelError::Synchronous => refused(RenderRefusal::IsAwaited),
            CancelError::Store(error) => self.internal(&error),
        })
    }

    async fn webhooks(&self, search: DeliverySearch) -> Result<Webhooks, AppError> {
        let (account, now) = (
            self.caller_who_may(Permission::ManageWebhooks).await?.account,
            clock::now(),
        );
        let since = search.since.days().map(|days| now - Duration::days(days));
        let state = search.state.map(|state| match state {
            DeliveryState::Delivered => CallbackState::Delivered,
            DeliveryState::Trying => CallbackState::Sending,
            DeliveryState::GivenUp => CallbackState::Failed,
        });
        let after = search.after.as_deref().and_then(RenderId::parse);
        let page = deliveries::list(&self.app.db, account, state, since, &search.text, after).await;
        let mut page = page.map_err(|error| self.internal(&error))?;
        let deliveries = page.deliveries.items.into_iter().map(|found| {
            let attempts = page.attempts.remove(&found.render).unwrap_or_default();
            shown_delivery(found, attempts, now)
        });
        Ok(Webhooks {
            secret: self.secret(account, now).await?,
            deliveries: deliveries.collect(),
            next: page.deliveries.next.map(|id| id.to_string()),
        })
    }

    async fn resend_callback(&self, render: String) -> Result<(), AppError> {
        let account = self.caller_who_may(Permission::Produce).await?.account;
        let id = RenderId::parse(&render).ok_or(AppError::NotFound)?;
        let sent = callbacks::resend(&self.app, account, id).await;
        sent.map_err(|error| match error {
            ResendError::None => AppError::NotFound,
            ResendError::NotYet => refused(RenderRefusal::NotToldYet),
            ResendError::UnderWay => refused(RenderRefusal::BeingSent),
            ResendError::Full(full) => rejected(Reason::StorageFull(full)),
            ResendError::Store(error) => self.internal(&error),
        })
    }

    async fn stop_callback(&self, render: String) -> Result<(), AppError> {
        let account = self.caller_who_may(Permission::Produce).await?.account;
        let id = RenderId::parse(&render).ok_or(AppError::NotFound)?;
        let stopped = callbacks::stop(&self.app, account, id).await;
        stopped.map_err(|error| match error {
            StopError::NotSending => refused(RenderRefusal::NotTried),
            StopError::Store(error) => self.internal(&error),
        })
    }

    async fn reveal_webhook_secret(&self) -> Result<(), AppError> {
        let (caller, now) = (self.caller_who_may(Permission::ManageWebhooks).await?, clock::now());
        let until = (now + SECRET_SHOWN).unix_timestamp();
        let noted = webhook_secrets::note_reading(&self.app.db, caller.account, &Actor::of_caller(&caller), now).await;
        noted.map_err(|error| self.internal(&error))?;
        let noted = self.session.insert(SECRET_SHOWN_UNTIL, until).await;
        noted.map_err(|error| self.internal(&error))
    }

    async fn replace_webhook_secret(&self) -> Result<(), AppError> {
        let caller = self.caller_who_may(Permission::ManageWebhooks).await?;
        let (db, keys, actor) = (&self.app.db, &self.app.secret_keys, Actor::of_caller(&caller));
        let replaced = webhook_secrets::replace(db, keys, caller.account, &actor, clock::now()).await;
        replaced.map_err(|error| self.internal(&error))
    }
}

impl RequestBackend {
    async fn render_page(
        &self,
        account: AccountId,
        search: RenderSearch,
        now: OffsetDateTime,
    ) -> Result<RenderPage, StoreError> {
        let db = &self.app.db;
        let after = search.after.as_deref().and_then(RenderId::parse);
        let month = now.date().replace_day(1).unwrap_or(now.date());
        let (page, this_month, latest, keys, templates, retention_days) = tokio::try_join!(
            log::list(db, account, filter(&search), &search.text, after),
            log::count_since(db, account, midnight(month)),
            activity::latest(db, account),
            api_keys::list(db, account),
            templates::list_names(db, account, MOST_TEMPLATES),
            plans::find_retention(db, account),
        )?;
        let templates: Vec<_> = templates.into_iter().map(|found| (found.id, found.name)).collect();
        let renders = page.renders.items.into_iter();
        Ok(RenderPage {
            renders: renders.filter_map(|render| line(render, &page.templates)).collect(),
            next: page.renders.next.map(|id| id.to_string()),
            this_month,
            month,
            retention_days: retention_days.unwrap_or_default(),
            latest: latest.into_iter().rev().collect(),
            templates: templates
                .iter()
                .zip(labels(&templates))
                .map(|((id, _), name)| (id.to_string(), name))
                .collect(),
            keys: keys.into_iter().map(|key| (key.id.to_string(), key.name)).collect(),
        })
    }

    async fn secret(&self, account: AccountId, now: OffsetDateTime) -> Result<Secret, AppError> {
        // The session's entry belongs to the operator's own account, so it is ignored during impersonation.
        let shown_until: Option<i64> = if self.look().is_some() {
            None
        } else {
            let noted = self.session.get(SECRET_SHOWN_UNTIL).await;
            noted.map_err(|error| self.internal(&error))?
        };
        let secret = self.secret_until(account, shown_until, now).await;
        secret.map_err(|error| self.internal(&error))
    }

    async fn secret_until(
        &self,
        account: AccountId,
        shown_until: Option<i64>,
        now: OffsetDateTime,
    ) -> Result<Secret, WebhookSecretError> {
        let db = &self.app.db;
        let shown = if shown_until.is_some_and(|until| now.unix_timestamp() < until) {
            let in_use = webhook_secrets::in_use(db, &self.app.secret_keys, account, now).await?;
            in_use.first().map(|secret| secret.to_text().expose_secret().to_owned())
        } else {
            None
        };
        let stored = secrets::list(db, account, now).await?;
        Ok(Secret {
            made_at: stored
                .iter()
                .find(|secret| secret.expires_at.is_none())
                .map(|secret| secret.inserted_at),
            former_until: stored.iter().filter_map(|secret| secret.expires_at).max(),
            shown,
        })
    }
}

fn refused(refusal: RenderRefusal) -> AppError {
    rejected(Reason::Render(refusal))
}

fn midnight(date: Date) -> OffsetDateTime {
    date.with_time(Time::MIDNIGHT).assume_utc()
}

/// Converts a search to a filter of the store. Values in the query that can't be parsed are ignored.
fn filter(search: &RenderSearch) -> LogFilter {
    LogFilter {
        state: search.state,
        mode: search.mode,
        livemode: search.live,
        key: search.key.as_deref().and_then(ApiKeyId::parse),
        template: search.template.as_deref().and_then(TemplateId::parse),
        from: search.from.map(midnight),
        until: search.to.and_then(Date::next_day).map(midnight),
        ids: None,
        text: None,
    }
}

/// Returns `None` for a status or mode that this release doesn't know.
fn line(render: LoggedRender, templates: &HashMap<String, String>) -> Option<RenderLine> {
    let sources = sources(render.parts.as_ref().unwrap_or(&Value::Null), templates);
    Some(RenderLine {
        id: render.id.to_string(),
        source: summary(&sources),
        title: render.title,
        state: render.state.parse().ok()?,
        mode: render.mode.parse().ok()?,
        live: render.livemode,
        key: render.key_name,
        pages: render.page_count,
        credits: render.credits,
        took_ms: render.finished_at.map(|end| milliseconds(end - render.inserted_at)),
        at: render.inserted_at,
    })
}

/// Returns the source of each part: the template's name, the address, or `HTML`.
fn sources(parts: &Value, templates: &HashMap<String, String>) -> Vec<String> {
    let source = |part: &Value| {
        if let Some(url) = part["url"].as_str() {
            let (_, rest) = url.split_once("://").unwrap_or(("", url));
            return rest.trim_end_matches('/').to_owned();
        }
        match part["template_id"].as_str() {
            Some(id) => templates.get(id).cloned().unwrap_or_else(|| "a template".to_owned()),
            None => "HTML".to_owned(),
        }
    };
    parts.as_array().into_iter().flatten().map(source).collect()
}

/// Returns the first source and the number of the others.
fn summary(sources: &[String]) -> String {
    match sources {
        [] => String::new(),
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}

fn milliseconds(duration: Duration) -> f64 {
    (duration.as_seconds_f64() * 1000.0).max(0.0)
}

fn shown_delivery(found: Delivery, attempts: Vec<Attempt>, now: OffsetDateTime) -> delivery::Delivery {
    delivery::Delivery {
        render: found.render.to_string(),
        event: if found.render_state == RenderState::Succeeded.into_str() {
            "success"
        } else {
            "failed"
        },
        address: found.address,
        state: match found.state.as_str() {
            "delivered" => DeliveryState::Delivered,
            "failed" => DeliveryState::GivenUp,
            _ => DeliveryState::Trying,
        },
        next_in_seconds: found.next_try.map(|at| (at - now).whole_seconds().max(0)),
        webhook_id: webhook_id(found.webhook_id),
        body: pretty(&found.body),
        attempts,
    }
}

/// Formats JSON with indentation.
fn pretty(json: &str) -> String {
    let value: Result<Value, _> = serde_json::from_str(json);
    let pretty = value.and_then(|value| serde_json::to_string_pretty(&value));
    pretty.unwrap_or_else(|_| json.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_render_is_made_from() {
        let templates = HashMap::from([("id-1".to_owned(), "Invoice".to_owned())]);
        let parts = json!([
            {"type": "template", "template_id": "id-1"},
            {"type": "url", "url": "https://example.org/terms/"},
            {"type": "html", "bytes": 7},
            {"type": "template", "template_id": "id-2"},
        ]);
        let found = sources(&parts, &templates);
        assert_eq!(found, ["Invoice", "example.org/terms", "HTML", "a template"]);
        assert_eq!(summary(&found), "Invoice and 3 more");
        assert_eq!(summary(&found[..1]), "Invoice");
        assert_eq!(summary(&sources(&Value::Null, &templates)), "");
    }
}
