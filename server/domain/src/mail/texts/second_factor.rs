//! Mails about the second factor.

use url::Url;

use super::{Composer, FORGOT_PASSWORD_PATH, SETTINGS_PATH, page};
use crate::mail::ComposedMail;

/// Sent when the first factor was added.
pub fn turned_on(base: &Url) -> ComposedMail {
    Composer::new("Your second factor is on")
        .paragraph("Logging in to your Platen account now requires a second factor, such as a code from your authenticator app.")
        .paragraph("Store your recovery codes where you can find them without your phone.")
        .paragraph("If this wasn't you, reset your password now and contact the operator of this service.")
        .link("Reset password", &page(base, FORGOT_PASSWORD_PATH))
        .finish()
}

/// From now on, the password is sufficient.
pub fn turned_off(base: &Url) -> ComposedMail {
    Composer::new("Your second factor is off")
        .paragraph("Logging in to your Platen account now requires only your password.")
        .paragraph("If this wasn't you, reset your password now and turn on the second factor again in Settings.")
        .link("Reset password", &page(base, FORGOT_PASSWORD_PATH))
        .link("Open Settings", &page(base, SETTINGS_PATH))
        .finish()
}

/// From now on, a passkey is required.
pub fn app_off(base: &Url) -> ComposedMail {
    factor_removed(
        base,
        "Your authenticator app was turned off",
        "You can no longer log in to your Platen account with codes from your authenticator app. Use one of your passkeys \
         instead."
            .to_owned(),
    )
}

/// From now on, the passkey is accepted as the second factor.
pub fn passkey_added(base: &Url, name: &str) -> ComposedMail {
    Composer::new("A passkey was added")
        .paragraph(format!(
            "The passkey “{name}” was added to your Platen account. Logging in now requires a second factor, and you can use \
             this passkey."
        ))
        .paragraph("Store your recovery codes where you can find them without your devices.")
        .paragraph("If this wasn't you, reset your password now and remove the passkey in Settings.")
        .link("Reset password", &page(base, FORGOT_PASSWORD_PATH))
        .link("Open Settings", &page(base, SETTINGS_PATH))
        .finish()
}

/// From now on, another factor is required.
pub fn passkey_removed(base: &Url, name: &str) -> ComposedMail {
    factor_removed(
        base,
        "A passkey was removed",
        format!("You can no longer log in to your Platen account with the passkey “{name}”."),
    )
}

fn factor_removed(base: &Url, subject: &'static str, what: String) -> ComposedMail {
    Composer::new(subject)
        .paragraph(what)
        .paragraph("If this wasn't you, reset your password now and check your second factors in Settings.")
        .link("Reset password", &page(base, FORGOT_PASSWORD_PATH))
        .link("Open Settings", &page(base, SETTINGS_PATH))
        .finish()
}

/// Sent after every use of a recovery code.
pub fn recovery_code_used(base: &Url, left: i64) -> ComposedMail {
    let left = match left {
        0 => "You have none left: create new codes in Settings while you are logged in.".to_owned(),
        1 => "You have one left.".to_owned(),
        left => format!("You have {left} left."),
    };
    Composer::new("A recovery code was used")
        .paragraph(format!(
            "One of your recovery codes was used to log in to your Platen account. {left}"
        ))
        .paragraph("If this wasn't you, reset your password now and create new recovery codes.")
        .link("Reset password", &page(base, FORGOT_PASSWORD_PATH))
        .link("Open Settings", &page(base, SETTINGS_PATH))
        .finish()
}
