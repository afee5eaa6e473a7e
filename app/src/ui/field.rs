//! Controls with their label, and what is wrong with them.

use leptos::prelude::*;

use crate::ui::icon::{Glyph, Icon};

/// How what is typed is set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Face {
    /// As text.
    #[default]
    Text,
    /// As code: ids, addresses, names that machines give.
    Code,
    /// As digits, large, and with the keys for them.
    Digits,
}

/// What stands around a control: its label, what to know, and what is wrong. The control has the `id`, and
/// `aria-describedby` as [`described_by`] says.
#[component]
pub fn FieldFrame(
    /// `id` of the control.
    id: String,
    /// What it is called.
    label: String,
    /// What to know before typing.
    #[prop(optional_no_strip)]
    hint: Option<&'static str>,
    /// What is wrong with it.
    #[prop(optional_no_strip)]
    fault: Option<&'static str>,
    /// Whether it may stay empty.
    #[prop(optional)]
    optional: bool,
    /// The control.
    children: Children,
) -> impl IntoView {
    view! {
        <div class=if fault.is_some() { "field field--invalid" } else { "field" }>
            <label class="field__label" for=id.clone()>
                {label}
                {optional.then(|| view! { <span class="field__optional">" optional"</span> })}
            </label>
            {hint
                .map(|hint| {
                    view! {
                        <p class="field__hint" id=format!("{id}-hint")>
                            {hint}
                        </p>
                    }
                })}
            {children()}
            <FieldFault id=id fault=fault />
        </div>
    }
}

/// What is wrong with a control, under it.
#[component]
pub fn FieldFault(
    /// `id` of the control.
    id: String,
    /// What is wrong with it.
    fault: Option<&'static str>,
) -> impl IntoView {
    fault.map(|fault| {
        view! {
            <p class="field__error" id=format!("{id}-fault")>
                <Icon glyph=Glyph::Fault />
                {fault}
            </p>
        }
    })
}

/// The `id`s of what a [`FieldFrame`] says of its control.
pub fn described_by(id: &str, hint: Option<&str>, fault: Option<&str>) -> Option<String> {
    let ids = [hint.map(|_| format!("{id}-hint")), fault.map(|_| format!("{id}-fault"))];
    let ids: Vec<_> = ids.into_iter().flatten().collect();
    (!ids.is_empty()).then(|| ids.join(" "))
}

/// A field to type a line into. Its `id` is its name, unless it is given another.
#[component]
pub fn TextField(
    /// `name` in the form.
    name: &'static str,
    /// `id`, where the page has several of its name.
    #[prop(optional, into)]
    id: String,
    /// What it is called.
    #[prop(into)]
    label: String,
    /// `type` of the input: `text`, `email`, `password`.
    #[prop(default = "text")]
    kind: &'static str,
    /// What the browser may fill in.
    #[prop(default = "off")]
    autocomplete: &'static str,
    /// What to know before typing.
    #[prop(optional)]
    hint: Option<&'static str>,
    /// What is in it at first.
    #[prop(optional, into)]
    value: String,
    /// What is wrong with it.
    #[prop(optional_no_strip)]
    fault: Option<&'static str>,
    /// Whether it may stay empty.
    #[prop(optional)]
    optional: bool,
    /// Whether it has the focus when its dialog opens.
    #[prop(optional)]
    focus: bool,
    /// Whether it may be out of sight, where a browser can't ask for it.
    #[prop(optional)]
    maybe_hidden: bool,
    /// See [`Face`].
    #[prop(optional)]
    face: Face,
) -> impl IntoView {
    let id = if id.is_empty() { name.to_owned() } else { id };
    view! {
        <FieldFrame id=id.clone() label=label hint=hint fault=fault optional=optional>
            <input
                class=match face {
                    Face::Text => "input",
                    Face::Code => "input input--code",
                    Face::Digits => "input input--digits",
                }
                id=id.clone()
                type=kind
                name=name
                value=value
                autocomplete=autocomplete
                inputmode=(face == Face::Digits).then_some("numeric")
                required=!optional && !maybe_hidden
                autofocus=focus
                aria-invalid=fault.map(|_| "true")
                aria-describedby=described_by(&id, hint, fault)
            />
        </FieldFrame>
    }
}
