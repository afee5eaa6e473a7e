//! How a template is used: the request that renders it, in six languages, or the tags that use a partial.

use leptos::{either::Either, prelude::*};
use platen_domain::{
    role::Permission,
    template::{channels::Channels, identity::Handle},
};

use crate::{
    curl::CurlCommand,
    layout::page::IfMay,
    model::template::settings_path,
    pages::templates,
    ui::{
        button::{CloseButton, Rank},
        code_choice::{CodeChoice, Sample},
        copy_button::CopyButton,
        dialog::{Dialog, Weight},
    },
};

/// Name, value of its radio button, and source code of each example that reads `data.json`, with the placeholders
/// `BASE_URL` and `TEMPLATE_ID`.
const SNIPPETS: [(&str, &str, &str); 5] = [
    ("Python", "python", include_str!("snippets/python.txt")),
    ("Node", "node", include_str!("snippets/node.txt")),
    ("Rust", "rust", include_str!("snippets/rust.txt")),
    ("Go", "go", include_str!("snippets/go.txt")),
    ("PHP", "php", include_str!("snippets/php.txt")),
];
/// Maximum length of sample data inside the curl command, in bytes. The command with longer data would be unwieldy.
const LONGEST_IN_COMMAND: usize = 4096;

/// The dialog `use`.
#[component]
pub fn UseDialog(
    /// Id of the template.
    id: String,
    /// Public base URL of the service, without a trailing slash.
    base_url: String,
    /// The sample data of the set Default, as indented JSON.
    data: String,
    channels: Channels,
) -> impl IntoView {
    let used = if channels.are_off() {
        Either::Left("Renders use the published version of the template.")
    } else {
        let other = format!(r#""channel": "{}""#, channels.first());
        Either::Right(view! {
            "Renders use the release in production. For that of another channel, add " <code>{other}</code>
            " beside the id of the template."
        })
    };
    let snippets = SNIPPETS.map(|(language, key, code)| Sample {
        language,
        key,
        label: format!("{language} example"),
        code: code.replace("BASE_URL", &base_url).replace("TEMPLATE_ID", &id),
    });
    let curl = Sample {
        language: "curl",
        key: "curl",
        label: "curl example".to_owned(),
        code: curl(&base_url, &id, &data),
    };
    let samples = std::iter::once(curl).chain(snippets).collect();
    let readers = if data.len() <= LONGEST_IN_COMMAND {
        "Sample data: Default. The curl command contains it, and the other examples read it from "
    } else {
        "Sample data: Default. The examples read it from "
    };
    let file = format!("{}/{id}/data.json", templates::PATH);
    view! {
        <Dialog id="use" title="Use in API" weight=Weight::Wide>
            <div class="dialog__body">
                <div class="small"><ul>
                    <li>{used}</li>
                    <li>
                        "Set the environment variable " <code>"PLATEN_KEY"</code> " to your API key. "
                        <IfMay permission=Permission::ManageKeys>
                            <a href="/dashboard/api-keys?mode=test#create" target="_blank">
                                "Create a test key in a new tab"
                            </a>
                        </IfMay>
                    </li>
                    <li>
                        {readers} <code>"data.json"</code> ". "
                        <a href=file download="data.json">
                            "Download data.json"
                        </a>
                    </li>
                    <li>
                        <code>"\"language\": \"de\""</code> " beside " <code>"parts"</code>
                        " chooses among the template’s translations. Kind and handle are in its "
                        <a href=settings_path(&id)>"settings"</a> "."
                    </li>
                    <li>
                        "If a request fails, curl writes the error message to " <code>"document.pdf"</code> "."
                    </li>
                </ul></div>
                <div class="field">
                    <span class="field__label">"Template id"</span>
                    <div class="copy">
                        <span class="copy__value">{id.clone()}</span>
                        <CopyButton text=id.clone() label="Copy the template id".to_owned() />
                    </div>
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

/// The dialog `use` of a partial.
#[component]
pub fn UsePartialDialog(
    /// Id of the template.
    id: String,
    handle: Handle,
) -> impl IntoView {
    let tags = [
        ("Print it where the tag stands", format!("{{% include \"{handle}\" %}}")),
        ("Fill its blocks", format!("{{% extends \"{handle}\" %}}")),
        ("Use its macros", format!("{{% import \"{handle}\" as m %}}")),
    ];
    let tags = tags.map(|(purpose, tag)| {
        view! {
            <div class="field">
                <span class="field__label">{purpose}</span>
                <div class="copy">
                    <span class="copy__value">{tag.clone()}</span>
                    <CopyButton label=format!("Copy: {purpose}") text=tag />
                </div>
            </div>
        }
    });
    view! {
        <Dialog id="use" title="Use in templates" weight=Weight::Wide>
            <div class="dialog__body">
                <p class="small">
                    "Templates use the version of the partial that is published when they are published themselves. "
                    <a href=settings_path(&id)>"Templates that use it"</a>
                </p>
                {tags.into_iter().collect_view()}
            </div>
            <div class="dialog__foot">
                <CloseButton dialog="use" rank=Rank::Primary>
                    "Done"
                </CloseButton>
            </div>
        </Dialog>
    }
}

/// Returns the curl command. It contains short data, and reads long data from `data.json`.
fn curl(base_url: &str, id: &str, data: &str) -> String {
    let command = CurlCommand {
        base_url,
        path: "renderers/pdf",
        idempotency_key: "",
        output: Some("document.pdf"),
    };
    if data.len() > LONGEST_IN_COMMAND {
        command.with_expanded_body(&body(id, "$(cat data.json)"))
    } else {
        // Strings in JSON contain no line breaks.
        command.with_body(&body(id, &data.replace('\n', "\n      ")))
    }
}

fn body(id: &str, data: &str) -> String {
    format!(
        r#"{{
  "parts": [{{
    "type": "template",
    "content": {{
      "template_id": "{id}",
      "context": {data}
    }}
  }}],
  "prefer_css_page_size": true,
  "output_encoding": "binary"
}}"#
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Returns the body inside a command.
    fn body_of(command: &str) -> Value {
        let (_, rest) = command.split_once("-d '").expect("a body");
        let (body, _) = rest.rsplit_once("' \\\n  -o ").expect("an end");
        serde_json::from_str(&body.replace(r"'\''", "'")).expect("JSON")
    }

    #[test]
    fn the_command_contains_short_data() {
        let context = json!({"name": "O'Neill\n", "items": [1, {"a": "$(x)"}], "none": {}});
        let data = serde_json::to_string_pretty(&context).expect("JSON");
        let sent = body_of(&curl("https://platen.example", "t1", &data));
        assert_eq!(
            sent["parts"][0]["content"],
            json!({"template_id": "t1", "context": context})
        );
    }

    #[test]
    fn the_command_reads_long_data_from_a_file() {
        let data = format!("\"{}\"", "x".repeat(LONGEST_IN_COMMAND));
        let command = curl("https://platen.example", "t1", &data);
        assert!(
            command.contains("\"context\": $(cat data.json)") && command.len() < 1000,
            "{command}"
        );
    }
}
