//! How far a render has come, in a badge.

use leptos::prelude::*;

use crate::{
    model::render::RenderState,
    ui::badge::{Badge, State},
};

/// See the module.
#[component]
pub fn StateBadge(
    /// How far.
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
