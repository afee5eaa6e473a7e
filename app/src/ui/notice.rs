//! What happened, and what to do.

use leptos::prelude::*;

use crate::{
    error::AppError,
    ui::icon::{Glyph, Icon},
};

/// What is good to know.
#[component]
pub fn InfoNotice(
    /// Its words.
    children: Children,
) -> impl IntoView {
    view! {
        <div class="notice notice--info">
            <Icon glyph=Glyph::Info />
            <p>{children()}</p>
        </div>
    }
}

/// What was done.
#[component]
pub fn DoneNotice(
    /// Its words.
    children: Children,
) -> impl IntoView {
    view! {
        <div class="notice notice--ok" role="status">
            <Icon glyph=Glyph::Done />
            <p>{children()}</p>
        </div>
    }
}

/// What may become a fault.
#[component]
pub fn WarningNotice(
    /// Its words.
    children: Children,
) -> impl IntoView {
    view! {
        <div class="notice notice--warn">
            <Icon glyph=Glyph::Warning />
            <p>{children()}</p>
        </div>
    }
}

/// Something that should be here could not be had.
#[component]
pub fn ErrorNotice(
    /// Why.
    error: AppError,
) -> impl IntoView {
    view! {
        <div class="notice notice--bad" role="alert">
            <Icon glyph=Glyph::Fault />
            <p>{error.to_string()}</p>
        </div>
    }
}
