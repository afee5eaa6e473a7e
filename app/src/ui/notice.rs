//! Notices.

use leptos::prelude::*;

use crate::{
    error::AppError,
    ui::icon::{Glyph, Icon},
};

/// Information.
#[component]
pub fn InfoNotice(children: Children) -> impl IntoView {
    view! {
        <div class="notice notice--info">
            <Icon glyph=Glyph::Info />
            <p>{children()}</p>
        </div>
    }
}

/// Confirmation of a completed action.
#[component]
pub fn DoneNotice(children: Children) -> impl IntoView {
    view! {
        <div class="notice notice--ok" role="status">
            <Icon glyph=Glyph::Done />
            <p>{children()}</p>
        </div>
    }
}

/// A warning.
#[component]
pub fn WarningNotice(children: Children) -> impl IntoView {
    view! {
        <div class="notice notice--warn">
            <Icon glyph=Glyph::Warning />
            <p>{children()}</p>
        </div>
    }
}

/// A warning with a title and details.
#[component]
pub fn DetailedWarning(#[prop(into)] title: String, children: Children) -> impl IntoView {
    view! {
        <div class="notice notice--warn" role="status">
            <Icon glyph=Glyph::Warning />
            <p class="notice__title">{title}</p>
            <div class="notice__details">{children()}</div>
        </div>
    }
}

/// Shown in place of content that couldn't be loaded.
#[component]
pub fn ErrorNotice(error: AppError) -> impl IntoView {
    view! {
        <div class="notice notice--bad" role="alert">
            <Icon glyph=Glyph::Problem />
            <p>{error.to_string()}</p>
        </div>
    }
}
