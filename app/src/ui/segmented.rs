//! Radio buttons, side by side.

use leptos::prelude::*;

use crate::ui::field::{FieldProblem, described_by};

/// Radio buttons that look like one bar.
#[component]
pub fn Segmented(
    /// `name` in the form, and `id`.
    name: &'static str,
    legend: &'static str,
    /// Help text.
    #[prop(optional)]
    hint: Option<&'static str>,
    /// Form value and label of each option.
    options: Vec<(&'static str, &'static str)>,
    /// The initial value.
    #[prop(into)]
    chosen: String,
    /// Validation error.
    #[prop(optional_no_strip)]
    problem: Option<&'static str>,
) -> impl IntoView {
    view! {
        <div class="field" id=name>
            <span class="field__label" aria-hidden="true">
                {legend}
            </span>
            {hint
                .map(|hint| {
                    view! {
                        <p class="field__hint" id=format!("{name}-hint")>
                            {hint}
                        </p>
                    }
                })}
            <SegmentedBar
                name
                legend
                options
                chosen
                class="segmented"
                described_by=described_by(name, hint, problem)
            />
            <FieldProblem id=name.to_owned() problem />
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
    /// `aria-describedby` of the group.
    #[prop(optional_no_strip)]
    described_by: Option<String>,
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
        <fieldset class=class aria-describedby=described_by>
            <legend class="visually-hidden">{legend}</legend>
            {options.collect_view()}
        </fieldset>
    }
}
