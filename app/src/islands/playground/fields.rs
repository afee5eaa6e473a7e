//! Fields of the form. Each knows the JSON pointer of its value in the request, and shows the API's validation error
//! for it.

use leptos::{either::Either, prelude::*};

use crate::ui::icon::{Glyph, Icon};

/// A validation error of the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    /// JSON pointer into the request.
    pub(super) pointer: String,
    /// The message, one sentence.
    pub(super) detail: String,
}

/// Validation errors of the last request. The form provides them as context.
#[derive(Debug, Clone, Copy)]
pub(super) struct Problems(pub(super) RwSignal<Vec<Problem>>);

impl Problems {
    /// Returns the validation error at `pointer`.
    fn at(self, pointer: &str) -> Option<String> {
        let problems = self.0.read();
        problems
            .iter()
            .find(|problem| problem.pointer == pointer)
            .map(|problem| problem.detail.clone())
    }
}

/// A field with its label and validation error. `id` is unique in the page; `at` is the JSON pointer of the value.
#[component]
fn Labelled(
    id: String,
    label: &'static str,
    #[prop(optional)] optional: bool,
    #[prop(optional)] hint: &'static str,
    #[prop(into)] at: String,
    children: Children,
) -> impl IntoView {
    let problems = expect_context::<Problems>();
    let problem = Memo::new(move |_| problems.at(&at));
    let problem_id = format!("{id}-problem");
    view! {
        <div class="field" class:field--invalid=move || problem.read().is_some()>
            <label class="field__label" for=id>
                {label}
                {optional.then(|| view! { <span class="field__optional">" optional"</span> })}
            </label>
            {(!hint.is_empty()).then(|| view! { <p class="field__hint">{hint}</p> })}
            {children()}
            {move || {
                let id = problem_id.clone();
                problem
                    .get()
                    .map(|problem| {
                        view! {
                            <p class="field__error" id=id>
                                <Icon glyph=Glyph::Problem />
                                {problem}
                            </p>
                        }
                    })
            }}
        </div>
    }
}

/// A single-line text field.
#[component]
pub(super) fn Line(
    #[prop(into)] id: String,
    label: &'static str,
    value: RwSignal<String>,
    #[prop(into)] at: String,
    #[prop(default = "input")] class: &'static str,
    #[prop(optional)] optional: bool,
    #[prop(optional)] hint: &'static str,
) -> impl IntoView {
    view! {
        <Labelled id=id.clone() label optional hint at>
            <input class=class id=id type="text" autocomplete="off" spellcheck="false" bind:value=value />
        </Labelled>
    }
}

/// A multi-line field for code.
#[component]
pub(super) fn Area(
    #[prop(into)] id: String,
    label: &'static str,
    value: RwSignal<String>,
    #[prop(into)] at: String,
    #[prop(optional)] optional: bool,
    #[prop(optional)] hint: &'static str,
) -> impl IntoView {
    view! {
        <Labelled id=id.clone() label optional hint at>
            <textarea class="input input--area input--code" id=id spellcheck="false" bind:value=value></textarea>
        </Labelled>
    }
}

/// A field for HTML: a code editor (`frontend/elements/code-editor.ts`) once the island is hydrated. The editor reads
/// its text only once, so the text must be complete before.
#[component]
pub(super) fn HtmlArea(
    #[prop(into)] id: String,
    label: &'static str,
    value: RwSignal<String>,
    #[prop(into)] at: String,
) -> impl IntoView {
    let able = RwSignal::new(false);
    Effect::new(move || able.set(true));
    let area = {
        let id = id.clone();
        move || {
            view! {
                <textarea
                    class="input input--area input--code"
                    id=id.clone()
                    spellcheck="false"
                    bind:value=value
                ></textarea>
            }
        }
    };
    view! {
        <Labelled id label at>
            {move || {
                if able.get() {
                    Either::Left(
                        view! {
                            <code-editor class="playground__code" label=label language="template">
                                {area()}
                            </code-editor>
                        },
                    )
                } else {
                    Either::Right(area())
                }
            }}
        </Labelled>
    }
}

/// A select box. `options` are values with their labels.
#[component]
pub(super) fn Choice<O, V, N>(
    #[prop(into)] id: String,
    label: &'static str,
    value: RwSignal<String>,
    #[prop(into)] at: String,
    options: O,
) -> impl IntoView
where
    O: IntoIterator<Item = (V, N)>,
    V: Into<String>,
    N: Into<String>,
{
    let chosen = value.get_untracked();
    let options = options.into_iter().map(|(word, name)| {
        let word = word.into();
        let selected = word == chosen;
        view! {
            <option value=word selected=selected>
                {name.into()}
            </option>
        }
    });
    let options = options.collect_view();
    view! {
        <Labelled id=id.clone() label at>
            <select class="input" id=id on:change:target=move |event| value.set(event.target().value())>
                {options}
            </select>
        </Labelled>
    }
}

/// A checkbox.
#[component]
pub(super) fn Tick(label: &'static str, value: RwSignal<bool>, #[prop(optional)] hint: &'static str) -> impl IntoView {
    view! {
        <label class="check">
            <input class="check__box" type="checkbox" bind:checked=value />
            <span class="check__label">{label}</span>
            {(!hint.is_empty()).then(|| view! { <span class="check__hint">{hint}</span> })}
        </label>
    }
}

/// A radio button. `class` puts the group in a row or in a column; `name` is the group's, unique in the page.
#[component]
pub(super) fn Radio(
    class: &'static str,
    #[prop(into)] name: String,
    label: &'static str,
    #[prop(optional)] hint: &'static str,
    #[prop(into)] checked: Signal<bool>,
    on_choose: impl Fn() + 'static,
) -> impl IntoView {
    let (label_class, box_class) = match class {
        "check" => ("check__label", "check__box"),
        _ => ("", ""),
    };
    view! {
        <label class=class>
            <input class=box_class type="radio" name=name prop:checked=checked on:change=move |_| on_choose() />
            <span class=label_class>{label}</span>
            {(!hint.is_empty()).then(|| view! { <span class="check__hint">{hint}</span> })}
        </label>
    }
}

/// Returns options for [`Choice`] whose labels are their values.
pub(super) fn words<const COUNT: usize>(words: [&'static str; COUNT]) -> [(&'static str, &'static str); COUNT] {
    words.map(|word| (word, word))
}
