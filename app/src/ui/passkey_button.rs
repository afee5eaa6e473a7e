//! A button by which the browser makes or shows a passkey. What the passkey answers is sent with the form around it. Without
//! script, or where the browser knows no passkeys, a sentence stands in its place.

use leptos::prelude::*;

use crate::ui::button::{Rank, Size, class};

/// What is done with a passkey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ceremony {
    /// A new one is made. The form has to be filled in before.
    Make,
    /// One that is there is shown. The rest of the form may stay empty.
    Show,
}

/// See the module. The field is called `passkey`.
#[component]
pub fn PasskeyButton(
    /// See [`Ceremony`].
    ceremony: Ceremony,
    /// What the browser is to hand on, as JSON.
    options: String,
    /// See [`Rank`].
    #[prop(optional)]
    rank: Rank,
    /// What the button says.
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
                {label} ": for this the page needs JavaScript, an https address and a browser that knows passkeys."
            </p>
            <p class="passkey-button__fault" role="alert"></p>
        </passkey-button>
    }
}
