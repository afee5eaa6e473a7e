//! Code examples: the request that renders a template, in six languages.

use leptos::prelude::*;

use crate::ui::{
    button::{CloseButton, Rank},
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

/// The dialog `use`. The language is selected by radio buttons, which need no JavaScript.
#[component]
pub fn UseDialog(
    /// Id of the template.
    id: String,
    /// Public base URL of the service, without a trailing slash.
    base_url: String,
) -> impl IntoView {
    let radios = SNIPPETS.into_iter().enumerate().map(|(index, (name, key, _))| {
        view! {
            <label class="segmented__option">
                <input type="radio" name="language" value=key checked=index == 0 />
                {name}
            </label>
        }
    });
    let of_codes = id.clone();
    let codes = SNIPPETS.into_iter().map(move |(name, key, code)| {
        let code = code.replace("BASE_URL", &base_url).replace("TEMPLATE_ID", &of_codes);
        let class = format!("snippets__code snippets__code--{key} code");
        view! {
            <div class=class>
                <div class="code__bar">
                    <span>{name}</span>
                    <CopyButton text=code.clone() label=format!("Copy the {name} example") />
                </div>
                <pre class="code__body" tabindex="0" role="group" aria-label=format!("{name} example")>
                    <code>{code}</code>
                </pre>
            </div>
        }
    });
    view! {
        <Dialog id="use" title="Use in API" weight=Weight::Wide>
            <div class="dialog__body snippets">
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
                <fieldset class="segmented snippets__languages">
                    <legend class="visually-hidden">"Language"</legend>
                    {radios.collect_view()}
                </fieldset>
                {codes.collect_view()}
            </div>
            <div class="dialog__foot">
                <CloseButton dialog="use" rank=Rank::Primary>
                    "Done"
                </CloseButton>
            </div>
        </Dialog>
    }
}
