//! `/`: introduction to Platen for new visitors.

pub mod claims;
pub mod press;
pub mod prices;

use leptos::prelude::*;
use leptos_meta::Title;

use crate::{
    backend::backend,
    layout::{page::loaded, public::Public},
    model::own_path::DASHBOARD,
    pages::landing::{claims::Claims, press::Press, prices::Prices},
    ui::button::{ButtonLink, Rank, Size},
};

/// The landing page.
#[component]
pub fn Landing() -> impl IntoView {
    let (base_url, is_logged_in) = (backend().base_url(), backend().is_logged_in());
    let (href, action) = if is_logged_in {
        (DASHBOARD, "Open the dashboard")
    } else {
        ("/sign-up", "Create an account")
    };
    view! {
        <Title text="HTML in, archival PDF out" />
        <Public>
            <section class="hero">
                <div class="hero__top">
                    <h1 class="hero__title">"HTML in, archival PDF out."</h1>
                    <div>
                        <p class="hero__lede">
                            "Platen renders HTML, web addresses and stored templates into one PDF/A document, in one request."
                        </p>
                        <div class="hero__actions">
                            <ButtonLink href=href rank=Rank::Primary size=Size::Large>
                                {action}
                            </ButtonLink>
                            <ButtonLink href="/docs" size=Size::Large>
                                "Read the docs"
                            </ButtonLink>
                        </div>
                    </div>
                </div>
                <Press base_url />
            </section>
            <Claims />
            {loaded(|backend| async move { backend.plans().await }, |plans| {
                (!plans.is_empty()).then(|| view! { <Prices plans /> })
            })}
        </Public>
    }
}
