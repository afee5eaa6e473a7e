//! Filters of a list: fields of a plain form, whose values are in the page's query.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::ui::{
    button::{ButtonLink, Rank, SubmitButton},
    icon::{Glyph, Icon},
};

/// The form with the filters of a list. It leads to the list with their values in the query.
#[component]
pub fn FilterForm(
    /// Path of the list.
    path: &'static str,
    /// Label of the submit button.
    #[prop(default = "Filter")]
    action: &'static str,
    /// Whether it has a link to the list without filters.
    #[prop(optional)]
    can_be_cleared: bool,
    /// `id` of the part of the page that shows the list. With JavaScript, it is updated when a filter changes
    /// (`frontend/filters.ts`).
    #[prop(optional)]
    updates: Option<&'static str>,
    children: Children,
) -> impl IntoView {
    view! {
        <form class="filters" method="get" action=path data-updates=updates>
            {children()}
            <div class="filters__actions">
                <SubmitButton>{action}</SubmitButton>
                {can_be_cleared
                    .then(|| {
                        view! {
                            <ButtonLink href=path rank=Rank::Quiet>
                                "Clear"
                            </ButtonLink>
                        }
                    })}
            </div>
        </form>
    }
}

/// A button that opens less common filters, with the number of those that are set.
#[component]
pub fn MoreFilters(
    /// The `name` of each.
    names: &'static [&'static str],
    children: Children,
) -> impl IntoView {
    let set = names.iter().filter(|name| !value_of(name).is_empty()).count();
    view! {
        <button class="button" type="button" popovertarget="more-filters">
            <span id="more-filters-set">"More filters" {(set > 0).then(|| format!(" ({set})"))}</span>
            <Icon glyph=Glyph::ChevronDown />
        </button>
        <div class="menu filters__more" id="more-filters" popover>
            {children()}
        </div>
    }
}

/// A search field.
#[component]
pub fn SearchFilter(
    label: &'static str,
    /// `name` in the form.
    #[prop(default = "q")]
    name: &'static str,
) -> impl IntoView {
    view! {
        <label class="filters__item filters__item--search">
            {label} <input class="input" type="search" name=name value=value_of(name) />
        </label>
    }
}

/// A choice of one option or any.
#[component]
pub fn SelectFilter<O, V, N>(
    /// `name` in the form.
    name: &'static str,
    label: &'static str,
    /// Values and names.
    options: O,
    /// Label of the empty choice.
    #[prop(default = "Any")]
    any: &'static str,
) -> impl IntoView
where
    O: IntoIterator<Item = (V, N)>,
    V: ToString,
    N: Into<String>,
{
    let value = value_of(name);
    let options = options.into_iter().map(|(option, name)| {
        let option = option.to_string();
        let selected = option == value;
        view! {
            <option value=option selected=selected>
                {name.into()}
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
) -> impl IntoView {
    view! {
        <label class="filters__item">
            {label} <input class="input" type="date" name=name value=value_of(name) />
        </label>
    }
}

/// Returns the value of a filter in the address of the page.
fn value_of(name: &str) -> String {
    use_query_map().read_untracked().get(name).unwrap_or_default()
}
