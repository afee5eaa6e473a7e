//! The account's keys.

use async_trait::async_trait;
use platen_app::{
    backend::api_keys::{ApiKeyBackend, Expiry, KeyForm},
    error::AppError,
    model::{
        api_key::{ApiKeys, NewKey},
        rejection::{Field, Reason},
    },
};
use platen_core::{
    clock,
    service::{
        api_keys::{self, CreateKeyError, CreatedKey, EndKeyError, KeyRequest, new_key},
        templates,
    },
    store::{accounts::OwnedAccount, templates::TemplateFilter},
};
use platen_domain::{
    account_log::Actor,
    api_key::Scopes,
    caller::Caller,
    ids::{ApiKeyId, TemplateId},
    network::Network,
    page::PageRequest,
    role::Permission,
    template::labels::labels,
};
use time::{Date, Duration, OffsetDateTime, macros::format_description};

use super::{RequestBackend, invalid, rejected};

/// Longer lists would amount to no restriction.
const MOST_NETWORKS: usize = 100;
/// Longer overlaps would defeat the rotation.
const LONGEST_OVERLAP_HOURS: u16 = 7 * 24;

#[async_trait]
impl ApiKeyBackend for RequestBackend {
    async fn api_keys(&self) -> Result<ApiKeys, AppError> {
        let (caller, now) = (self.caller_who_may(Permission::ManageKeys).await?, clock::now());
        let (db, secret_keys) = (&self.app.db, &self.app.secret_keys);
        let new = new_key::take(db, secret_keys, &self.session, caller.account, now).await;
        let new = new.map_err(|error| self.internal(&error))?;
        let keys = api_keys::list(db, owned(&caller)).await;
        let keys = keys.map_err(|error| self.internal(&error))?;
        let templates = templates::glances(db, caller.account, &TemplateFilter::default(), PageRequest::ALL).await;
        let templates = templates.map_err(|error| self.internal(&error))?.items;
        let templates: Vec<_> = templates
            .into_iter()
            .map(|template| (template.id, template.name))
            .collect();
        let ids = templates.iter().map(|(id, _)| *id);
        Ok(ApiKeys {
            now,
            keys,
            new: new.map(|new| NewKey {
                id: new.id,
                secret: new.key.expose().to_owned(),
            }),
            templates: ids.zip(labels(&templates)).collect(),
        })
    }

    async fn create_key(&self, form: KeyForm) -> Result<(), AppError> {
        let (caller, now) = (
            self.confirmed_caller_who_may(Permission::ManageKeys).await?,
            clock::now(),
        );
        let read = read(&form, now)?;
        let created = api_keys::create(&self.app.db, owned(&caller), &Actor::of_caller(&caller), read, now).await;
        let created = created.map_err(|error| match error {
            CreateKeyError::Name => invalid(vec![Field::KeyName]),
            CreateKeyError::Expiry => invalid(vec![Field::ExpiryDay]),
            CreateKeyError::Template(_) => AppError::NotFound,
            CreateKeyError::Store(error) => self.internal(&error),
        })?;
        self.keep(&caller, &created, now).await
    }

    async fn rotate_key(&self, id: String, overlap_hours: u16) -> Result<(), AppError> {
        let (caller, now) = (
            self.confirmed_caller_who_may(Permission::ManageKeys).await?,
            clock::now(),
        );
        let id = ApiKeyId::parse(&id).ok_or(AppError::NotFound)?;
        if overlap_hours > LONGEST_OVERLAP_HOURS {
            return Err(invalid(vec![Field::Overlap]));
        }
        let overlap = Duration::hours(overlap_hours.into());
        let actor = Actor::of_caller(&caller);
        let rotated = api_keys::rotate(&self.app.db, caller.account, &actor, id, overlap, now).await;
        self.keep(&caller, &rotated.map_err(|error| self.not_ended(error))?, now)
            .await
    }

    async fn revoke_key(&self, id: String, name: String) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(Permission::ManageKeys).await?;
        let id = ApiKeyId::parse(&id).ok_or(AppError::NotFound)?;
        let (db, actor, now) = (&self.app.db, Actor::of_caller(&caller), clock::now());
        let revoked = api_keys::revoke(db, caller.account, &actor, id, Some(&name), now).await;
        revoked.map_err(|error| self.not_ended(error))
    }
}

impl RequestBackend {
    /// Stores a new key, so that the next page can show it.
    async fn keep(&self, caller: &Caller, created: &CreatedKey, now: OffsetDateTime) -> Result<(), AppError> {
        let (db, secret_keys) = (&self.app.db, &self.app.secret_keys);
        let kept = new_key::keep(db, secret_keys, &self.session, caller.account, created, now).await;
        kept.map_err(|error| self.internal(&error))
    }

    fn not_ended(&self, error: EndKeyError) -> AppError {
        match error {
            EndKeyError::NoSuchKey(_) => AppError::NotFound,
            EndKeyError::Ended(_) => rejected(Reason::KeyEnded),
            EndKeyError::OtherName(_) => invalid(vec![Field::Confirmation]),
            EndKeyError::Store(error) => self.internal(&error),
        }
    }
}

