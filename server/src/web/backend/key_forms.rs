//! Forms of API keys.

use platen_app::{
    error::AppError,
    model::{
        api_key::{Expiry, KeySettingsForm},
        rejection::Field,
    },
};
use platen_core::{
    clock,
    service::{
        api_keys::{self, CreatedKey, new_key},
        templates,
    },
    store::{accounts::OwnedAccount, api_keys::KeySettings},
};
use platen_domain::{
    api_key::{ApiKey, CreditLimit, Scopes},
    caller::Caller,
    ids::{AccountId, ApiKeyId, TemplateId},
    network::Network,
    page::PageRequest,
    template::{TemplateFilter, channels::ChannelName, labels},
};
use time::{Date, Duration, OffsetDateTime, macros::format_description};

use super::{RequestBackend, number, visitor_errors::invalid};

/// Longer lists would amount to no restriction.
const MOST_NETWORKS: usize = 100;
/// Longer overlaps would defeat the rotation.
const LONGEST_OVERLAP_HOURS: u16 = 7 * 24;

impl RequestBackend {
    /// Returns a key of the caller's account.
    pub(super) async fn key(&self, caller: &Caller, id: ApiKeyId) -> Result<ApiKey, AppError> {
        let keys = self.answer(api_keys::list(&self.app.db, owned(caller), clock::now()).await)?;
        let mut key: Vec<_> = keys.into_iter().filter(|key| key.id == id).collect();
        self.app.key_usage.add_to(&mut key);
        key.pop().ok_or(AppError::NotFound)
    }

    /// Returns ids and labels of the account's templates.
    pub(super) async fn template_labels(&self, account: AccountId) -> Result<Vec<(TemplateId, String)>, AppError> {
        let templates = templates::glances(&self.app.db, account, &TemplateFilter::default(), PageRequest::ALL).await;
        let templates = self.answer(templates)?.items.into_iter();
        Ok(labels::labelled(
            templates.map(|template| (template.id, template.name)).collect(),
        ))
    }

    /// Returns a key that was just created, if the page of this address shows it.
    pub(super) async fn new_key(
        &self,
        account: AccountId,
        id: Option<ApiKeyId>,
        now: OffsetDateTime,
    ) -> Result<Option<CreatedKey>, AppError> {
        let Some(id) = id else { return Ok(None) };
        let (db, secret_keys) = (&self.app.db, &self.app.secret_keys);
        self.answer(new_key::take(db, secret_keys, &self.session, account, id, now).await)
    }

    /// Stores a new key, so that the page whose address names it can show it. Returns its id.
    pub(super) async fn show_once(
        &self,
        account: AccountId,
        created: &CreatedKey,
        now: OffsetDateTime,
    ) -> Result<ApiKeyId, AppError> {
        let (db, secret_keys) = (&self.app.db, &self.app.secret_keys);
        self.answer(new_key::keep(db, secret_keys, &self.session, account, created, now).await)?;
        Ok(created.id)
    }
}

/// Keys are created in the name of the logged-in user.
pub(super) fn owned(caller: &Caller) -> OwnedAccount {
    OwnedAccount {
        account: caller.account,
        owner: caller.user.id,
    }
}

/// Returns the time for which a replaced key stays valid.
pub(super) fn overlap(hours: u16) -> Result<Duration, AppError> {
    if hours > LONGEST_OVERLAP_HOURS {
        return Err(invalid(vec![Field::Overlap]));
    }
    Ok(Duration::hours(hours.into()))
}

