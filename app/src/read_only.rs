//! Read-only pages: those of a suspended account, and of one that an operator views as its owner. Their banner gives the
//! reason, and forms and buttons that change the account are disabled.

use leptos::prelude::*;

/// Why an account is read-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOnly {
    /// An operator has suspended the account.
    Suspended,
    /// An operator views the account as its owner.
    Impersonation {
        /// Minutes until the view ends, at most.
        minutes_left: i64,
    },
}

/// Returns whether changes are disabled here. Only the server knows: islands receive it as a property.
pub fn is_read_only() -> bool {
    use_context::<Option<ReadOnly>>().flatten().is_some()
}

/// Disables the content of a form while the page is read-only.
#[component]
pub fn Changes(children: Children) -> impl IntoView {
    if is_read_only() {
        view! {
            <fieldset class="read-only" disabled>
                {children()}
            </fieldset>
        }
        .into_any()
    } else {
        children().into_any()
    }
}
