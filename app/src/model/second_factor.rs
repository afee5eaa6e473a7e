//! The second factor of a person.

use time::OffsetDateTime;

/// How the person stands with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecondFactor {
    /// The password is enough.
    Off,
    /// Being set up: their app has to know this.
    Begun(AppSecret),
    /// They are asked for it.
    On {
        /// Since then.
        since: OffsetDateTime,
        /// Recovery codes that are not used up.
        codes_left: i64,
    },
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