/// Keys are created in the name of the logged-in user.
fn owned(caller: &Caller) -> OwnedAccount {
    OwnedAccount {
        account: caller.account,
        owner: caller.user.id,
    }
}

/// Parses a form. Returns all validation errors at once, except for a name that the service refuses.
fn read(form: &KeyForm, now: OffsetDateTime) -> Result<KeyRequest<'_>, AppError> {
    let mut faulty = Vec::new();
    let scopes: Option<Scopes> = form.scopes.iter().map(|scope| scope.parse().ok()).collect();
    let scopes: Scopes = scopes.ok_or(AppError::Malformed)?;
    if form.name.trim().is_empty() {
        faulty.push(Field::KeyName);
    }
    if form.scopes.is_empty() {
        faulty.push(Field::Scopes);
    }
    let expires_at = match &form.expiry {
        Expiry::Never => None,
        Expiry::InDays(days) => Some(now + Duration::days((*days).into())),
        Expiry::WithDay(day) => {
            let end = end_of(day).filter(|end| *end > now);
            if end.is_none() {
                faulty.push(Field::ExpiryDay);
            }
            end
        }
    };
    let lines = form.networks.lines().map(str::trim).filter(|line| !line.is_empty());
    let networks: Option<Vec<Network>> = lines.map(|line| line.parse().ok()).collect();
    let networks = networks.filter(|networks| networks.len() <= MOST_NETWORKS);
    if networks.is_none() {
        faulty.push(Field::Networks);
    }
    let templates: Option<_> = form.templates.iter().map(|id| TemplateId::parse(id)).collect();
    let allowed_templates = templates.ok_or(AppError::NotFound)?;
    if !faulty.is_empty() {
        return Err(invalid(faulty));
    }
    Ok(KeyRequest {
        name: form.name.trim(),
        scopes,
        livemode: form.live,
        expires_at,
        allowed_networks: networks.unwrap_or_default(),
        allowed_templates,
    })
}

/// Returns the end of a day in UTC.
fn end_of(day: &str) -> Option<OffsetDateTime> {
    let day = Date::parse(day, format_description!("[year]-[month]-[day]")).ok()?;
    Some(day.next_day()?.midnight().assume_utc())
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-21 12:00 UTC);

    fn form() -> KeyForm {
        KeyForm {
            name: " Billing ".to_owned(),
            live: true,
            scopes: vec!["render".to_owned()],
            expiry: Expiry::Never,
            networks: String::new(),
            templates: Vec::new(),
        }
    }

    fn expiry(expiry: Expiry) -> Option<OffsetDateTime> {
        let form = KeyForm { expiry, ..form() };
        read(&form, NOW).expect("a sound form").expires_at
    }

    #[test]
    fn a_form_says_when_the_key_expires() {
        assert_eq!(expiry(Expiry::Never), None);
        assert_eq!(expiry(Expiry::InDays(30)), Some(datetime!(2026-12-21 12:00 UTC)));
        let today = Expiry::WithDay("2026-11-21".to_owned());
        assert_eq!(expiry(today), Some(datetime!(2026-11-22 0:00 UTC)));
    }

    #[test]
    fn networks_come_one_a_line() {
        let form = KeyForm {
            networks: "203.0.113.7\r\n\r\n 2001:db8::/32 \n".to_owned(),
            ..form()
        };
        let request = read(&form, NOW).expect("a sound form");
        let networks: Vec<_> = request.allowed_networks.iter().map(Network::to_string).collect();
        assert_eq!(networks, ["203.0.113.7/32", "2001:db8::/32"]);
        assert_eq!(request.name, "Billing");
    }

    #[test]
    fn every_faulty_field_is_named() {
        let faulty = KeyForm {
            name: "  ".to_owned(),
            live: true,
            scopes: Vec::new(),
            expiry: Expiry::WithDay("2026-11-20".to_owned()),
            networks: "203.0.113.300".to_owned(),
            templates: Vec::new(),
        };
        let expected = invalid(vec![Field::KeyName, Field::Scopes, Field::ExpiryDay, Field::Networks]);
        assert_eq!(read(&faulty, NOW).map(drop), Err(expected));
        let crowded = KeyForm {
            networks: "203.0.113.7\n".repeat(MOST_NETWORKS + 1),
            ..form()
        };
        assert_eq!(read(&crowded, NOW).map(drop), Err(invalid(vec![Field::Networks])));
        for (scopes, templates, expected) in [
            (vec!["admin".to_owned()], Vec::new(), AppError::Malformed),
            (form().scopes, vec!["1".to_owned()], AppError::NotFound),
        ] {
            let forged = KeyForm {
                scopes,
                templates,
                ..form()
            };
            assert_eq!(read(&forged, NOW).map(drop), Err(expected));
        }
    }
}
