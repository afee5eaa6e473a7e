//! Code examples: the request that renders a template, in six languages.

use leptos::prelude::*;

use crate::ui::{
    button::{CloseButton, Rank},
    code_choice::{CodeChoice, Sample},
    copy_button::CopyButton,
    dialog::{Dialog, Weight},
};

/// Name, value of its radio button, and source code of each example, with the placeholders `BASE_URL` and
/// `TEMPLATE_ID`.
const SNIPPETS: [(&str, &str, &str); 6] = [
    ("curl", "curl", include_str!("snippets/curl.txt")),
    ("Python", "python", include_str!("snippets/python.txt")),
    ("Node", "node", include_str!("snippets/node.txt")),
    ("Rust", "rust", include_str!("snippets/rust.txt")),
    ("Go", "go", include_str!("snippets/go.txt")),
    ("PHP", "php", include_str!("snippets/php.txt")),
];

/// The dialog `use`.
#[component]
pub fn UseDialog(
    /// Id of the template.
    id: String,
    /// Public base URL of the service, without a trailing slash.
    base_url: String,
) -> impl IntoView {
    let samples = SNIPPETS.into_iter().map(|(language, key, code)| Sample {
        language,
        key,
        label: format!("{language} example"),
        code: code.replace("BASE_URL", &base_url).replace("TEMPLATE_ID", &id),
    });
    let samples = samples.collect();
    view! {
        <Dialog id="use" title="Use in API" weight=Weight::Wide>
            <div class="dialog__body">
                <p class="small">
                    "A render gets the published version. "
                    <code>"data.json"</code>
                    " holds what fills it, "
                    <code>"PLATEN_KEY"</code>
                    " a key: "
                    <a href="/dashboard/api-keys">"API keys"</a>
                    "."
                </p>
                <div class="copy">
                    <span class="copy__value">{id.clone()}</span>
                    <CopyButton text=id.clone() label="Copy the template id".to_owned() />
                </div>
                <CodeChoice samples />
            </div>
            <div class="dialog__foot">
                <CloseButton dialog="use" rank=Rank::Primary>
                    "Done"
                </CloseButton>
            </div>
        </Dialog>
    }
}
