//! Radio buttons with a line of help text: one below the other, or cards with pictures side by side.

use leptos::prelude::*;

/// A radio button with its label.
#[component]
pub fn Radio(
    /// `name` in the form; the same for all buttons of a group.
    name: &'static str,
    /// Value in the form, if it is selected.
    value: &'static str,
    label: &'static str,
    /// Help text.
    hint: &'static str,
    /// Whether it is selected initially.
    checked: bool,
) -> impl IntoView {
    view! {
        <label class="check">
            <input class="check__box" type="radio" name=name value=value checked=checked />
            <span class="check__label">{label}</span>
            <span class="check__hint">{hint}</span>
        </label>
    }
}

/// A radio button with a picture above its label. Cards are arranged in a grid of the class `radio-cards`.
#[component]
pub fn RadioCard(
    /// `name` in the form; the same for all cards of a group.
    name: &'static str,
    /// Value in the form, if it is selected.
    value: &'static str,
    label: &'static str,
    /// Help text.
    hint: &'static str,
    /// Address of the picture. It only illustrates the label, so that it has no text alternative.
    picture: String,
    /// Whether it is selected initially.
    checked: bool,
) -> impl IntoView {
    let id = format!("{name}-{value}");
    let (label_id, hint_id) = (format!("{id}-label"), format!("{id}-hint"));
    view! {
        <label class="check check--card">
            <span class="check__picture">
                <img src=picture alt="" loading="lazy" />
            </span>
            <input
                class="check__box"
                type="radio"
                name=name
                value=value
                checked=checked
                aria-labelledby=label_id.clone()
                aria-describedby=hint_id.clone()
            />
            <span class="check__label" id=label_id>
                {label}
            </span>
            <span class="check__hint" id=hint_id>
                {hint}
            </span>
        </label>
    }
}
