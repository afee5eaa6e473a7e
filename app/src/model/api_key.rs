//! API keys.

use time::{Duration, OffsetDateTime};

/// Less than this before a key expires, its list says how long it has left.
const SOON: Duration = Duration::days(14);

/// All that the page of keys shows.
#[derive(Debug, Clone)]
pub struct ApiKeys {
    /// The moment of the answer.
    pub now: OffsetDateTime,
    /// The newest first, revoked ones too.
    pub keys: Vec<ApiKey>,
    /// What a key can be allowed.
    pub scopes: Vec<&'static str>,
    /// What there is to choose from for keys that are for certain templates.
    pub templates: Vec<TemplateChoice>,
    /// A key that was just made, this once.
    pub new: Option<NewKey>,
}

/// A template that a key may be for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateChoice {
    /// Identifier.
    pub id: String,
    /// For people.
    pub name: String,
}

/// A key that was just made.
#[derive(Clone)]
pub struct NewKey {
    /// Identifier.
    pub id: String,
    /// What nobody can ever read again.
    pub secret: String,
}

impl std::fmt::Debug for NewKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("NewKey")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// A key as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Identifier; no secret.
    pub id: String,
    /// For people.
    pub name: String,
    /// Its beginning.
    pub hint: String,
    /// False for test keys.
    pub live: bool,
    /// What it may do.
    pub scopes: Vec<&'static str>,
    /// Where it may be used from; empty: anywhere.
    pub networks: Vec<String>,
    /// Names of the templates that it is for; empty: all, and everything else.
    pub templates: Vec<String>,
    /// Valid until then.
    pub expires_at: Option<OffsetDateTime>,
    /// What the person who made it was called, if they have left the account.
    pub former_creator: Option<String>,
    /// When it was revoked.
    pub revoked_at: Option<OffsetDateTime>,
    /// When it was used last, late by up to a minute.
    pub last_used_at: Option<OffsetDateTime>,
    /// When it was made.
    pub inserted_at: OffsetDateTime,
}

/// What can be said of a key at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// It is good.
    Active,
    /// It is good for so long yet.
    ExpiresSoon(Duration),
    /// It was good until its expiry.
    Expired,
    /// It was good until somebody ended it.
    Revoked,
}

impl ApiKey {
    /// How it stands.
    pub fn state(&self, now: OffsetDateTime) -> KeyState {
        match self.expires_at.map(|expiry| expiry - now) {
            _ if self.revoked_at.is_some() => KeyState::Revoked,
            Some(left) if left <= Duration::ZERO => KeyState::Expired,
            Some(left) if left < SOON => KeyState::ExpiresSoon(left),
            _ => KeyState::Active,
        }
    }
}

impl KeyState {
    /// Whether requests with the key are answered.
    pub fn is_good(self) -> bool {
        matches!(self, Self::Active | Self::ExpiresSoon(_))
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_key_is_good_until_it_expires_or_is_revoked() {
        let now = datetime!(2026-11-21 12:00 UTC);
        let key = |expires_at, revoked_at| ApiKey {
            id: String::new(),
            name: String::new(),
            hint: String::new(),
            live: true,
            scopes: Vec::new(),
            networks: Vec::new(),
            templates: Vec::new(),
            expires_at,
            former_creator: None,
            revoked_at,
            last_used_at: None,
            inserted_at: now,
        };
        for (expires_at, revoked_at, expected, good) in [
            (None, None, KeyState::Active, true),
            (Some(now + Duration::days(15)), None, KeyState::Active, true),
            (
                Some(now + Duration::days(1)),
                None,
                KeyState::ExpiresSoon(Duration::days(1)),
                true,
            ),
            (Some(now), None, KeyState::Expired, false),
            (Some(now), Some(now), KeyState::Revoked, false),
            (None, Some(now), KeyState::Revoked, false),
        ] {
            let state = key(expires_at, revoked_at).state(now);
            assert_eq!((state, state.is_good()), (expected, good));
        }
    }
}
