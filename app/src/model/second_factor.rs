//! The second factor of a user.

use time::OffsetDateTime;

/// State of a user's second factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondFactor {
    /// The authenticator app.
    pub app: App,
    /// The oldest first.
    pub passkeys: Vec<Passkey>,
    /// Number of unused recovery codes.
    pub codes_left: i64,
    /// Whether a passkey can be added: the user has fewer than the maximum, and the service’s address supports them.
    pub more_passkeys: bool,
}

impl SecondFactor {
    /// Returns whether a second factor is required at log-in.
    pub fn is_on(&self) -> bool {
        matches!(self.app, App::On { .. }) || !self.passkeys.is_empty()
    }
}

/// State of the authenticator app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum App {
    /// Not set up.
    Off,
    /// Being set up with this secret.
    Begun(AppSecret),
    On {
        /// Time of setup.
        since: OffsetDateTime,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passkey {
    pub id: String,
    pub name: String,
    pub added_at: OffsetDateTime,
    /// Time of last use.
    pub used_at: Option<OffsetDateTime>,
}

/// State of the registration of a passkey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewPasskey {
    /// Options for the browser's API, as JSON.
    Asked(String),
    /// The user must confirm their identity first.
    Unconfirmed,
    /// The service's address has no host name, which passkeys require.
    NotHere,
}

/// Second factors that the user can present now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ways {
    /// A code of the authenticator app.
    pub app: bool,
    /// A passkey: options for the browser's API, as JSON.
    pub passkey: Option<String>,
}

/// Secret of an authenticator app.
#[derive(Clone, PartialEq, Eq)]
pub struct AppSecret {
    /// As text, to be typed.
    pub text: String,
    /// Side length of its QR code, in modules.
    pub side: usize,
    /// Dark modules of the QR code, as the `d` attribute of an SVG path.
    pub path: String,
}

/// Omits the secret.
impl std::fmt::Debug for AppSecret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AppSecret").finish_non_exhaustive()
    }
}

/// The setup page.
#[derive(Clone, PartialEq, Eq)]
pub struct SetUp {
    pub state: SecondFactor,
    /// Recovery codes that were just created. Empty once they were shown.
    pub new_codes: Vec<String>,
}

/// A browser on which the second factor isn't required.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedDevice {
    /// Not the value of its cookie.
    pub id: String,
    /// Browser and operating system.
    pub device: String,
    /// IP address of the last log-in.
    pub address: String,
    /// Time of the last log-in.
    pub used_at: OffsetDateTime,
    /// Time until which the second factor isn't required.
    pub until: OffsetDateTime,
}
