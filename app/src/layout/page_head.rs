//! The head of a page.

use leptos::prelude::*;

/// The title of a page, what it is about, and its actions.
#[component]
pub fn PageHead(
    #[prop(into)] title: String,
    /// Whether users choose the title, so that it may contain words of any length.
    #[prop(optional)]
    is_chosen: bool,
    /// Introduction in one or two sentences.
    #[prop(optional, into)]
    lede: String,
    /// Facts, each in an element of its own.
    #[prop(optional)]
    facts: Option<AnyView>,
    /// Buttons.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <div class="page-head">
            <div class="page-head__text">
                <h1 class=is_chosen.then_some("break")>{title}</h1>
                {(!lede.is_empty()).then(|| view! { <p class="page-head__lede">{lede}</p> })}
                {facts.map(|facts| view! { <div class="page-head__meta">{facts}</div> })}
            </div>
            {children.map(|children| view! { <div class="page-head__actions">{children()}</div> })}
        </div>
    }
}
