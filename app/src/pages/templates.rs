//! `/dashboard/templates`: the templates of the account, and the dialog that creates one.

pub mod api;
pub mod dialogs;
pub mod list;

use leptos::prelude::*;
use platen_domain::{
    ids::TemplateId,
    number::counted,
    page::Page,
    template::{TemplateFilter, TemplateGlance},
};

use crate::{
    layout::{
        page::{PageHead, Section, loaded},
        shell::{Shell, rail::Entry},
    },
    outcome::{Outcome, OutcomeErrors},
    pages::{
        query::ListQuery,
        templates::{
            api::{DeleteTemplate, DuplicateTemplate},
            dialogs::{CreateDialog, DeleteDialog},
            list::{Filters, TemplateTable},
        },
    },
    ui::{
        button::{OpenButton, Rank},
        icon::Glyph,
        pager::Pager,
    },
};

/// Path of the list.
pub(crate) const PATH: &str = "/dashboard/templates";
/// Help text of the field for a handle.
pub(crate) const HANDLE_HINT: &str = "Required for partials: templates use them as in {% include \"footer\" %}.";
const FILTERS: [&str; 2] = ["q", "state"];

/// The list of templates, filtered by `q`, `state` and `cursor` of the query.
#[component]
pub fn Templates() -> impl IntoView {
    let query = ListQuery::of_page(&FILTERS);
    let filter = TemplateFilter {
        search: query.text("q"),
        has_draft: query.text("state").and_then(|state| match state.as_str() {
            "draft" => Some(true),
            "published" => Some(false),
            _ => None,
        }),
    };
    let after = query.cursor();
    let copied = Outcome::of::<DuplicateTemplate>();
    let deleted = Outcome::of::<DeleteTemplate>();
    view! {
        <Shell title="Templates" current=Entry::Templates>
            <PageHead title="Templates" lede="A template is HTML with placeholders. A request names it by its id and sends the data that fills it.">
                <OpenButton dialog="create" rank=Rank::Primary icon=Glyph::Add>
                    "New template"
                </OpenButton>
            </PageHead>
            <OutcomeErrors outcome=copied />
            <OutcomeErrors outcome=deleted />
            {loaded(
                move |backend| async move { backend.templates(filter, after).await },
                move |found| view! { <Found found query /> },
            )}
            <CreateDialog />
        </Shell>
    }
}

#[component]
fn Found(found: Page<(TemplateGlance, Option<String>), TemplateId>, query: ListQuery) -> impl IntoView {
    let everything = query.is_empty() && query.is_first();
    let count = found.items.len();
    let heading = if query.is_first() && found.next.is_none() {
        counted(count, "template", "templates")
    } else {
        "Templates".to_owned()
    };
    let dialogs = found.items.iter().map(|(template, hint)| {
        view! { <DeleteDialog id=template.id.to_string() name=template.name.clone() hint=hint.clone() /> }
    });
    let dialogs = dialogs.collect_view();
    let (newest, older) = (query.newest(PATH), query.older(PATH, found.next));
    let body = if found.items.is_empty() {
        view! { <Empty everything /> }.into_any()
    } else {
        view! { <TemplateTable templates=found.items /> }.into_any()
    };
    view! {
        <Section heading>
            {(!everything || count > 0).then(|| view! { <Filters /> })} {body}
            {(newest.is_some() || older.is_some()).then(|| view! { <Pager note="Newest first".to_owned() newest older /> })}
        </Section>
        {dialogs}
    }
}

#[component]
fn Empty(everything: bool) -> impl IntoView {
    if everything {
        view! {
            <div class="empty">
                <h3>"No templates yet"</h3>
                <p>"Begin with an invoice, a certificate or a report that is filled with sample data, and change it."</p>
                <OpenButton dialog="create" icon=Glyph::Add>
                    "New template"
                </OpenButton>
            </div>
        }
        .into_any()
    } else {
        view! { <p>"No template is like that. " <a href=PATH>"Show all"</a></p> }.into_any()
    }
}
