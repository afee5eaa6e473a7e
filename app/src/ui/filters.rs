//! What a list is filtered by: fields of a plain form, whose values are in the address of the page.

use leptos::prelude::*;

/// A word to look for.
#[component]
pub fn SearchFilter(
    /// What it is called.
    label: &'static str,
    /// What is looked for.
    value: String,
) -> impl IntoView {
    view! {
        <label class="filters__item filters__item--search">
            {label} <input class="input" type="search" name="q" value=value />
        </label>
    }
}

/// One of several, or any.
#[component]
pub fn SelectFilter(
    /// `name` in the form.
    name: &'static str,
    /// What it is called.
    label: &'static str,
    /// What to choose from: values and names.
    options: Vec<(String, String)>,
    /// What it is called when nothing is chosen.
    #[prop(default = "Any")]
    any: &'static str,
    /// The value that is chosen.
    value: String,
) -> impl IntoView {
    let options = options.into_iter().map(|(option, name)| {
        let selected = option == value;
        view! {
            <option value=option selected=selected>
                {name}
            </option>
        }
    });
    view! {
        <label class="filters__item">
            {label} <select class="input" name=name>
                <option value="">{any}</option>
                {options.collect_view()}
            </select>
        </label>
    }
}

/// A day.
#[component]
pub fn DateFilter(
    /// `name` in the form.
    name: &'static str,
    /// What it is called.
    label: &'static str,
    /// The day, if one is given.
    value: String,
) -> impl IntoView {
    view! {
        <label class="filters__item">{label} <input class="input" type="date" name=name value=value /></label>
    }
}
