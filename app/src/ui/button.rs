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
    /// Leads to something that can't be undone.
    Danger,
    /// Does it.
    Destroy,
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

/// `class` of a button.
pub(super) fn class(rank: Rank, size: Size) -> String {
    let rank = match rank {
        Rank::Plain => "",
        Rank::Primary => " button--primary",
        Rank::Quiet => " button--quiet",
        Rank::Danger => " button--danger",
        Rank::Destroy => " button--destroy",
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

/// The button that sends its form, beside others.
#[component]
pub fn SubmitButton(
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
        <button class=class(rank, size) type="submit">
            {children()}
        </button>
    }
}

/// A button that opens a dialog.
#[component]
pub fn OpenButton(
    /// `id` of the dialog.
    #[prop(into)]
    dialog: String,
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
        <button class=class(rank, size) type="button" command="show-modal" commandfor=dialog>
            {children()}
        </button>
    }
}

/// A button that closes a dialog.
#[component]
pub fn CloseButton(
    /// `id` of the dialog.
    #[prop(into)]
    dialog: String,
    /// See [`Rank`].
    #[prop(optional)]
    rank: Rank,
    /// Whether it has the focus when the dialog opens.
    #[prop(optional)]
    focus: bool,
    /// Its words.
    children: Children,
) -> impl IntoView {
    view! {
        <button class=class(rank, Size::Medium) type="button" command="close" commandfor=dialog autofocus=focus>
            {children()}
        </button>
    }
}
