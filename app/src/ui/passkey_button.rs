//! A button that creates or uses a passkey in the browser. The passkey's response is submitted with the surrounding
//! form. Without JavaScript, or in browsers without passkeys, a message is shown instead.

use leptos::prelude::*;

use crate::ui::button::{Rank, Size, class};

/// Shown in place of the button if the address of the service is an IP address.
pub const NEEDS_HOST_NAME: &str = "Passkeys need a host name over HTTPS, or localhost, but this service has an IP address. Use an authenticator app, or ask the operator to set PLATEN_BASE_URL to a host name.";

/// What the button does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ceremony {
    /// Creates a passkey. The form must be filled in before.
    Make,
    /// Uses an existing passkey. The rest of the form may be empty.
    Show,
}

/// See the module. The response is in the field `passkey`.
#[component]
pub fn PasskeyButton(
    ceremony: Ceremony,
    /// Options for the browser's API, as JSON.
    options: String,
    #[prop(optional)] rank: Rank,
    label: &'static str,
) -> impl IntoView {
    let ceremony = match ceremony {
        Ceremony::Make => "make",
        Ceremony::Show => "show",
    };
    view! {
        <passkey-button data-ceremony=ceremony data-options=options>
            <input type="hidden" name="passkey" />
            <button class=format!("{} button--block", class(rank, Size::Large)) type="button">
                {label}
            </button>
            <p class="passkey-button__needs">
                {label} ": this requires JavaScript, HTTPS or localhost, and a browser that supports passkeys."
            </p>
            <p class="passkey-button__fault" role="alert"></p>
        </passkey-button>
    }
}
