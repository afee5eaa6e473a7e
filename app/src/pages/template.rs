//! `/dashboard/templates/{id}`: the editor, `…/versions`, `…/releases`, `…/pages` and `…/settings`.

pub mod api;
pub mod pages;
pub mod releases;
pub mod settings;
pub mod snippets;
pub mod versions;

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;
use platen_domain::{
    editor::SampleSet,
    ids::TemplateId,
    template::{
        EditedTemplate,
        channels::Channels,
        identity::{TemplateIdentity, TemplateKind},
    },
};

use crate::{
    backend::backend,
    islands::workbench::{Workbench, api::SaveTemplate, live::LANGUAGE_FIELD},
    layout::{
        page::loaded,
        shell::{Shell, ShellKind, rail::Entry},
    },
    model::template::editor_path,
    outcome::{Outcome, OutcomeErrors},
    pages::{
        query::{address, id_in_path, literal},
        template::snippets::{UseDialog, UsePartialDialog},
    },
    read_only::is_read_only,
    ui::{
        code_field::{CodeField, CodeLanguage},
        segmented::SegmentedBar,
        text_area::HiddenText,
    },
};

/// The page of the template editor. `set` of the query is the name of the set of sample data that is shown first.
#[component]
pub fn Template() -> impl IntoView {
    let id = id_in_path(TemplateId::parse);
    let chosen = use_query_map().read_untracked().get("set").unwrap_or_default();
    let saved = Outcome::of::<SaveTemplate>();
    view! {
        <Shell title="Template" current=Entry::Templates kind=ShellKind::Workbench>
            <OutcomeErrors outcome=saved />
            {loaded(
                move |backend| async move {
                    let id = id?;
                    let (template, sets) = (backend.template(id).await?, backend.sample_sets(id).await?);
                    Ok((id, template, sets, backend.channels().await?))
                },
                move |(id, template, sets, channels)| view! { <Editor id template sets chosen channels /> },
            )}
        </Shell>
    }
}

#[component]
fn Editor(
    id: TemplateId,
    template: EditedTemplate,
    /// The sets of sample data, at least one.
    sets: Vec<SampleSet>,
    /// Name of the set that is shown first.
    chosen: String,
    channels: Channels,
) -> impl IntoView {
    let base_url = backend().base_url();
    let EditedTemplate {
        identity,
        published,
        newest,
    } = template;
    let id = id.to_string();
    let chosen = sets.iter().position(|set| set.name == chosen).unwrap_or_default();
    let id_of_sets = id.clone();
    let data = sets.get(chosen).map(|set| set.data.clone()).unwrap_or_default();
    let sample = newest.data();
    let translations = newest.translations.indented();
    let languages: Vec<_> = newest.translations.written().keys().cloned().collect();
    view! {
        <Title text=newest.summary.name.clone() />
        <Workbench
            id=id.clone()
            name=newest.summary.name
            newest=newest.summary.number
            published
            audience=audience(identity.kind, &channels)
            read_only=is_read_only()
        >
            <section class="pane pane--html" aria-labelledby="pane-html">
                <div class="pane__bar">
                    <h2 class="pane__name" id="pane-html">
                        "HTML"
                    </h2>
                    <span>"Jinja, escaped for HTML"</span>
                    // Leaving the editor would ask about unsaved changes.
                    <a class="pane__spring" href="/docs/templates" target="_blank">
                        "Template syntax"
                        <span class="visually-hidden">" (opens in a new tab)"</span>
                    </a>
                </div>
                <CodeField name="content" label="Template" language=CodeLanguage::Template value=newest.content />
            </section>
            <section class="pane pane--data" aria-labelledby="pane-data">
                <div class="pane__bar">
                    <h2 class="visually-hidden" id="pane-data">
                        "Data"
                    </h2>
                    // The style sheet shows the chosen editor.
                    <SegmentedBar
                        name="lower"
                        legend="Editor"
                        options=vec![("sample-data", "Sample data"), ("translations", "Translations")]
                        chosen="sample-data"
                        class="segmented segmented--small"
                    />
                    <SampleSets id=id_of_sets sets chosen />
                    <TranslationsBar languages />
                </div>
                <CodeField name="data" label="Sample data" language=CodeLanguage::Json value=data />
                <CodeField name="translations" label="Translations" language=CodeLanguage::Json value=translations />
            </section>
        </Workbench>
        {match identity {
            TemplateIdentity { kind: TemplateKind::Partial, handle: Some(handle) } => {
                view! { <UsePartialDialog id handle /> }.into_any()
            }
            _ => view! { <UseDialog id base_url data=sample channels /> }.into_any(),
        }}
    }
}

/// Returns the renders that use published versions, as the beginning of a sentence.
fn audience(kind: TemplateKind, channels: &Channels) -> String {
    match kind {
        TemplateKind::Partial => "Templates that are published after it".to_owned(),
        TemplateKind::Document if channels.are_off() => "Renders".to_owned(),
        TemplateKind::Document => format!("Renders in the channel {}", channels.first()),
    }
}

/// The language of the preview, and a link to the documentation of translations.
#[component]
fn TranslationsBar(
    /// Language tags of the saved translations.
    languages: Vec<String>,
) -> impl IntoView {
    let placeholder = languages.first().cloned().unwrap_or_else(|| "en".to_owned());
    let options = languages
        .into_iter()
        .map(|language| view! { <option value=language></option> });
    view! {
        <div class="translations-bar">
            <label for="language">"Language"</label>
            <input
                class="input"
                id="language"
                type="text"
                name=LANGUAGE_FIELD
                placeholder=placeholder
                list="languages"
                maxlength="35"
                autocomplete="off"
                title="Language tag, such as de-AT. By default, the first language."
            />
            <datalist id="languages">{options.collect_view()}</datalist>
            <a class="pane__spring" href="/docs/templates#translations" target="_blank">
                "About translations"
                <span class="visually-hidden">" (opens in a new tab)"</span>
            </a>
        </div>
    }
}

/// The choice of a set of sample data. With scripts, `<sample-sets>` replaces the links by a list and buttons, and changes
/// all sets (`frontend/elements/sample-sets.ts`). Without, the form saves the set that is shown.
#[component]
fn SampleSets(
    /// Id of the template.
    id: String,
    sets: Vec<SampleSet>,
    /// Index of the set that is shown.
    chosen: usize,
) -> impl IntoView {
    let json = serde_json::to_string(&sets).unwrap_or_default();
    let shown = sets.get(chosen).map(|set| set.name.clone());
    let links = sets.iter().enumerate().map(|(index, set)| {
        let address = address(&editor_path(&id), [("set", Some(literal(&set.name)))]);
        let name = set.name.clone();
        view! {
            <li>
                <a class="break" href=address aria-current=(index == chosen).then_some("true")>
                    {name}
                </a>
            </li>
        }
    });
    view! {
        <sample-sets data-read-only=is_read_only().then_some("")>
            <input type="hidden" name="set" value=shown />
            <HiddenText name="sets" value=json />
            <nav class="sample-sets sample-sets--links" aria-label="Sets of sample data">
                <ul class="cluster">{links.collect_view()}</ul>
            </nav>
        </sample-sets>
    }
}
