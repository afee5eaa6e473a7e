//! Buttons, and links that look like them.

use leptos::{html, prelude::*};

use crate::{
    read_only::is_read_only,
    ui::icon::{Glyph, Icon},
};

/// Prominence of a button.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rank {
    /// One of several.
    #[default]
    Plain,
    /// The main action; at most one in a view.
    Primary,
    /// Without a frame: a tool.
    Quiet,
    /// Opens the confirmation of an irreversible action.
    Danger,
    /// Confirms an irreversible action.
    Destroy,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Size {
    /// For bars and tables.
    Small,
    #[default]
    Medium,
    /// For the landing page.
    Large,
}

/// Returns the `class` of a button.
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

/// A link that looks like a button.
#[component]
pub fn ButtonLink(
    #[prop(into)] href: String,
    #[prop(optional)] rank: Rank,
    #[prop(optional)] size: Size,
    #[prop(optional)] icon: Option<Glyph>,
    children: Children,
) -> impl IntoView {
    view! {
        <a class=class(rank, size) href=href>
            {icon.map(|glyph| view! { <Icon glyph /> })}
            {children()}
        </a>
    }
}

/// A link to a list as a CSV file.
#[component]
pub fn CsvLink(#[prop(into)] href: String, #[prop(optional)] size: Size) -> impl IntoView {
    view! {
        <ButtonLink href size icon=Glyph::Download>
            "Export as CSV"
        </ButtonLink>
    }
}

/// A button with a client-side action.
#[component]
pub fn Button(
    #[prop(optional)] rank: Rank,
    #[prop(optional)] size: Size,
    /// Accessible name, if the visible text is not sufficient.
    #[prop(optional, into)]
    label: Option<String>,
    /// Whether it is focused once it is shown.
    #[prop(optional)]
    focus: bool,
    on_press: impl Fn() + 'static,
    children: Children,
) -> impl IntoView {
    let button = NodeRef::<html::Button>::new();
    if focus {
        button.on_load(|button| {
            // An element that can't be focused leaves the focus where it is.
            let _ = button.focus();
        });
    }
    view! {
        <button
            class=class(rank, size)
            type="button"
            aria-label=label
            node_ref=button
            on:click=move |_| on_press()
        >
            {children()}
        </button>
    }
}

/// The submit button of a form, as wide as the form.
#[component]
pub fn Submit(#[prop(default = Rank::Primary)] rank: Rank, children: Children) -> impl IntoView {
    view! {
        <button class=format!("{} button--block", class(rank, Size::Large)) type="submit">
            {children()}
        </button>
    }
}

/// The submit button of a form, beside other buttons.
#[component]
pub fn SubmitButton(
    #[prop(optional)] rank: Rank,
    #[prop(optional)] size: Size,
    #[prop(optional)] icon: Option<Glyph>,
    children: Children,
) -> impl IntoView {
    view! {
        <button class=class(rank, size) type="submit">
            {icon.map(|glyph| view! { <Icon glyph /> })}
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
    #[prop(optional)] rank: Rank,
    #[prop(optional)] size: Size,
    #[prop(optional)] icon: Option<Glyph>,
    /// Whether the dialog changes nothing, so that read-only pages open it too.
    #[prop(optional)]
    reads: bool,
    children: Children,
) -> impl IntoView {
    let disabled = !reads && is_read_only();
    view! {
        <button class=class(rank, size) type="button" command="show-modal" commandfor=dialog disabled=disabled>
            {icon.map(|glyph| view! { <Icon glyph /> })}
            {children()}
        </button>
    }
}

/// A button in the foot of a panel, which opens a dialog about its item. `of` completes the label for screen readers.
#[component]
pub fn FootButton(dialog: String, words: &'static str, of: String) -> impl IntoView {
    view! {
        <OpenButton dialog rank=Rank::Quiet size=Size::Small>
            {words}
            <span class="visually-hidden">{of}</span>
        </OpenButton>
    }
}

/// A button that closes a dialog. It is focused when a dialog without fields opens: a focused field precedes it.
#[component]
pub fn CloseButton(
    /// `id` of the dialog.
    #[prop(into)]
    dialog: String,
    #[prop(optional)] rank: Rank,
    children: Children,
) -> impl IntoView {
    view! {
        <button class=class(rank, Size::Medium) type="button" command="close" commandfor=dialog autofocus>
            {children()}
        </button>
    }
}
