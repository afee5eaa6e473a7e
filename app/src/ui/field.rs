//! Form controls with label, help text and validation error.

use leptos::{either::Either, prelude::*};

use crate::ui::icon::{Glyph, Icon};

/// Typeface of the input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Face {
    #[default]
    Text,
    /// For ids, addresses and machine names.
    Code,
    /// Large digits, with a numeric keyboard.
    Digits,
}

/// The frame of a control: label, help text and validation error. The control must have the `id`, and the
/// `aria-describedby` of [`described_by`].
#[component]
pub fn FieldFrame(
    /// `id` of the control.
    #[prop(into)]
    id: String,
    #[prop(into)] label: String,
    /// Help text.
    #[prop(optional_no_strip)]
    hint: Option<&'static str>,
    /// Validation error.
    #[prop(optional_no_strip)]
    problem: Option<&'static str>,
    /// Whether it may be empty.
    #[prop(optional)]
    optional: bool,
    /// The control.
    children: Children,
) -> impl IntoView {
    view! {
        <div class=if problem.is_some() { "field field--invalid" } else { "field" }>
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
            <FieldProblem id=id problem=problem />
        </div>
    }
}

/// The validation error under a control.
#[component]
pub fn FieldProblem(
    /// `id` of the control.
    id: String,
    /// Validation error.
    problem: Option<&'static str>,
) -> impl IntoView {
    problem.map(|problem| {
        view! {
            <p class="field__error" id=format!("{id}-problem")>
                <Icon glyph=Glyph::Problem />
                {problem}
            </p>
        }
    })
}

/// Returns the `aria-describedby` of a control in a [`FieldFrame`].
pub fn described_by(id: &str, hint: Option<&str>, problem: Option<&str>) -> Option<String> {
    let ids = [
        hint.map(|_| format!("{id}-hint")),
        problem.map(|_| format!("{id}-problem")),
    ];
    let ids: Vec<_> = ids.into_iter().flatten().collect();
    (!ids.is_empty()).then(|| ids.join(" "))
}

/// A password field with a button that shows what was typed; see `frontend/elements/password-field.ts`. Without
/// JavaScript, there is no button.
#[component]
fn Revealable(label: String, children: Children) -> impl IntoView {
    view! {
        <password-field>
            {children()} <button class="button button--quiet button--small" type="button" hidden>
                <span>"Show"</span>
                <span class="visually-hidden">" " {label}</span>
            </button>
        </password-field>
    }
}

/// An invisible field that tells password managers whose password the form contains.
#[component]
pub fn UsernameField(email: String) -> impl IntoView {
    view! { <input type="text" autocomplete="username" value=email readonly hidden /> }
}

/// A text input. Its `id` is its name, unless another is given.
#[component]
pub fn TextField(
    /// `name` in the form.
    name: &'static str,
    /// `id`, if the page has several inputs of this name.
    #[prop(optional, into)]
    id: String,
    #[prop(into)] label: String,
    /// `type` of the input: `text`, `email`, `password`.
    #[prop(default = "text")]
    kind: &'static str,
    /// `autocomplete` of the input.
    #[prop(default = "off")]
    autocomplete: &'static str,
    /// Help text.
    #[prop(optional)]
    hint: Option<&'static str>,
    /// Initial value.
    #[prop(optional, into)]
    value: String,
    /// Validation error.
    #[prop(optional_no_strip)]
    problem: Option<&'static str>,
    /// Whether it may be empty.
    #[prop(optional)]
    optional: bool,
    /// Whether it is focused when the page or its dialog opens.
    #[prop(optional)]
    focus: bool,
    /// Whether it may be invisible, in which case the browser can't require a value.
    #[prop(optional)]
    maybe_hidden: bool,
    #[prop(optional)] face: Face,
) -> impl IntoView {
    let id = if id.is_empty() { name.to_owned() } else { id };
    let input = view! {
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
            aria-invalid=problem.map(|_| "true")
            aria-describedby=described_by(&id, hint, problem)
        />
    };
    let control = if kind == "password" {
        Either::Left(view! { <Revealable label=label.clone()>{input}</Revealable> })
    } else {
        Either::Right(input)
    };
    view! {
        <FieldFrame id label hint=hint problem=problem optional=optional>
            {control}
        </FieldFrame>
    }
}
