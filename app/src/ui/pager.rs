//! Links between the pages of a list.

use leptos::prelude::*;

use crate::ui::{
    button::{ButtonLink, Size},
    icon::{Glyph, Icon},
};

/// The pager of a list whose newest entries come first.
#[component]
pub fn Pager(
    /// Describes the entries on this page.
    note: String,
    /// Link to the first page, unless this is it.
    newest: Option<String>,
    /// Link to the next page, if there is one.
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
