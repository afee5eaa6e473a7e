//! One of several, folded.

use leptos::prelude::*;

use crate::ui::field::{FieldFrame, described_by};

/// A list to choose from.
#[component]
pub fn Select(
    /// `name` in the form.
    name: &'static str,
    /// `id`, where the page has several of its name.
    #[prop(optional, into)]
    id: String,
    /// What it is called.
    #[prop(into)]
    label: String,
    /// What can be chosen: the value in the form, and what it is called.
    options: Vec<(&'static str, &'static str)>,
    /// The value that is chosen at first.
    #[prop(into)]
    chosen: String,
    /// What to know before choosing.
    #[prop(optional)]
    hint: Option<&'static str>,
    /// What is wrong with it.
    #[prop(optional_no_strip)]
    fault: Option<&'static str>,
) -> impl IntoView {
    let id = if id.is_empty() { name.to_owned() } else { id };
    let options = options.into_iter().map(|(value, called)| {
        view! {
            <option value=value selected=value == chosen>
                {called}
            </option>
        }
    });
    let options = options.collect_view();
    view! {
        <FieldFrame id=id.clone() label=label hint=hint fault=fault>
            <select
                class="input"
                id=id.clone()
                name=name
                aria-invalid=fault.map(|_| "true")
                aria-describedby=described_by(&id, hint, fault)
            >
                {options}
            </select>
        </FieldFrame>
    }
}
