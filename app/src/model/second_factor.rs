//! The second factor of a user.

use platen_domain::second_factor::{SecondFactor, picture::Picture};

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

/// The setup page.
pub struct SetUp {
    pub state: SecondFactor,
    /// Text and QR code of the authenticator app's secret, during its setup.
    pub secret: Option<(String, Picture)>,
    /// Recovery codes that were just created. Empty once they were shown.
    pub new_codes: Vec<String>,
}
