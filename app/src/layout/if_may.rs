//! Content that depends on the user's role.

use leptos::prelude::*;
use platen_domain::role::Permission;

use crate::layout::loaded::loaded_or;

/// Shows its children to users whose role includes `permission`.
#[component]
pub fn IfMay(permission: Permission, children: Children) -> impl IntoView {
    loaded_or(
        |backend| async move { backend.role().await },
        move |role| role.may(permission).then(children),
        // The page itself shows the error.
        |_| (),
    )
}
