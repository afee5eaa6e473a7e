//! What is wrong with a whole form, at its head.

use leptos::prelude::*;

/// What to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// What is wrong, in a sentence.
    pub title: String,
    /// Which fields: the `id` of each, and its fault.
    pub fields: Vec<(String, &'static str)>,
}

/// A summary with links to the fields. It is read aloud, and has the focus when the page is shown.
#[component]
pub fn FormErrors(
    /// What to say.
    complaint: Complaint,
) -> impl IntoView {
    let links = complaint.fields.into_iter().map(|(id, fault)| {
        view! {
            <li>
                <a href=format!("#{id}")>{fault}</a>
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
