//! Starts the live parts of pages in the browser. Only built for it: everywhere else this package is empty.
#![cfg(target_arch = "wasm32")]

// Its islands are exported by themselves.
use platen_app as _;
use wasm_bindgen::prelude::wasm_bindgen;

/// Makes the page ready for its islands; `frontend/start.ts` then takes them over one by one.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_islands();
}
