//! The second factor of a person.

use time::OffsetDateTime;

/// How the person stands with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondFactor {
    /// Their authenticator app.
    pub app: App,
    /// Their passkeys, the oldest first.
    pub passkeys: Vec<Passkey>,
    /// Recovery codes that are not used up.
    pub codes_left: i64,
    /// Whether a passkey can be added: they have few, and the service’s address is fit for them.
    pub more_passkeys: bool,
}

impl SecondFactor {
    /// Whether they are asked for anything.
    pub fn is_on(&self) -> bool {
        matches!(self.app, App::On { .. }) || !self.passkeys.is_empty()
    }
}

/// How the person stands with their authenticator app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum App {
    /// They have none.
    Off,
    /// Being set up: their app has to know this.
    Begun(AppSecret),
    /// They are asked for its code.
    On {
        /// Since then.
        since: OffsetDateTime,
    },
}

/// A passkey of the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passkey {
    /// Its name in lists.
    pub id: String,
    /// What the person calls it.
    pub name: String,
    /// When it was added.
    pub added_at: OffsetDateTime,
    /// When it was last used.
    pub used_at: Option<OffsetDateTime>,
}

/// How far somebody is who adds a passkey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewPasskey {
    /// The browser is to hand this on, as JSON.
    Asked(String),
    /// They have to show first that it is they.
    Unconfirmed,
    /// The address of the service has no name, which passkeys need.
    NotHere,
}

/// In which ways the person can show it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ways {
    /// By a code of their app.
    pub app: bool,
    /// By a passkey: what the browser is to hand on to it, as JSON.
    pub passkey: Option<String>,
}

/// What an authenticator app has to know.
#[derive(Clone, PartialEq, Eq)]
pub struct AppSecret {
    /// To be typed.
    pub text: String,
    /// Length of the sides of a picture to be read, in modules.
    pub side: usize,
    /// Its dark modules, as the `d` of a path in SVG.
    pub path: String,
}

/// Does not print what it knows.
impl std::fmt::Debug for AppSecret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AppSecret").finish_non_exhaustive()
    }
}

/// The page on which it is set up.
#[derive(Clone, PartialEq, Eq)]
pub struct SetUp {
    /// How far it is.
    pub state: SecondFactor,
    /// Recovery codes that were just made; empty once they were shown.
    pub new_codes: Vec<String>,
}

/// A browser that is not asked for the second factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedDevice {
    /// Its name in lists.
    pub id: String,
    /// What people call it.
    pub device: String,
    /// Where its person logged in from the last time.
    pub address: String,
    /// When.
    pub used_at: OffsetDateTime,
    /// Until when it is not asked.
    pub until: OffsetDateTime,
}
