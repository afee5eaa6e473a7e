//! `/dashboard/batches/new`: the form that creates a batch. Its rows are uploaded on the page of the batch.

use leptos::prelude::*;
use platen_domain::role::Permission;

use crate::{
    layout::{
        page::{IfMay, PageHead, Section, loaded},
        shell::{Shell, rail::Entry},
    },
    model::{
        batch::BatchChoices,
        rejection::{Field, LIVE, TEST},
    },
    outcome::{FormField, Outcome, PageForm},
    pages::{
        batches::{PATH, api::CreateBatch},
        templates,
    },
    ui::{
        button::{ButtonLink, Rank, SubmitButton},
        field::Face,
        segmented::Segmented,
        select::Select,
    },
};

/// Value of the default storage.
const DEFAULT_STORAGE: (&str, &str) = ("", "Platen’s storage, for 14 days");
/// Value of no template.
const NO_TEMPLATE: (&str, &str) = ("", "Choose a template");

/// The page.
#[component]
pub fn NewBatch() -> impl IntoView {
    view! {
        <Shell title="New batch" current=Entry::Batches>
            <PageHead
                title="New batch"
                lede="Step 1 of 2: choose what is rendered. Then upload the file with the rows, each of which becomes a document."
            />
            {loaded(
                |backend| async move { backend.batch_choices().await },
                |choices| view! { <Content choices /> },
            )}
        </Shell>
    }
}

#[component]
fn Content(choices: BatchChoices) -> impl IntoView {
    if choices.templates.is_empty() {
        return view! {
            <div class="empty">
                <p class="empty__title">"No published templates"</p>
                <p>"A batch fills a template with each row of a file. Create and publish one first."</p>
                <ButtonLink href=templates::PATH>"Open templates"</ButtonLink>
            </div>
        }
        .into_any();
    }
    view! {
        <Section heading="What to render">
            <Form choices />
        </Section>
    }
    .into_any()
}

#[component]
fn Form(choices: BatchChoices) -> impl IntoView {
    let outcome = Outcome::of::<CreateBatch>();
    let pair = |(value, name): (&str, &str)| (value.to_owned(), name.to_owned());
    let templates = choices.templates.into_iter().map(|(id, name)| (id.to_string(), name));
    let templates = [pair(NO_TEMPLATE)].into_iter().chain(templates);
    let has_connections = !choices.connections.is_empty();
    let storages = choices.connections.into_iter().map(|(id, name)| (id.to_string(), name));
    let storages = [pair(DEFAULT_STORAGE)].into_iter().chain(storages);
    let is_test = outcome.typed(Field::BatchMode) == TEST;
    view! {
        <PageForm outcome class="fields fields--narrow batch-form">
            <FormField
                outcome=outcome
                field=Field::Name
                label="Name"
                hint="By which you find the batch again, such as Invoices of November."
                focus=true
            />
            <Select
                name=Field::BatchTemplate.into_str()
                id=outcome.id(Field::BatchTemplate)
                label="Template"
                hint="Its version in production is used for all rows, even if another is published meanwhile."
                options=templates
                chosen=outcome.typed(Field::BatchTemplate)
                problem=outcome.problem(Field::BatchTemplate)
            />
            <Segmented
                name=Field::BatchMode.into_str()
                legend="Mode"
                hint="Live: each document uses one credit or more. Test: documents are free and stamped TEST, and the batch is listed for less than a day."
                options=vec![(LIVE, "Live"), (TEST, "Test")]
                chosen=if is_test { TEST } else { LIVE }
                problem=outcome.problem(Field::BatchMode)
            />
            <Select
                name=Field::BatchStorage.into_str()
                id=outcome.id(Field::BatchStorage)
                label="Store the documents in"
                options=storages
                chosen=outcome.typed(Field::BatchStorage)
                problem=outcome.problem(Field::BatchStorage)
            />
            <div class="batch-form__path">
                <FormField
                    outcome=outcome
                    field=Field::DocumentPath
                    label="Path of each document"
                    hint="Below the prefix of the connection, with names of columns in braces, such as 2026/11/{{ number }}.pdf. Each row needs a path of its own."
                    maybe_hidden=true
                    face=Face::Code
                />
            </div>
            <div class="batch-form__names">
                <FormField
                    outcome=outcome
                    field=Field::FileNames
                    label="File names in the ZIP archive"
                    hint="With names of columns in braces, such as {{ customer.name }}/{{ number }}.pdf. Without it, the row's number: 000001.pdf."
                    optional=true
                    face=Face::Code
                />
            </div>
            {(!has_connections)
                .then(|| {
                    view! {
                        <IfMay permission=Permission::ManageDestinations>
                            <p class="field__hint">
                                "To deliver the documents to your own bucket, "
                                <a href=Entry::Connections.path()>"connect it"</a> " first."
                            </p>
                        </IfMay>
                    }
                })}
            <div class="cluster">
                <SubmitButton rank=Rank::Primary>"Create batch"</SubmitButton>
                <ButtonLink href=PATH>"Cancel"</ButtonLink>
            </div>
        </PageForm>
    }
}
