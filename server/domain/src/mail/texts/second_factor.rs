//! Mails about the second factor.

use url::Url;

use super::{Draft, FORGOT_PASSWORD_PATH, SETTINGS_PATH, page};
use crate::mail::Written;

/// Sent when the first factor was added.
pub fn turned_on(base: &Url) -> Written {
    Draft::new("Your second factor is on")
        .says("Logging in to your Platen account now requires a second factor, such as a code from your authenticator app.")
        .says("Store your recovery codes where you can find them without your phone.")
        .says("If this wasn't you, reset your password now and contact the operator of this service.")
        .leads("Reset password", &page(base, FORGOT_PASSWORD_PATH))
        .written()
}

/// From now on, the password is sufficient.
pub fn turned_off(base: &Url) -> Written {
    Draft::new("Your second factor is off")
        .says("Logging in to your Platen account now requires only your password.")
        .says("If this wasn't you, reset your password now and turn on the second factor again in Settings.")
        .leads("Reset password", &page(base, FORGOT_PASSWORD_PATH))
        .leads("Open Settings", &page(base, SETTINGS_PATH))
        .written()
}

/// From now on, a passkey is required.
pub fn app_off(base: &Url) -> Written {
    factor_removed(
        base,
        "Your authenticator app was turned off",
        "You can no longer log in to your Platen account with codes from your authenticator app. Use one of your passkeys \
         instead."
            .to_owned(),
    )
}

/// From now on, the passkey is accepted as the second factor.
pub fn passkey_added(base: &Url, name: &str) -> Written {
    Draft::new("A passkey was added")
        .says(format!(
            "The passkey “{name}” was added to your Platen account. Logging in now requires a second factor, and you can use \
             this passkey."
        ))
        .says("Store your recovery codes where you can find them without your devices.")
        .says("If this wasn't you, reset your password now and remove the passkey in Settings.")
        .leads("Reset password", &page(base, FORGOT_PASSWORD_PATH))
        .leads("Open Settings", &page(base, SETTINGS_PATH))
        .written()
}

/// From now on, another factor is required.
pub fn passkey_removed(base: &Url, name: &str) -> Written {
    factor_removed(
        base,
        "A passkey was removed",
        format!("You can no longer log in to your Platen account with the passkey “{name}”."),
    )
}

fn factor_removed(base: &Url, subject: &'static str, what: String) -> Written {
    Draft::new(subject)
        .says(what)
        .says("If this wasn't you, reset your password now and check your second factors in Settings.")
        .leads("Reset password", &page(base, FORGOT_PASSWORD_PATH))
        .leads("Open Settings", &page(base, SETTINGS_PATH))
        .written()
}

/// Sent after every use of a recovery code.
pub fn recovery_code_used(base: &Url, left: i64) -> Written {
    let left = match left {
        0 => "You have none left: create new codes in Settings while you are logged in.".to_owned(),
        1 => "You have one left.".to_owned(),
        left => format!("You have {left} left."),
    };
    Draft::new("A recovery code was used")
        .says(format!(
            "One of your recovery codes was used to log in to your Platen account. {left}"
        ))
        .says("If this wasn't you, reset your password now and create new recovery codes.")
        .leads("Reset password", &page(base, FORGOT_PASSWORD_PATH))
        .leads("Open Settings", &page(base, SETTINGS_PATH))
        .written()
}
