//! Radio buttons, side by side.

use leptos::prelude::*;

/// Radio buttons that look like one bar.
#[component]
pub fn Segmented(
    /// `name` in the form.
    name: &'static str,
    legend: &'static str,
    /// Form value and label of each option.
    options: Vec<(&'static str, &'static str)>,
    /// The initial value.
    #[prop(into)]
    chosen: String,
) -> impl IntoView {
    view! {
        <div class="field">
            <span class="field__label" aria-hidden="true">
                {legend}
            </span>
            <SegmentedBar name legend options chosen class="segmented" />
        </div>
    }
}

/// The same without a visible label.
#[component]
pub fn SegmentedBar(
    /// `name` in the form.
    name: &'static str,
    legend: &'static str,
    /// Form value and label of each option.
    options: Vec<(&'static str, &'static str)>,
    /// The initial value.
    #[prop(into)]
    chosen: String,
    /// `segmented`, with its modifiers.
    class: &'static str,
) -> impl IntoView {
    let options = options.into_iter().map(|(value, called)| {
        view! {
            <label class="segmented__option">
                <input type="radio" name=name value=value checked=value == chosen />
                {called}
            </label>
        }
    });
    view! {
        <fieldset class=class>
            <legend class="visually-hidden">{legend}</legend>
            {options.collect_view()}
        </fieldset>
    }
}
