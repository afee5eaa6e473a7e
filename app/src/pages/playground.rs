//! `/dashboard/playground`: every option of the API as a form. `render` of the query is the id of a render whose
//! request is opened.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::{
    islands::playground::Playground as Bench,
    layout::{
        page::{PageHead, loaded},
        shell::{Shell, rail::Entry},
    },
    read_only::is_read_only,
};

/// The page of the playground.
#[component]
pub fn Playground() -> impl IntoView {
    let render = use_query_map().read_untracked().get("render");
    view! {
        <Shell title="Playground" current=Entry::Playground>
            <PageHead
                title="Playground"
                lede="Every API option as a form. The request is shown on the right."
            />
            <noscript>
                <p class="notice notice--info">"The playground requires JavaScript. Without it, send requests with curl."</p>
            </noscript>
            {loaded(
                |backend| async move { backend.bench().await },
                move |bench| view! { <Bench bench render read_only=is_read_only() /> },
            )}
        </Shell>
    }
}
