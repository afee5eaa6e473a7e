//! Form fields for code.

use leptos::prelude::*;

use crate::ui::text_area::as_content;

/// Language of a [`CodeField`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeLanguage {
    /// HTML with Jinja.
    Template,
    Json,
}

/// A form field for code: a `<textarea>` that becomes an editor in the browser (`frontend/elements/code-editor.ts`).
#[component]
pub fn CodeField(
    /// `name` in the form.
    name: &'static str,
    label: &'static str,
    language: CodeLanguage,
    /// Initial value.
    value: String,
) -> impl IntoView {
    let language = match language {
        CodeLanguage::Template => "template",
        CodeLanguage::Json => "json",
    };
    view! {
        <code-editor label=label language=language>
            <textarea
                class="input input--area input--code"
                name=name
                aria-label=label
                autocomplete="off"
                spellcheck="false"
                inner_html=as_content(&value)
            ></textarea>
        </code-editor>
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn code_stays_inside_its_field() {
        let code = "</textarea><script>alert(1)</script>&lt;";
        let html = Owner::new().with(|| {
            view! { <CodeField name="a" label="A" language=CodeLanguage::Json value=code.to_owned() /> }.to_html()
        });
        let content = "\n&lt;/textarea>&lt;script>alert(1)&lt;/script>&amp;lt;</textarea>";
        assert!(html.contains(content), "{html}");
        assert!(!html.contains("<script>"), "{html}");
    }
}
