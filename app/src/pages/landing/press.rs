//! A request, and the document that it creates.

use leptos::{either::Either, prelude::*};

use crate::ui::code::Code;

/// Body of the request. `deploy/starter-pictures.sh` writes pictures of the two pages that it creates.
const BODY: &str = include_str!("press.json");

/// The request on the left, the document on the right, the response headers below.
#[component]
pub fn Press(
    /// Public base URL of the service, without a trailing slash.
    base_url: String,
) -> impl IntoView {
    let body = BODY.trim_end();
    let address = format!("{base_url}/api/v1/renderers/pdf");
    let text = format!(
        "curl {address} \\\n  -H \"Authorization: Bearer $PLATEN_KEY\" \\\n  -H \"Content-Type: application/json\" \\\n  \
         -o invoice.pdf \\\n  -d '{body}'\n"
    );
    view! {
        <div class="press">
            <Code title="Request" label="Request with curl" text class="press__request code--wrap">
                "curl " {address} " \\\n  " {key("-H")} " " {string("\"Authorization: Bearer $PLATEN_KEY\"")} " \\\n  "
                {key("-H")} " " {string("\"Content-Type: application/json\"")} " \\\n  " {key("-o")} " invoice.pdf \\\n  "
                {key("-d")} " '" {marked(body)} "'"
            </Code>
            <div class="press__bed">
                <div class="press__stack">
                    <div class="press__under">
                        <img src="/img/invoice-2.webp" width="840" height="1192" alt="" />
                    </div>
                    <div class="page-frame">
                        <img
                            class="page-image page-image--marked"
                            src="/img/invoice-1.webp"
                            width="840"
                            height="1192"
                            alt="First page of the document: an invoice for three services, with their total"
                        />
                    </div>
                </div>
            </div>
            <p class="press__answer">
                <span><b>"200"</b> " application/pdf"</span>
                <span>"X-Page-Count " <b>"2"</b></span>
                <span>"X-Credits-Used " <b>"1"</b></span>
                <span>"X-PDF-Conformance " <b>"PDF/A-2a, PDF/UA-1"</b></span>
            </p>
        </div>
    }
}

fn key(text: &'static str) -> impl IntoView {
    view! { <span class="tok-key">{text}</span> }
}

fn string(text: &'static str) -> impl IntoView {
    view! { <span class="tok-string">{text}</span> }
}

/// Highlights names and strings of JSON. No string may contain a quotation mark.
fn marked(json: &'static str) -> impl IntoView {
    let pieces: Vec<_> = json.split('"').collect();
    let quoted = |index: usize| index % 2 == 1;
    let name = |index: usize| pieces.get(index + 1).is_some_and(|next| next.starts_with(':'));
    let marked = |(index, piece): (usize, &&'static str)| {
        let class = match (quoted(index), name(index)) {
            (false, _) => return Either::Left(*piece),
            (true, true) => "tok-key",
            (true, false) => "tok-string",
        };
        Either::Right(view! { <span class=class>{format!("\"{piece}\"")}</span> })
    };
    pieces.iter().enumerate().map(marked).collect_view()
}
