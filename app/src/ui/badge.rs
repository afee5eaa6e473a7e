//! A status as a glyph and a word.

use leptos::prelude::*;

/// Kinds of status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Done or working: a disc.
    Good,
    /// In progress: a half disc.
    Busy,
    /// About to end, or needs attention: a triangle.
    Warning,
    /// Failed: a crossed ring.
    Bad,
    /// Unknown so far: a ring.
    Open,
    /// Refused, revoked or cancelled: a struck ring.
    Struck,
}

/// A status.
#[component]
pub fn Badge(state: State, children: Children) -> impl IntoView {
    let class = match state {
        State::Good => "badge badge--ok",
        State::Busy => "badge badge--busy",
        State::Warning => "badge badge--warn",
        State::Bad => "badge badge--bad",
        State::Open | State::Struck => "badge badge--idle",
    };
    let ring = match state {
        State::Good => Some(("badge__fill", "5")),
        State::Warning => None,
        State::Busy | State::Bad | State::Open | State::Struck => Some(("", "4.5")),
    };
    let stroke = match state {
        State::Good | State::Busy | State::Open => None,
        State::Warning => Some("M6 1.5 11 10.5H1z"),
        State::Bad => Some("m3 3 6 6M9 3 3 9"),
        State::Struck => Some("m2.8 9.2 6.4-6.4"),
    };
    view! {
        <span class=class>
            <svg class="badge__dot" viewBox="0 0 12 12" aria-hidden="true">
                {ring.map(|(fill, radius)| view! { <circle class=fill cx="6" cy="6" r=radius /> })}
                {stroke.map(|path| view! { <path d=path /> })}
                {(state == State::Busy)
                    .then(|| view! { <path class="badge__fill" d="M6 1.5a4.5 4.5 0 0 1 0 9z" /> })}
            </svg>
            {children()}
        </span>
    }
}