/// Parses a form. Returns all validation errors at once, except for a name that the service refuses. If the form names
/// the last day of the `former` expiry, that is kept to the second.
pub(super) fn read(
    form: &KeySettingsForm,
    former: Option<OffsetDateTime>,
    now: OffsetDateTime,
) -> Result<KeySettings<'_>, AppError> {
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
            let end = end_of(day).map(|end| {
                former
                    .filter(|former| *former <= end && *former > end - Duration::DAY)
                    .unwrap_or(end)
            });
            let end = end.filter(|end| *end > now);
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
    let (least, most) = CreditLimit::RANGE.into_inner();
    let credit_limit = number(&mut faulty, Field::CreditLimit, &form.credit_limit, least, most);
    let templates: Option<_> = form.templates.iter().map(|id| TemplateId::parse(id)).collect();
    let allowed_templates = templates.ok_or(AppError::NotFound)?;
    let channels: Option<_> = form.channels.iter().map(|name| ChannelName::parse(name)).collect();
    let allowed_channels = channels.ok_or(AppError::NotFound)?;
    if !faulty.is_empty() {
        return Err(invalid(faulty));
    }
    Ok(KeySettings {
        name: form.name.trim(),
        scopes,
        expires_at,
        allowed_networks: networks.unwrap_or_default(),
        allowed_templates,
        allowed_channels,
        credit_limit,
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

    fn form() -> KeySettingsForm {
        KeySettingsForm {
            name: " Billing ".to_owned(),
            scopes: vec!["render".to_owned()],
            expiry: Expiry::Never,
            networks: String::new(),
            templates: Vec::new(),
            channels: Vec::new(),
            credit_limit: String::new(),
        }
    }

    fn expiry(expiry: Expiry) -> Option<OffsetDateTime> {
        let form = KeySettingsForm { expiry, ..form() };
        read(&form, None, NOW).expect("a sound form").expires_at
    }

    #[test]
    fn a_form_says_when_the_key_expires() {
        assert_eq!(expiry(Expiry::Never), None);
        assert_eq!(expiry(Expiry::InDays(30)), Some(datetime!(2026-12-21 12:00 UTC)));
        let today = Expiry::WithDay("2026-11-21".to_owned());
        assert_eq!(expiry(today), Some(datetime!(2026-11-22 0:00 UTC)));
    }

    #[test]
    fn an_expiry_stays_as_long_as_its_day_does() {
        let former = datetime!(2026-12-21 12:00 UTC);
        for (day, expected) in [
            ("2026-12-21", former),
            ("2026-12-20", datetime!(2026-12-21 0:00 UTC)),
            ("2026-12-22", datetime!(2026-12-23 0:00 UTC)),
        ] {
            let form = KeySettingsForm {
                expiry: Expiry::WithDay(day.to_owned()),
                ..form()
            };
            let read = read(&form, Some(former), NOW).expect("a sound form");
            assert_eq!(read.expires_at, Some(expected), "{day}");
        }
    }

    #[test]
    fn networks_come_one_a_line() {
        let form = KeySettingsForm {
            networks: "203.0.113.7\r\n\r\n 2001:db8::/32 \n".to_owned(),
            ..form()
        };
        let request = read(&form, None, NOW).expect("a sound form");
        let networks: Vec<_> = request.allowed_networks.iter().map(Network::to_string).collect();
        assert_eq!(networks, ["203.0.113.7/32", "2001:db8::/32"]);
        assert_eq!(request.name, "Billing");
    }

    #[test]
    fn a_credit_limit_is_optional_and_bounded() {
        for (typed, expected) in [
            ("", Ok(None)),
            (" 1 ", Ok(Some(1))),
            ("1,000,000,000", Ok(Some(1_000_000_000))),
            ("1000000001", Err(())),
            ("-5", Err(())),
            ("1.5", Err(())),
            ("many", Err(())),
        ] {
            let form = KeySettingsForm {
                credit_limit: typed.to_owned(),
                ..form()
            };
            let read = read(&form, None, NOW).map(|settings| settings.credit_limit);
            let expected = expected.map_err(|()| invalid(vec![Field::CreditLimit]));
            assert_eq!(read, expected, "{typed}");
        }
    }

    #[test]
    fn every_faulty_field_is_named() {
        let faulty = KeySettingsForm {
            name: "  ".to_owned(),
            scopes: Vec::new(),
            expiry: Expiry::WithDay("2026-11-20".to_owned()),
            networks: "203.0.113.300".to_owned(),
            templates: Vec::new(),
            channels: Vec::new(),
            credit_limit: "0".to_owned(),
        };
        let expected = invalid(vec![
            Field::KeyName,
            Field::Scopes,
            Field::ExpiryDay,
            Field::Networks,
            Field::CreditLimit,
        ]);
        assert_eq!(read(&faulty, None, NOW).map(drop), Err(expected));
        let crowded = KeySettingsForm {
            networks: "203.0.113.7\n".repeat(MOST_NETWORKS + 1),
            ..form()
        };
        assert_eq!(read(&crowded, None, NOW).map(drop), Err(invalid(vec![Field::Networks])));
        for (scopes, templates, expected) in [
            (vec!["admin".to_owned()], Vec::new(), AppError::Malformed),
            (form().scopes, vec!["1".to_owned()], AppError::NotFound),
        ] {
            let forged = KeySettingsForm {
                scopes,
                templates,
                ..form()
            };
            assert_eq!(read(&forged, None, NOW).map(drop), Err(expected));
        }
    }
}
