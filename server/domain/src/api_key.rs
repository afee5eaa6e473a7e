//! API keys: format, scopes and digest.
//!
//! A key is `pk_live_` or `pk_test_`, 32 random bytes as 43 base62 digits, and the CRC-32 of everything before it as 6
//! base62 digits. The checksum lets secret scanners recognize keys, and mistyped keys be rejected without a lookup.

use std::{collections::BTreeSet, net::IpAddr, ops::RangeInclusive};

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use strum::{EnumString, IntoStaticStr, VariantArray};
use subtle::ConstantTimeEq;
use time::{Duration, OffsetDateTime};

use crate::{
    allowed::{AllowedChannels, AllowedTemplates},
    ids::ApiKeyId,
    network::Network,
    role::{Permission, Role},
};

const LIVE_PREFIX: &str = "pk_live_";
const TEST_PREFIX: &str = "pk_test_";
const RANDOM_DIGITS: usize = 43; // 62^43 > 2^256
const CHECKSUM_DIGITS: usize = 6; // 62^6 > 2^32
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Lists show the remaining time of keys that expire within this.
const SOON: Duration = Duration::days(14);

/// A key in plain text. It is shown once, and neither logged by accident nor stored.
#[derive(Debug, Clone)]
pub struct PlaintextKey(SecretString);

/// The text is not a key: wrong prefix, length, alphabet or checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not an API key: a key begins with pk_live_ or pk_test_ and has 57 characters, the last six of them a checksum"
)]
pub struct MalformedKey;

impl PlaintextKey {
    /// Creates a key from 32 random bytes.
    pub fn from_random(random: [u8; 32], livemode: bool) -> Self {
        let mut text = String::from(if livemode { LIVE_PREFIX } else { TEST_PREFIX });
        text.push_str(&base62(random, RANDOM_DIGITS));
        text.push_str(&checksum(&text));
        Self(text.into())
    }

    /// Parses a key received from a client.
    pub fn parse(text: &str) -> Result<Self, MalformedKey> {
        let digits = text
            .strip_prefix(LIVE_PREFIX)
            .or_else(|| text.strip_prefix(TEST_PREFIX))
            .ok_or(MalformedKey)?;
        if digits.len() != RANDOM_DIGITS + CHECKSUM_DIGITS || !digits.bytes().all(|digit| digit.is_ascii_alphanumeric())
        {
            return Err(MalformedKey);
        }
        let (body, found) = text.split_at(text.len() - CHECKSUM_DIGITS);
        if checksum(body) != found {
            return Err(MalformedKey);
        }
        Ok(Self(text.into()))
    }

    /// Returns the digest, which is stored instead of the key.
    pub fn digest(&self) -> KeyDigest {
        KeyDigest(Sha256::digest(self.0.expose_secret()).into())
    }

    /// Returns the prefix and the first four random digits, which may be shown to distinguish keys.
    pub fn hint(&self) -> &str {
        &self.0.expose_secret()[..LIVE_PREFIX.len() + 4]
    }

    /// Returns the whole key, to be shown once.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

/// The SHA-256 of a key. Keys are random, so a slow hash would add no security.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyDigest([u8; 32]);

impl KeyDigest {
    /// The bytes, as stored.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Compares the digest with stored bytes in constant time.
    pub fn matches(&self, stored: &[u8]) -> bool {
        self.0.ct_eq(stored).into()
    }
}

/// A permission of an API key. The names are used on the command line, in responses and in the database.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray, strum::VariantNames,
)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum Scope {
    /// Render, cancel renders, and send webhooks again.
    Render,
    /// Read renders.
    #[strum(serialize = "renders:read")]
    RendersRead,
    /// Read templates.
    #[strum(serialize = "templates:read")]
    TemplatesRead,
    /// Create, change and delete templates.
    #[strum(serialize = "templates:write")]
    TemplatesWrite,
    /// Read assets.
    #[strum(serialize = "assets:read")]
    AssetsRead,
    /// Create, replace and delete assets.
    #[strum(serialize = "assets:write")]
    AssetsWrite,
    /// Read credits.
    #[strum(serialize = "usage:read")]
    UsageRead,
    /// Read storage connections.
    #[strum(serialize = "connections:read")]
    ConnectionsRead,
    /// Create, change and delete storage connections.
    #[strum(serialize = "connections:write")]
    ConnectionsWrite,
}

