//! Code examples: the request that renders a template, in six languages.

use leptos::prelude::*;

use crate::{
    islands::copy_button::CopyButton,
    ui::{
        button::{CloseButton, Rank},
        dialog::{Dialog, Weight},
    },
};

/// A code example.
struct Snippet {
    name: &'static str,
    /// Value of its radio button.
    key: &'static str,
    /// Source code, with the placeholders `BASE_URL` and `TEMPLATE_ID`.
    code: &'static str,
}

const SNIPPETS: [Snippet; 6] = [
    Snippet {
        name: "curl",
        key: "curl",
        code: include_str!("snippets/curl.txt"),
    },
    Snippet {
        name: "Python",
        key: "python",
        code: include_str!("snippets/python.txt"),
    },
    Snippet {
        name: "Node",
        key: "node",
        code: include_str!("snippets/node.txt"),
    },
    Snippet {
        name: "Rust",
        key: "rust",
        code: include_str!("snippets/rust.txt"),
    },
    Snippet {
        name: "Go",
        key: "go",
        code: include_str!("snippets/go.txt"),
    },
    Snippet {
        name: "PHP",
        key: "php",
        code: include_str!("snippets/php.txt"),
    },
];

/// The dialog `use`. The language is selected by radio buttons, which need no JavaScript.
#[component]
pub fn UseDialog(
    /// Id of the template.
    id: String,
    /// Public base URL of the service, without a trailing slash.
    base_url: String,
) -> impl IntoView {
    let radios = SNIPPETS.iter().enumerate().map(|(index, snippet)| {
        view! {
            <label class="segmented__option">
                <input type="radio" name="language" value=snippet.key checked=index == 0 />
                {snippet.name}
            </label>
        }
    });
    let of_codes = id.clone();
    let codes = SNIPPETS.iter().map(move |snippet| {
        let code = snippet.code.replace("BASE_URL", &base_url);
        let code = code.replace("TEMPLATE_ID", &of_codes);
        let class = format!("snippets__code snippets__code--{} code", snippet.key);
        view! {
            <div class=class>
                <div class="code__bar">
                    <span>{snippet.name}</span>
                    <CopyButton text=code.clone() label=format!("Copy the {} example", snippet.name) />
                </div>
                <pre class="code__body" tabindex="0" role="group" aria-label=format!("{} example", snippet.name)>
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
