//! `/`: what Platen is, for those who do not know it yet.

pub mod api;
pub mod claims;
pub mod press;
pub mod prices;

use leptos::{either::Either, prelude::*};
use leptos_meta::Title;

use crate::{
    layout::public::Public,
    pages::landing::{api::landing, claims::Claims, press::Press, prices::Prices},
    ui::{
        button::{ButtonLink, Rank, Size},
        notice::ErrorNotice,
    },
};

/// The page.
#[component]
pub fn Landing() -> impl IntoView {
    let content = Resource::new(|| (), |()| landing());
    view! {
        <Title text="HTML in, archival PDF out" />
        <Public>
            <section class="hero">
                <div class="hero__top">
                    <h1 class="hero__title">"HTML in, archival PDF out."</h1>
                    <div>
                        <p class="hero__lede">
                            "Platen renders HTML, web addresses and stored templates into one PDF/A-2b document, in one request."
                        </p>
                        <div class="hero__actions">
                            <ButtonLink href="/docs" rank=Rank::Primary size=Size::Large>
                                "Read the docs"
                            </ButtonLink>
                        </div>
                    </div>
                </div>
                <Transition>
                    {move || Suspend::new(async move {
                        match content.await {
                            Ok(content) => Either::Left(view! { <Press base_url=content.base_url /> }),
                            Err(error) => Either::Right(view! { <ErrorNotice error /> }),
                        }
                    })}
                </Transition>
            </section>
            <Claims />
            <Transition>
                {move || Suspend::new(async move {
                    content.await.ok().map(|content| view! { <Prices plans=content.plans /> })
                })}
            </Transition>
        </Public>
    }
}
