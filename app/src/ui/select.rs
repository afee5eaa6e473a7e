//! Drop-down lists.

use leptos::prelude::*;

use crate::ui::field::{FieldFrame, described_by};

/// A drop-down list.
#[component]
pub fn Select(
    /// `name` in the form.
    name: &'static str,
    /// `id`, if the page has several lists of this name.
    #[prop(optional, into)]
    id: String,
    #[prop(into)] label: String,
    /// Form value and label of each option.
    options: Vec<(&'static str, &'static str)>,
    /// The initial value.
    #[prop(into)]
    chosen: String,
    /// Help text.
    #[prop(optional)]
    hint: Option<&'static str>,
    /// Validation error.
    #[prop(optional_no_strip)]
    problem: Option<&'static str>,
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
        <FieldFrame id=id.clone() label=label hint=hint problem=problem>
            <select
                class="input"
                id=id.clone()
                name=name
                aria-invalid=problem.map(|_| "true")
                aria-describedby=described_by(&id, hint, problem)
            >
                {options}
            </select>
        </FieldFrame>
    }
}
