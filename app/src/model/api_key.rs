//! API keys, as their account sees them.

use time::{Duration, OffsetDateTime};

/// The list shows the remaining time of keys that expire within this.
const SOON: Duration = Duration::days(14);

/// Everything the API keys page shows.
#[derive(Debug, Clone)]
pub struct ApiKeys {
    /// Time of the reading.
    pub now: OffsetDateTime,
    /// The newest first, including revoked keys.
    pub keys: Vec<ApiKey>,
    /// All scopes that a key can have.
    pub scopes: Vec<&'static str>,
    /// Templates to which a key can be restricted.
    pub templates: Vec<TemplateChoice>,
    /// A key that was just created. It is included only once.
    pub new: Option<NewKey>,
}

/// A template to which a key can be restricted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateChoice {
    pub id: String,
    pub name: String,
}

/// A key that was just created.
#[derive(Clone)]
pub struct NewKey {
    pub id: String,
    /// The key itself. It is not stored and can't be shown again.
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

/// A key in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Not secret.
    pub id: String,
    pub name: String,
    /// The beginning of the key.
    pub hint: String,
    /// `false` for a test key.
    pub live: bool,
    pub scopes: Vec<&'static str>,
    /// Networks from which the key may be used. Empty: anywhere.
    pub networks: Vec<String>,
    /// Names of the templates to which the key is restricted. Empty: unrestricted.
    pub templates: Vec<String>,
    /// `None`: the key doesn't expire.
    pub expires_at: Option<OffsetDateTime>,
    /// Name of the user who created it, if they have left the account.
    pub former_creator: Option<String>,
    pub revoked_at: Option<OffsetDateTime>,
    /// Time of last use, at most a minute behind.
    pub last_used_at: Option<OffsetDateTime>,
    /// Time of creation.
    pub inserted_at: OffsetDateTime,
}

/// Status of a key at a given time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// Valid.
    Active,
    /// Valid for this duration.
    ExpiresSoon(Duration),
    Expired,
    Revoked,
}

impl ApiKey {
    /// Returns the status at `now`.
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
    /// Returns whether requests with the key are accepted.
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