impl Scope {
    /// Returns the permission that a logged-in user needs for the same.
    fn permission(self) -> Permission {
        match self {
            Self::Render
            | Self::RendersRead
            | Self::TemplatesRead
            | Self::TemplatesWrite
            | Self::AssetsRead
            | Self::AssetsWrite => Permission::Produce,
            Self::UsageRead => Permission::SeeAccount,
            Self::ConnectionsRead | Self::ConnectionsWrite => Permission::ManageDestinations,
        }
    }
}

/// The scopes of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scopes(BTreeSet<Scope>);

impl Scopes {
    /// Returns what a member with this role may do through the API; the playground sends members' requests to the API.
    pub fn of_role(role: Role) -> Self {
        Scope::VARIANTS
            .iter()
            .copied()
            .filter(|scope| role.may(scope.permission()))
            .collect()
    }

    /// All scopes.
    pub fn all() -> Self {
        Self(Scope::VARIANTS.iter().copied().collect())
    }

    pub fn contains(&self, scope: Scope) -> bool {
        self.0.contains(&scope)
    }

    /// Returns the scopes in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = Scope> + '_ {
        self.0.iter().copied()
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<T: IntoIterator<Item = Scope>>(scopes: T) -> Self {
        Self(scopes.into_iter().collect())
    }
}

/// Returns the CRC-32 (ISO-HDLC) of a text in base62.
fn checksum(text: &str) -> String {
    let mut bytes = [0; 32];
    bytes[28..].copy_from_slice(&crc32fast::hash(text.as_bytes()).to_be_bytes());
    base62(bytes, CHECKSUM_DIGITS)
}

/// Formats a big-endian number in base62 with leading zeros, by repeated division.
fn base62(mut number: [u8; 32], digits: usize) -> String {
    let mut text = vec![0; digits];
    for digit in text.iter_mut().rev() {
        let mut remainder = 0_u32;
        for byte in &mut number {
            let value = (remainder << 8) | u32::from(*byte);
            *byte = (value / 62) as u8;
            remainder = value % 62;
        }
        *digit = BASE62[remainder as usize];
    }
    text.into_iter().map(char::from).collect()
}

/// A key's limit of credits in a period, and its use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreditLimit {
    /// Credits that the key may use in each period.
    pub credits: i64,
    /// Credits charged in the current period, also for the keys that the key replaces.
    pub used: i64,
}

impl CreditLimit {
    /// Limits that may be set.
    pub const RANGE: RangeInclusive<i64> = 1..=1_000_000_000;

    /// Returns the used share, at most 1.
    pub fn share_used(self) -> f64 {
        (self.used as f64 / self.credits as f64).min(1.0)
    }
}

/// A key as shown in lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    pub id: ApiKeyId,
    /// Display name.
    pub name: String,
    /// First characters of the key.
    pub hint: String,
    pub scopes: Scopes,
    /// False for test keys.
    pub livemode: bool,
    /// `None` if the key doesn't expire.
    pub expires_at: Option<OffsetDateTime>,
    /// Networks that the key may be used from; empty means any.
    pub allowed_networks: Vec<Network>,
    /// Templates that the key may use; empty means any.
    pub allowed_templates: AllowedTemplates,
    /// Channels that the key may use; empty means any.
    pub allowed_channels: AllowedChannels,
    /// `None` if the key may use all credits of the account.
    pub credit_limit: Option<CreditLimit>,
    pub revoked_at: Option<OffsetDateTime>,
    /// When another key of the same name has replaced it.
    pub replaced_at: Option<OffsetDateTime>,
    /// When it was last used, up to a minute late.
    pub last_used_at: Option<OffsetDateTime>,
    /// Address of the client at that time, if it was known.
    pub last_used_from: Option<IpAddr>,
    /// Name of the user who created the key, if they have left the account.
    pub former_creator: Option<String>,
    pub inserted_at: OffsetDateTime,
}

/// Status of a key at a given time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// Valid.
    Active,
    /// Valid for this duration.
    ExpiresSoon(Duration),
    /// Replaced by another key, and valid until this time.
    Replaced(OffsetDateTime),
    Expired,
    Revoked,
}

impl ApiKey {
    /// Returns the status at `now`.
    pub fn state(&self, now: OffsetDateTime) -> KeyState {
        match self.expires_at {
            _ if self.revoked_at.is_some() => KeyState::Revoked,
            Some(expiry) if expiry <= now => KeyState::Expired,
            Some(expiry) if self.replaced_at.is_some() => KeyState::Replaced(expiry),
            Some(expiry) if expiry - now < SOON => KeyState::ExpiresSoon(expiry - now),
            _ => KeyState::Active,
        }
    }
}

