//! Takes a text along.

use std::time::Duration;

use leptos::prelude::*;

use crate::ui::{
    button::{Button, Rank, Size},
    icon::{Glyph, Icon},
};

/// For how long the button says that it has copied.
const SAID: Duration = Duration::from_millis(1500);

/// Copies a text. It is not there before the page can do that, nor without JavaScript.
#[island]
pub fn CopyButton(
    /// What is copied.
    text: String,
    /// Says what is copied.
    label: String,
) -> impl IntoView {
    let (able, set_able) = signal(false);
    Effect::new(move || set_able.set(true));
    let (said, set_said) = signal(false);
    let text = StoredValue::new(text);
    let label = StoredValue::new(label);
    let copy = move || {
        // The answer is a promise of the browser's; one that is refused leaves the text where it is, to be marked by hand.
        let _ = window().navigator().clipboard().write_text(&text.get_value());
        set_said.set(true);
        set_timeout(move || set_said.set(false), SAID);
    };
    view! {
        <Show when=move || able.get()>
            <Button rank=Rank::Quiet size=Size::Small label=label.get_value() on_press=copy>
                <Icon glyph=Glyph::Copy />
                <span aria-live="polite">{move || if said.get() { "Copied" } else { "Copy" }}</span>
            </Button>
        </Show>
    }
}
