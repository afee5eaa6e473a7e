//! Buttons, and links that look like them.

use leptos::prelude::*;

/// How much a button asks to be pressed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rank {
    /// One of several.
    #[default]
    Plain,
    /// The one thing to do here; one a view.
    Primary,
    /// No frame: a tool at hand.
    Quiet,
}

/// How large it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Size {
    /// In bars and tables.
    Small,
    /// Everywhere else.
    #[default]
    Medium,
    /// On the landing page.
    Large,
}

fn class(rank: Rank, size: Size) -> String {
    let rank = match rank {
        Rank::Plain => "",
        Rank::Primary => " button--primary",
        Rank::Quiet => " button--quiet",
    };
    let size = match size {
        Size::Small => " button--small",
        Size::Medium => "",
        Size::Large => " button--large",
    };
    format!("button{rank}{size}")
}

/// A link to another page, as a button.
#[component]
pub fn ButtonLink(
    /// Where to.
    #[prop(into)]
    href: String,
    /// See [`Rank`].
    #[prop(optional)]
    rank: Rank,
    /// See [`Size`].
    #[prop(optional)]
    size: Size,
    /// Its words.
    children: Children,
) -> impl IntoView {
    view! {
        <a class=class(rank, size) href=href>
            {children()}
        </a>
    }
}

/// A button that does something in the page.
#[component]
pub fn Button(
    /// See [`Rank`].
    #[prop(optional)]
    rank: Rank,
    /// See [`Size`].
    #[prop(optional)]
    size: Size,
    /// What it is called where its own words don't say enough.
    #[prop(optional, into)]
    label: Option<String>,
    /// What it does.
    on_press: impl Fn() + 'static,
    /// Its words.
    children: Children,
) -> impl IntoView {
    view! {
        <button class=class(rank, size) type="button" aria-label=label on:click=move |_| on_press()>
            {children()}
        </button>
    }
}

/// The button that sends its form, as wide as the form.
#[component]
pub fn Submit(
    /// See [`Rank`].
    #[prop(default = Rank::Primary)]
    rank: Rank,
    /// Its words.
    children: Children,
) -> impl IntoView {
    view! {
        <button class=format!("{} button--block", class(rank, Size::Large)) type="submit">
            {children()}
        </button>
    }
}
