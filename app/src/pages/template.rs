//! `/dashboard/templates/{id}`: the editor, and `…/versions`.

mod diff;
pub mod snippets;
pub mod versions;

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;

use crate::{
    backend::{backend, templates::EditedTemplate},
    islands::workbench::{Workbench, api::SaveTemplate},
    layout::{
        loaded::loaded,
        shell::{Shell, ShellKind, rail::Entry},
    },
    outcome::{Outcome, form::OutcomeErrors},
    pages::template::snippets::UseDialog,
    ui::code_field::{CodeField, CodeLanguage},
};

/// The page of the template editor.
#[component]
pub fn Template() -> impl IntoView {
    let id = use_params_map().read_untracked().get("id").unwrap_or_default();
    let saved = Outcome::of::<SaveTemplate>();
    view! {
        <Shell title="Template" current=Entry::Templates kind=ShellKind::Workbench>
            <OutcomeErrors outcome=saved />
            {loaded(
                move |backend| async move { backend.template(id).await },
                |template| view! { <Editor template /> },
            )}
        </Shell>
    }
}

#[component]
fn Editor(template: EditedTemplate) -> impl IntoView {
    let base_url = backend().base_url();
    let EditedTemplate { id, published, newest } = template;
    let data = newest.data();
    view! {
        <Title text=newest.summary.name.clone() />
        <Workbench id=id.clone() name=newest.summary.name newest=newest.summary.number published>
            <section class="pane pane--html" aria-labelledby="pane-html">
                <div class="pane__bar">
                    <h2 class="pane__name" id="pane-html">
                        "HTML"
                    </h2>
                    <span>"Jinja, escaped for HTML"</span>
                    <a class="pane__spring" href="/docs/templates">
                        "The language"
                    </a>
                </div>
                <CodeField name="content" label="Template" language=CodeLanguage::Template value=newest.content />
            </section>
            <section class="pane pane--data" aria-labelledby="pane-data">
                <div class="pane__bar">
                    <h2 class="pane__name" id="pane-data">
                        "Sample data"
                    </h2>
                    <span>"JSON, saved with the template"</span>
                </div>
                <CodeField name="data" label="Sample data" language=CodeLanguage::Json value=data />
            </section>
        </Workbench>
        <UseDialog id base_url />
    }
}
