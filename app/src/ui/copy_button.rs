//! A button that copies a text to the clipboard.

use std::time::Duration;

use leptos::prelude::*;

use super::{
    button::{Button, Rank, Size},
    icon::{Glyph, Icon},
};

const COPY: &str = "Copy";
/// How long the button says "Copied".
const SAID: Duration = Duration::from_millis(1500);

/// Copies `text` to the clipboard. Hidden until the island is hydrated, and without JavaScript.
#[island]
pub fn CopyButton(
    text: String,
    /// Accessible label, which names the copied text.
    label: String,
    /// Text on the button; [`COPY`] by default.
    #[prop(optional)]
    name: Option<String>,
    /// Whether it is focused once it is shown.
    #[prop(optional)]
    focus: Option<bool>,
) -> impl IntoView {
    let name = name.unwrap_or_else(|| COPY.to_owned());
    view! { <CopyText text=Signal::stored(text) label name focus=focus.unwrap_or_default() /> }
}

/// As [`CopyButton`], inside an island.
#[component]
pub fn CopyText(
    text: Signal<String>,
    #[prop(into)] label: String,
    #[prop(default = COPY.to_owned())] name: String,
    /// Whether it is focused once it is shown.
    #[prop(optional)]
    focus: bool,
) -> impl IntoView {
    let (able, set_able) = signal(false);
    Effect::new(move || set_able.set(true));
    let (said, set_said) = signal(false);
    let (label, name) = (StoredValue::new(label), StoredValue::new(name));
    let copy = move || {
        // The promise is ignored: if the browser refuses, the text can still be selected by hand.
        let _ = window().navigator().clipboard().write_text(&text.get_untracked());
        set_said.set(true);
        set_timeout(move || set_said.set(false), SAID);
    };
    view! {
        <Show when=move || able.get()>
            <Button rank=Rank::Quiet size=Size::Small label=label.get_value() on_press=copy focus>
                <Icon glyph=Glyph::Copy />
                <span aria-live="polite">
                    {move || if said.get() { "Copied".to_owned() } else { name.get_value() }}
                </span>
            </Button>
        </Show>
    }
}
