//! What is wrong with a whole form, at its head.

use leptos::{html::Div, prelude::*};

/// What to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// What is wrong, in a sentence.
    pub title: String,
    /// Which fields: the `id` of each, and its fault.
    pub fields: Vec<(&'static str, &'static str)>,
}

/// A summary with links to the fields. It is read aloud, and takes the focus, when it appears.
#[component]
pub fn FormErrors(
    /// What to say, if anything.
    complaint: Signal<Option<Complaint>>,
) -> impl IntoView {
    let summary = NodeRef::<Div>::new();
    Effect::new(move || {
        if complaint.with(Option::is_some)
            && let Some(summary) = summary.get()
        {
            let _ = summary.focus();
        }
    });
    move || {
        complaint.get().map(|complaint| {
            let links = complaint.fields.into_iter().map(|(id, fault)| {
                view! {
                    <li>
                        // The router would go there without the focus.
                        <a href=format!("#{id}") rel="external">
                            {fault}
                        </a>
                    </li>
                }
            });
            let links: Vec<_> = links.collect();
            view! {
                <div class="form-errors" role="alert" tabindex="-1" node_ref=summary>
                    <p class="form-errors__title">{complaint.title}</p>
                    {(!links.is_empty()).then(|| view! { <ul>{links}</ul> })}
                </div>
            }
        })
    }
}
