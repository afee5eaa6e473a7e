//! The errors of a form, at its top.

use leptos::prelude::*;

/// The errors of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// The error, in one sentence.
    pub title: String,
    /// `id` and validation error of each invalid field.
    pub fields: Vec<(String, &'static str)>,
}

/// A summary with links to the fields. Screen readers announce it, and it is focused when the page is shown.
#[component]
pub fn FormErrors(complaint: Complaint) -> impl IntoView {
    let links = complaint.fields.into_iter().map(|(id, problem)| {
        view! {
            <li>
                <a href=format!("#{id}")>{problem}</a>
            </li>
        }
    });
    let links: Vec<_> = links.collect();
    view! {
        <div class="form-errors" role="alert" tabindex="-1" autofocus>
            <p class="form-errors__title">{complaint.title}</p>
            {(!links.is_empty()).then(|| view! { <ul>{links}</ul> })}
        </div>
    }
}
