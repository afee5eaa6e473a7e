//! The errors of a form, at its top.

use leptos::prelude::*;

/// A summary with links to the fields. Screen readers announce it, and it is focused when the page is shown.
#[component]
pub fn FormErrors(
    /// The error, in one sentence.
    title: String,
    /// `id` and validation error of each invalid field.
    fields: Vec<(String, &'static str)>,
) -> impl IntoView {
    let links = fields.into_iter().map(|(id, problem)| {
        view! {
            <li>
                <a href=format!("#{id}")>{problem}</a>
            </li>
        }
    });
    let links: Vec<_> = links.collect();
    view! {
        <div class="form-errors" role="alert" tabindex="-1" autofocus>
            <p class="form-errors__title">{title}</p>
            {(!links.is_empty()).then(|| view! { <ul>{links}</ul> })}
        </div>
    }
}
