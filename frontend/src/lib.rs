//! Starts the islands of pages in the browser. Empty for all targets other than wasm32.
#![cfg(target_arch = "wasm32")]

// Linked for its islands, which wasm-bindgen exports.
use platen_app as _;
use wasm_bindgen::prelude::wasm_bindgen;

/// Prepares the page for hydrating its islands; `frontend/start.ts` then hydrates them one by one.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_islands();
}