impl KeyState {
    /// Returns whether requests with the key are accepted.
    pub fn is_good(self) -> bool {
        matches!(self, Self::Active | Self::ExpiresSoon(_) | Self::Replaced(_))
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_key_has_the_documented_form_and_is_read_back() {
        for (livemode, prefix) in [(true, "pk_live_"), (false, "pk_test_")] {
            let key = PlaintextKey::from_random([0xff; 32], livemode);
            assert_eq!(key.expose().len(), 57);
            assert!(key.expose().starts_with(prefix));
            let read = PlaintextKey::parse(key.expose()).expect("a valid key");
            assert!(read.digest().matches(key.digest().as_bytes()));
        }
    }

    #[test]
    fn known_digits() {
        let key = PlaintextKey::from_random([0; 32], true);
        let (body, found) = key.expose().split_at(51);
        assert_eq!(body, format!("pk_live_{}", "0".repeat(43)));
        // 62 ** 43 > 2 ** 256, so the highest number still fits; its digits were computed separately.
        assert_eq!(base62([0xff; 32], 43), "yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1");
        assert_eq!(found, "3xC1Wz");
    }

    #[test]
    fn damaged_keys_are_refused() {
        let key = PlaintextKey::from_random([7; 32], true);
        let text = key.expose();
        let other_digit = if text.ends_with('a') { 'b' } else { 'a' };
        let damaged = [
            String::new(),
            text[..56].to_owned(),
            format!("{text}0"),
            text.replace("pk_live_", "pk_test_"),
            text.replace("pk_live_", "sk_live_"),
            format!("{}{other_digit}", &text[..56]),
            format!("{}é", &text[..55]),
            format!(" {text}"),
        ];
        for text in damaged {
            assert_eq!(PlaintextKey::parse(&text).map(|_| ()), Err(MalformedKey), "{text}");
        }
    }

    #[test]
    fn a_key_does_not_print() {
        let key = PlaintextKey::from_random([7; 32], true);
        assert!(!format!("{key:?}").contains(key.expose()));
    }

    #[test]
    fn scopes_are_read_by_name() {
        for scope in Scope::VARIANTS {
            assert_eq!(scope.into_str().parse(), Ok(*scope));
        }
        assert!("admin".parse::<Scope>().is_err());
    }

    #[test]
    fn a_member_does_by_the_api_what_the_dashboard_allows() {
        for role in [Role::Admin, Role::Owner] {
            assert_eq!(Scopes::of_role(role), Scopes::all(), "{role}");
        }
        let of_member = Scopes::of_role(Role::Member);
        assert!(of_member.contains(Scope::TemplatesWrite) && !of_member.contains(Scope::ConnectionsRead));
    }

    #[test]
    fn a_key_is_good_until_it_expires_or_is_revoked() {
        let now = datetime!(2026-11-21 12:00 UTC);
        let key = |expires_at, replaced_at, revoked_at| ApiKey {
            id: ApiKeyId::generate(),
            name: String::new(),
            hint: String::new(),
            livemode: true,
            scopes: Scopes::all(),
            allowed_networks: Vec::new(),
            allowed_templates: AllowedTemplates::default(),
            allowed_channels: AllowedChannels::default(),
            credit_limit: None,
            expires_at,
            former_creator: None,
            revoked_at,
            replaced_at,
            last_used_at: None,
            last_used_from: None,
            inserted_at: now,
        };
        let (past, tomorrow) = (Some(now), Some(now + Duration::DAY));
        for (expires_at, replaced_at, revoked_at, expected, good) in [
            (None, None, None, KeyState::Active, true),
            (Some(now + Duration::days(15)), None, None, KeyState::Active, true),
            (tomorrow, None, None, KeyState::ExpiresSoon(Duration::DAY), true),
            (tomorrow, past, None, KeyState::Replaced(now + Duration::DAY), true),
            (past, past, None, KeyState::Expired, false),
            (past, None, past, KeyState::Revoked, false),
            (tomorrow, past, past, KeyState::Revoked, false),
        ] {
            let state = key(expires_at, replaced_at, revoked_at).state(now);
            assert_eq!((state, state.is_good()), (expected, good));
        }
    }
}
