//! Several lines of text.

use leptos::prelude::*;

use crate::ui::field::{FieldFrame, described_by};

/// A field to type lines into: addresses, a key file. Set as code, unless it is for prose.
#[component]
pub fn TextArea(
    /// `name` in the form.
    name: &'static str,
    /// `id`, where the page has several of its name.
    #[prop(optional, into)]
    id: String,
    /// What it is called.
    #[prop(into)]
    label: String,
    /// What to know before typing.
    #[prop(optional)]
    hint: Option<&'static str>,
    /// What is in it at first.
    #[prop(optional, into)]
    value: String,
    /// What is wrong with it.
    #[prop(optional_no_strip)]
    fault: Option<&'static str>,
    /// Whether it is for what people read.
    #[prop(optional)]
    prose: bool,
    /// Whether it may stay empty.
    #[prop(optional)]
    optional: bool,
    /// Whether it may be out of sight, where a browser can't ask for it.
    #[prop(optional)]
    maybe_hidden: bool,
) -> impl IntoView {
    let id = if id.is_empty() { name.to_owned() } else { id };
    view! {
        <FieldFrame id=id.clone() label=label hint=hint fault=fault optional=optional>
            <textarea
                class=if prose { "input input--area" } else { "input input--area input--code" }
                id=id.clone()
                name=name
                autocomplete="off"
                spellcheck=if prose { "true" } else { "false" }
                required=!optional && !maybe_hidden
                aria-invalid=fault.map(|_| "true")
                aria-describedby=described_by(&id, hint, fault)
                inner_html=as_content(&value)
            ></textarea>
        </FieldFrame>
    }
}

/// A text as the content of `<textarea>`, which Leptos does not escape. Browsers pass over a line break at its beginning.
fn as_content(text: &str) -> String {
    format!("\n{}", text.replace('&', "&amp;").replace('<', "&lt;"))
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn a_text_stays_inside() {
        let text = "</textarea><script>alert(1)</script>&lt;";
        let html = Owner::new().with(|| view! { <TextArea name="a" label="A" value=text /> }.to_html());
        let content = "\n&lt;/textarea>&lt;script>alert(1)&lt;/script>&amp;lt;</textarea>";
        assert!(html.contains(content), "{html}");
        assert!(!html.contains("<script>"), "{html}");
    }
}
