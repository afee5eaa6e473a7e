//! `/dashboard`: how the account stands.

use leptos::prelude::*;

use crate::layout::shell::{Shell, rail::Entry};

/// The page.
#[component]
pub fn Overview() -> impl IntoView {
    view! {
        <Shell title="Overview" current=Entry::Overview>
            <div class="page-head">
                <div class="page-head__text">
                    <h1>"Overview"</h1>
                </div>
            </div>
        </Shell>
    }
}
