//! A state, told by a glyph and a word.

use leptos::prelude::*;

/// Kinds of states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Done, working: a disc.
    Good,
    /// Failed: a crossed ring.
    Bad,
    /// Refused, revoked, cancelled: a struck ring.
    Struck,
}

/// A state.
#[component]
pub fn Badge(
    /// Its kind.
    state: State,
    /// Its word.
    children: Children,
) -> impl IntoView {
    let class = match state {
        State::Good => "badge badge--ok",
        State::Bad => "badge badge--bad",
        State::Struck => "badge badge--idle",
    };
    let stroke = match state {
        State::Good => None,
        State::Bad => Some("m3 3 6 6M9 3 3 9"),
        State::Struck => Some("m2.8 9.2 6.4-6.4"),
    };
    let (fill, radius) = if stroke.is_none() {
        ("badge__fill", "5")
    } else {
        ("", "4.5")
    };
    view! {
        <span class=class>
            <svg class="badge__dot" viewBox="0 0 12 12" aria-hidden="true">
                <circle class=fill cx="6" cy="6" r=radius />
                {stroke.map(|path| view! { <path d=path /> })}
            </svg>
            {children()}
        </span>
    }
}
