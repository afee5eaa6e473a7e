//! The way to the next page of a list.

use leptos::prelude::*;

use crate::ui::{
    button::{ButtonLink, Size},
    icon::{Glyph, Icon},
};

/// Under a list whose newest entries come first.
#[component]
pub fn Pager(
    /// What is shown.
    note: String,
    /// Where the first page is, unless this is it.
    newest: Option<String>,
    /// Where the next one is, if there is one.
    older: Option<String>,
) -> impl IntoView {
    view! {
        <nav class="pager" aria-label="Pages of this list">
            <p>{note}</p>
            <div class="pager__links">
                {newest
                    .map(|href| {
                        view! {
                            <ButtonLink href size=Size::Small>
                                "Newest"
                            </ButtonLink>
                        }
                    })}
                {older
                    .map(|href| {
                        view! {
                            <ButtonLink href size=Size::Small>
                                "Older"
                                <Icon glyph=Glyph::Next />
                            </ButtonLink>
                        }
                    })}
            </div>
        </nav>
    }
}
