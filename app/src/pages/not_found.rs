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
        <Title text="There is nothing at this address" />
        <Card>
            <p class="auth__figure">"404"</p>
            <h1 class="auth__title">"There is nothing at this address"</h1>
            <p class="auth__lede">"It may belong to another account, or it has been deleted."</p>
            <div class="auth__form">
                <div class="cluster">
                    <ButtonLink href="/" rank=Rank::Primary>
                        "Start page"
                    </ButtonLink>
                </div>
            </div>
        </Card>
    }
}
