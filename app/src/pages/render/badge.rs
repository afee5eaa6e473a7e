//! Status of a render, as a badge.

use leptos::prelude::*;
use platen_domain::render::history::RenderState;

use crate::ui::badge::{Badge, State};

/// Shows the status of a render.
#[component]
pub fn StateBadge(
    /// Status of the render.
    state: RenderState,
) -> impl IntoView {
    let kind = match state {
        RenderState::Queued => State::Open,
        RenderState::Processing => State::Busy,
        RenderState::Succeeded => State::Good,
        RenderState::Failed => State::Bad,
        RenderState::Cancelled => State::Struck,
    };
    view! { <Badge state=kind>{state.name()}</Badge> }
}
