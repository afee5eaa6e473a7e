//! The 404 page.

use leptos::prelude::*;
use leptos_meta::Title;

use crate::{
    layout::card::Card,
    ui::button::{ButtonLink, Rank},
};

/// The page. Sets the status of the response to 404.
#[component]
pub fn NotFound() -> impl IntoView {
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        response.set_status(http::StatusCode::NOT_FOUND);
    }
    view! {
        <Title text="Page not found" />
        <Card>
            <p class="auth__figure">"404"</p>
            <h1 class="auth__title">"Page not found"</h1>
            <p class="auth__lede">"It may have been deleted, or belong to another account."</p>
            <div class="auth__form">
                <div class="cluster">
                    <ButtonLink href="/" rank=Rank::Primary>
                        "Go to start page"
                    </ButtonLink>
                </div>
            </div>
        </Card>
    }
}
