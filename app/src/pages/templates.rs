//! `/dashboard/templates`: the templates of the account, and the dialog that creates one.

pub mod api;
pub mod dialogs;
pub mod list;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::{
    backend::templates::TemplateList,
    layout::{
        loaded::loaded,
        page_head::PageHead,
        section::Section,
        shell::{Shell, rail::Entry},
    },
    model::template::TemplateFilter,
    outcome::{Outcome, form::OutcomeErrors},
    pages::templates::{
        api::{DeleteTemplate, DuplicateTemplate},
        dialogs::{CreateDialog, DeleteDialog},
        list::{Filters, TemplateTable},
    },
    ui::{
        button::{OpenButton, Rank},
        icon::{Glyph, Icon},
        pager::Pager,
    },
};

/// The list of templates, filtered by `q`, `state` and `cursor` of the query.
#[component]
pub fn Templates() -> impl IntoView {
    let query = use_query_map().read_untracked().clone();
    let filter = TemplateFilter {
        search: query.get("q").unwrap_or_default(),
        has_draft: match query.get("state").as_deref() {
            Some("draft") => Some(true),
            Some("published") => Some(false),
            _ => None,
        },
        cursor: query.get("cursor"),
    };
    let wanted = filter.clone();
    let copied = Outcome::of::<DuplicateTemplate>();
    let deleted = Outcome::of::<DeleteTemplate>();
    view! {
        <Shell title="Templates" current=Entry::Templates>
            <PageHead title="Templates" lede="HTML with placeholders. A render names one and sends the data.">
                <OpenButton dialog="create" rank=Rank::Primary>
                    <Icon glyph=Glyph::Add />
                    "New template"
                </OpenButton>
            </PageHead>
            <OutcomeErrors outcome=copied />
            <OutcomeErrors outcome=deleted />
            {loaded(
                move |backend| async move { backend.templates(wanted).await },
                move |found| view! { <Found found filter /> },
            )}
            <CreateDialog />
        </Shell>
    }
}

#[component]
fn Found(found: TemplateList, filter: TemplateFilter) -> impl IntoView {
    let everything = filter == TemplateFilter::default();
    let count = found.templates.len();
    let heading = match (count, found.next.is_some() || filter.cursor.is_some()) {
        (1, false) => "1 template".to_owned(),
        (count, false) => format!("{count} templates"),
        (_, true) => "Templates".to_owned(),
    };
    let dialogs = found.templates.iter().map(|(template, hint)| {
        view! { <DeleteDialog id=template.id.to_string() name=template.name.clone() hint=hint.clone() /> }
    });
    let dialogs = dialogs.collect_view();
    let older = found.next.map(|next| filter.address(Some(next)));
    let newest = filter.cursor.is_some().then(|| filter.address(None));
    let body = if found.templates.is_empty() {
        view! { <Empty everything /> }.into_any()
    } else {
        view! { <TemplateTable templates=found.templates /> }.into_any()
    };
    view! {
        <Section heading>
            {(!everything || count > 0).then(|| view! { <Filters filter=filter.clone() /> })} {body}
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
                <OpenButton dialog="create">
                    <Icon glyph=Glyph::Add />
                    "New template"
                </OpenButton>
            </div>
        }
        .into_any()
    } else {
        view! { <p>"No template is like that. " <a href="/dashboard/templates">"Show all"</a></p> }.into_any()
    }
}
