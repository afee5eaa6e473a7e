//! One of a few, side by side.

use leptos::prelude::*;

/// Radios that look like one bar.
#[component]
pub fn Segmented(
    /// `name` in the form.
    name: &'static str,
    /// What it is about.
    legend: &'static str,
    /// What can be chosen: the value in the form, and what it is called.
    options: Vec<(&'static str, &'static str)>,
    /// The value that is chosen at first.
    #[prop(into)]
    chosen: String,
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
        <div class="field">
            <span class="field__label" aria-hidden="true">
                {legend}
            </span>
            <fieldset class="segmented">
                <legend class="visually-hidden">{legend}</legend>
                {options.collect_view()}
            </fieldset>
        </div>
    }
}
