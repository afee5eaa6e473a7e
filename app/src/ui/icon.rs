//! Icons on a grid of 16 units, in the colour of the text. The word beside one carries the meaning.

use leptos::prelude::*;

/// A drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyph {
    /// Two sheets: copies.
    Copy,
    /// A circle with an exclamation mark: something went wrong.
    Fault,
    /// A circle with an i: good to know.
    Info,
    /// A half-filled disc: light and dark.
    Theme,
}

impl Glyph {
    /// Path data.
    fn path(self) -> &'static str {
        match self {
            Self::Copy => "M5.5 5.5h8v8.5h-8zM10.5 5.5V2h-8v8.5h3",
            Self::Fault => "M8 1.75a6.25 6.25 0 1 1 0 12.5a6.25 6.25 0 0 1 0-12.5zM8 4.75v4M8 11v.25",
            Self::Info => "M8 1.75a6.25 6.25 0 1 1 0 12.5a6.25 6.25 0 0 1 0-12.5zM8 7.5V11M8 5v.1",
            Self::Theme => "M8 2a6 6 0 1 1 0 12a6 6 0 0 1 0-12z",
        }
    }

    /// Path data of what is filled.
    fn filled(self) -> Option<&'static str> {
        (self == Self::Theme).then_some("M8 2a6 6 0 0 0 0 12z")
    }
}

/// A drawing, hidden from screen readers.
#[component]
pub fn Icon(
    /// Which.
    glyph: Glyph,
) -> impl IntoView {
    view! {
        <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
            <path d=glyph.path() />
            {glyph.filled().map(|path| view! { <path d=path fill="currentcolor" /> })}
        </svg>
    }
}
