//! What is shown only to those who may use it.

use leptos::prelude::*;

use crate::{layout::loaded::loaded_or, model::role::Permission};

/// Its content, for those whose role allows what it leads to; for others nothing.
#[component]
pub fn IfMay(
    /// What it takes.
    permission: Permission,
    /// Buttons and links.
    children: Children,
) -> impl IntoView {
    loaded_or(
        |backend| async move { backend.role().await },
        move |role| role.may(permission).then(children),
        // The page itself says what is wrong.
        |_| (),
    )
}
