//! Drop-down lists.

use leptos::prelude::*;

use crate::ui::field::{FieldFrame, described_by};

/// A drop-down list.
#[component]
pub fn Select<O, V, N>(
    /// `name` in the form.
    name: &'static str,
    /// `id`, if the page has several lists of this name.
    #[prop(optional, into)]
    id: String,
    #[prop(into)] label: String,
    /// Form value and label of each option.
    options: O,
    /// The initial value.
    #[prop(into)]
    chosen: String,
    /// Help text.
    #[prop(optional)]
    hint: Option<&'static str>,
    /// Validation error.
    #[prop(optional_no_strip)]
    problem: Option<&'static str>,
    /// Whether it is focused when its dialog opens.
    #[prop(optional)]
    focus: bool,
) -> impl IntoView
where
    O: IntoIterator<Item = (V, N)>,
    V: Into<String>,
    N: Into<String>,
{
    let id = if id.is_empty() { name.to_owned() } else { id };
    let options = options.into_iter().map(|(value, called)| {
        let value = value.into();
        let selected = value == chosen;
        view! {
            <option value=value selected=selected>
                {called.into()}
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
                autofocus=focus
                aria-invalid=problem.map(|_| "true")
                aria-describedby=described_by(&id, hint, problem)
            >
                {options}
            </select>
        </FieldFrame>
    }
}
