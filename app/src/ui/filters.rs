//! Filters of a list: fields of a plain form, whose values are in the page's query.

use leptos::prelude::*;

/// A search field.
#[component]
pub fn SearchFilter(label: &'static str, value: String) -> impl IntoView {
    view! {
        <label class="filters__item filters__item--search">
            {label} <input class="input" type="search" name="q" value=value />
        </label>
    }
}

/// A choice of one option or any.
#[component]
pub fn SelectFilter(
    /// `name` in the form.
    name: &'static str,
    label: &'static str,
    /// Values and names.
    options: Vec<(String, String)>,
    /// Label of the empty choice.
    #[prop(default = "Any")]
    any: &'static str,
    /// The selected value.
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

/// A date field.
#[component]
pub fn DateFilter(
    /// `name` in the form.
    name: &'static str,
    label: &'static str,
    /// The date; may be empty.
    value: String,
) -> impl IntoView {
    view! {
        <label class="filters__item">{label} <input class="input" type="date" name=name value=value /></label>
    }
}
