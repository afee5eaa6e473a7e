//! Mails about the second factor.

use url::Url;

use super::{Draft, FORGOT_PASSWORD_PATH, SETTINGS_PATH, page};
use crate::mail::Written;

/// From now on, logging in takes two steps.
pub fn turned_on(base: &Url) -> Written {
    Draft::new("Your second factor is on")
        .says("From now on a log-in to your Platen account asks for a code of your authenticator app.")
        .says("Keep the recovery codes where you find them without your phone.")
        .says("If it was not you, choose a new password, and write to whoever runs this service.")
        .leads("Choose a new password", &page(base, FORGOT_PASSWORD_PATH))
        .written()
}

/// From now on, the password is sufficient.
pub fn turned_off(base: &Url) -> Written {
    Draft::new("Your second factor is off")
        .says("From now on the password of your Platen account is enough to log in.")
        .says("If it was not you, choose a new password now, and turn the second factor on again.")
        .leads("Choose a new password", &page(base, FORGOT_PASSWORD_PATH))
        .leads("Settings", &page(base, SETTINGS_PATH))
        .written()
}

/// From now on, a passkey is required.
pub fn app_off(base: &Url) -> Written {
    a_factor_is_gone(
        base,
        "Your authenticator app is off",
        "From now on its codes do not log in to your Platen account any more; your passkeys do.".to_owned(),
    )
}

/// From now on, the passkey is accepted as the second factor.
pub fn passkey_added(base: &Url, name: &str) -> Written {
    Draft::new("A passkey was added")
        .says(format!(
            "From now on a log-in to your Platen account asks for your second factor, which may be the new passkey “{name}”."
        ))
        .says("Keep your recovery codes where you find them without your devices.")
        .says("If it was not you, choose a new password now, and remove the passkey in the settings.")
        .leads("Choose a new password", &page(base, FORGOT_PASSWORD_PATH))
        .leads("Settings", &page(base, SETTINGS_PATH))
        .written()
}

/// From now on, another factor is required.
pub fn passkey_removed(base: &Url, name: &str) -> Written {
    a_factor_is_gone(
        base,
        "A passkey was removed",
        format!("From now on the passkey “{name}” does not log in to your Platen account any more."),
    )
}

fn a_factor_is_gone(base: &Url, subject: &'static str, what: String) -> Written {
    Draft::new(subject)
        .says(what)
        .says("If it was not you, choose a new password now, and look at your second factor in the settings.")
        .leads("Choose a new password", &page(base, FORGOT_PASSWORD_PATH))
        .leads("Settings", &page(base, SETTINGS_PATH))
        .written()
}

/// Sent after every use of a recovery code.
pub fn recovery_code_used(base: &Url, left: i64) -> Written {
    let left = match left {
        0 => "None is left: make new ones while you are logged in.".to_owned(),
        1 => "One is left.".to_owned(),
        left => format!("{left} are left."),
    };
    Draft::new("A recovery code was used")
        .says(format!(
            "Somebody, we hope you, has used one of the recovery codes of your Platen account. {left}"
        ))
        .says("If it was not you, choose a new password now, and make new recovery codes.")
        .leads("Choose a new password", &page(base, FORGOT_PASSWORD_PATH))
        .leads("Settings", &page(base, SETTINGS_PATH))
        .written()
}
