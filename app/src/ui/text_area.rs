//! Multi-line text fields.

use leptos::prelude::*;

use crate::ui::field::{Face, FieldFrame, described_by};

/// A multi-line text field, such as for addresses or a key file.
#[component]
pub fn TextArea(
    /// `name` in the form.
    name: &'static str,
    /// `id`, if the page has several fields of this name.
    #[prop(optional, into)]
    id: String,
    #[prop(into)] label: String,
    /// Help text.
    #[prop(optional)]
    hint: Option<&'static str>,
    /// Initial value.
    #[prop(optional, into)]
    value: String,
    /// Validation error.
    #[prop(optional_no_strip)]
    problem: Option<&'static str>,
    #[prop(optional)] face: Face,
    /// Example or question that is shown while the field is empty.
    #[prop(optional)]
    placeholder: Option<&'static str>,
    /// Maximum number of characters.
    #[prop(optional)]
    maxlength: Option<usize>,
    /// Whether it may be empty.
    #[prop(optional)]
    optional: bool,
    /// Whether it is focused when its dialog opens.
    #[prop(optional)]
    focus: bool,
    /// Whether it may be invisible, in which case the browser can't require a value.
    #[prop(optional)]
    maybe_hidden: bool,
) -> impl IntoView {
    let is_code = face == Face::Code;
    let id = if id.is_empty() { name.to_owned() } else { id };
    view! {
        <FieldFrame id=id.clone() label=label hint=hint problem=problem optional=optional>
            <textarea
                class=if is_code { "input input--area input--code" } else { "input input--area" }
                id=id.clone()
                name=name
                autocomplete="off"
                spellcheck=if is_code { "false" } else { "true" }
                placeholder=placeholder
                maxlength=maxlength
                autofocus=focus
                required=!optional && !maybe_hidden
                aria-invalid=problem.map(|_| "true")
                aria-describedby=described_by(&id, hint, problem)
                inner_html=as_content(&value)
            ></textarea>
        </FieldFrame>
    }
}

/// A text for scripts, which is not submitted.
#[component]
pub fn HiddenText(
    /// `name` of the field.
    name: &'static str,
    value: String,
) -> impl IntoView {
    view! { <textarea name=name autocomplete="off" hidden disabled inner_html=as_content(&value)></textarea> }
}

/// Escapes a text for `<textarea>`, which Leptos doesn't do. The leading line break is ignored by browsers and protects
/// one in the text.
pub(super) fn as_content(text: &str) -> String {
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
