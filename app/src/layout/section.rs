//! Sections of a page.

use leptos::prelude::*;

/// Arrangement of a section.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SectionKind {
    #[default]
    Plain,
    /// With its heading beside the content.
    Hanging,
    /// As [`Self::Hanging`], for irreversible actions.
    Danger,
}

/// A part of a page under a heading.
#[component]
pub fn Section(
    #[prop(into)] heading: String,
    /// A remark beside the heading.
    #[prop(optional, into)]
    note: String,
    /// Links and buttons beside the heading.
    #[prop(optional)]
    beside: Option<AnyView>,
    /// `id` of the section, for links to it.
    #[prop(optional)]
    id: Option<&'static str>,
    #[prop(optional)] kind: SectionKind,
    /// `class` of the content.
    #[prop(default = "section__body")]
    body: &'static str,
    children: Children,
) -> impl IntoView {
    let class = match kind {
        SectionKind::Plain => "section",
        SectionKind::Hanging => "section section--hanging",
        SectionKind::Danger => "section section--hanging section--danger",
    };
    view! {
        <section class=class id=id>
            <div class="section__head">
                <h2>{heading}</h2>
                {(!note.is_empty()).then(|| view! { <span class="section__note">{note}</span> })}
                {beside}
            </div>
            <div class=body>{children()}</div>
        </section>
    }
}
