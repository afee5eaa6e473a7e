//! Starts the dashboard in the browser. Only built for it: everywhere else this package is empty.
#![cfg(target_arch = "wasm32")]

use leptos::prelude::document;
use platen_app::App;
use wasm_bindgen::prelude::wasm_bindgen;

/// Takes over the page that the server has sent, and marks it: from then on it answers by itself.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_body(App);
    if let Some(root) = document().document_element() {
        let _ = root.set_attribute("data-hydrated", "");
    }
}
