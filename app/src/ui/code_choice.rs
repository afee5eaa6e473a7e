//! Code samples in several languages, of which one is shown.

use leptos::prelude::*;

use crate::ui::code::Code;

/// A code sample in one language.
pub struct Sample {
    /// Name of the language.
    pub language: &'static str,
    /// Value of its radio button; `style/components/_code.scss` lists all.
    pub key: &'static str,
    /// Accessible name of the code.
    pub label: String,
    pub code: String,
}

/// Shows one of several samples. The language is selected by radio buttons, which need no JavaScript.
#[component]
pub fn CodeChoice(
    /// The first is preselected.
    samples: Vec<Sample>,
) -> impl IntoView {
    let radios = samples.iter().enumerate().map(|(index, sample)| {
        view! {
            <label class="segmented__option">
                <input type="radio" name="language" value=sample.key checked=index == 0 />
                {sample.language}
            </label>
        }
    });
    let radios = radios.collect_view();
    let codes = samples.into_iter().map(|sample| {
        view! {
            <div class=format!("snippets__code snippets__code--{}", sample.key)>
                <Code title=sample.language label=sample.label text=sample.code.clone() class="code--short">
                    {sample.code}
                </Code>
            </div>
        }
    });
    view! {
        <div class="snippets stack">
            <fieldset class="segmented snippets__languages">
                <legend class="visually-hidden">"Language"</legend>
                {radios}
            </fieldset>
            {codes.collect_view()}
        </div>
    }
}
