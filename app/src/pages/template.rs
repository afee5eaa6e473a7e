//! `/dashboard/templates/{id}`: the editor, and `…/versions`.

pub mod snippets;
pub mod versions;

use leptos::prelude::*;
use leptos_meta::Title;
use platen_domain::{ids::TemplateId, template::EditedTemplate};

use crate::{
    backend::backend,
    islands::workbench::{Workbench, api::SaveTemplate},
    layout::{
        page::loaded,
        shell::{Shell, ShellKind, rail::Entry},
    },
    outcome::{Outcome, OutcomeErrors},
    pages::{query::id_in_path, template::snippets::UseDialog},
    read_only::is_read_only,
    ui::code_field::{CodeField, CodeLanguage},
};

/// The page of the template editor.
#[component]
pub fn Template() -> impl IntoView {
    let id = id_in_path(TemplateId::parse);
    let saved = Outcome::of::<SaveTemplate>();
    view! {
        <Shell title="Template" current=Entry::Templates kind=ShellKind::Workbench>
            <OutcomeErrors outcome=saved />
            {loaded(
                move |backend| async move {
                    let id = id?;
                    Ok((id, backend.template(id).await?))
                },
                |(id, template)| view! { <Editor id template /> },
            )}
        </Shell>
    }
}

#[component]
fn Editor(id: TemplateId, template: EditedTemplate) -> impl IntoView {
    let base_url = backend().base_url();
    let EditedTemplate { published, newest } = template;
    let id = id.to_string();
    let data = newest.data();
    view! {
        <Title text=newest.summary.name.clone() />
        <Workbench id=id.clone() name=newest.summary.name newest=newest.summary.number published read_only=is_read_only()>
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
