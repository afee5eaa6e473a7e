//! `/dashboard/templates/{id}/versions`: the versions of a template. One of them is compared with the newest.

pub mod api;
pub mod comparison;
pub mod publish;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use platen_domain::{
    ids::TemplateId,
    template::{EditedTemplate, VersionSummary},
};

use crate::{
    layout::{
        page::{PageHead, Section, loaded},
        shell::{Shell, rail::Entry},
    },
    model::{
        template::{comparison_path, editor_path},
        template_versions::Versions as VersionsModel,
    },
    outcome::{Done, Outcome, OutcomeErrors},
    pages::query::id_in_path,
    ui::{
        badge::{Badge, State},
        button::{ButtonLink, OpenButton, Size},
        moment::Moment,
    },
};

use self::{
    api::{PublishVersion, RestoreTemplate},
    comparison::{Arrangement, Compared},
    publish::{PublishDialog, publish_dialog_id},
};

/// The page of versions. `compare` of the query is the number of the version that is compared with the newest, and `view`
/// how.
#[component]
pub fn Versions() -> impl IntoView {
    let id = id_in_path(TemplateId::parse);
    let query = use_query_map().read_untracked();
    let compared = query.get("compare").and_then(|number| number.parse().ok());
    let arrangement = Arrangement::of(query.get("view").as_deref());
    view! {
        <Shell title="Versions" current=Entry::Templates>
            {loaded(
                move |backend| async move {
                    let id = id?;
                    Ok((id, backend.template_versions(id, compared).await?))
                },
                move |(id, found)| view! { <Found id=id.to_string() found arrangement /> },
            )}
        </Shell>
    }
}

#[component]
fn Found(id: String, found: VersionsModel, arrangement: Arrangement) -> impl IntoView {
    let VersionsModel {
        edited: EditedTemplate { published, newest },
        listed,
        compared,
        sets,
    } = found;
    let newest = newest.summary;
    let shown = compared.as_ref().map(|compared| compared.older.number);
    let published_name = listed.iter().find(|version| version.published);
    let published_name = published_name.map(|version| version.name.clone());
    let compared_older = compared.as_ref().map(|compared| &compared.older);
    let unlisted = compared_older.filter(|older| listed.iter().all(|version| version.number != older.number));
    let dialogs = listed
        .iter()
        .chain(unlisted)
        .filter(|version| !version.published)
        .cloned();
    let dialogs = dialogs.map(|version| {
        let (id, published_name) = (id.clone(), published_name.clone());
        view! { <PublishDialog id version published published_name newest=newest.number /> }
    });
    let dialogs = dialogs.collect_view();
    let items = listed.into_iter().map(|version| {
        let is_shown = shown == Some(version.number);
        view! { <Item id=id.clone() version published newest=newest.number is_shown /> }
    });
    let items = items.collect_view();
    let (title, editor) = (format!("Versions of {}", newest.name), editor_path(&id));
    let comparison = compared.map(|compared| view! { <Compared id compared newest sets arrangement /> });
    let restored = Outcome::of::<RestoreTemplate>();
    let not_published = Outcome::about_nothing::<PublishVersion>();
    view! {
        <PageHead
            title=title
            is_chosen=true
            lede="Each save creates a version. Renders use the published version."
        >
            <ButtonLink href=editor>"Back to the editor"</ButtonLink>
        </PageHead>
        <Done about=done />
        <OutcomeErrors outcome=restored />
        <OutcomeErrors outcome=not_published />
        {comparison}
        <Section heading="All versions">
            <ul class="versions">{items}</ul>
        </Section>
        {dialogs}
    }
}

fn done(word: &str) -> Option<&'static str> {
    (word == "published").then_some("Version published. New renders use it.")
}

#[component]
fn Item(id: String, version: VersionSummary, published: i32, newest: i32, is_shown: bool) -> impl IntoView {
    let number = version.number;
    let badge = if version.published {
        Some(view! { <Badge state=State::Good>"Published"</Badge> })
    } else if number > published {
        Some(view! { <Badge state=State::Warning>"Draft"</Badge> })
    } else {
        None
    };
    let compare = if number == newest {
        view! { <span class="small quiet">"current"</span> }.into_any()
    } else {
        view! {
            <a
                class="button button--small"
                href=comparison_path(&id, number)
                aria-current=is_shown.then_some("true")
                aria-label=format!("Compare version {number}")
            >
                "Compare"
            </a>
        }
        .into_any()
    };
    let publish = (!version.published).then(|| {
        view! {
            <OpenButton dialog=publish_dialog_id(number) size=Size::Small>
                "Publish"
                <span class="visually-hidden">{format!(" version {number}")}</span>
            </OpenButton>
        }
    });
    let author = version.author.map(|author| format!("{author}, "));
    view! {
        <li class=if is_shown { "versions__item versions__item--shown" } else { "versions__item" }>
            <span class="versions__number">{number}</span>
            <div class="versions__about">
                <p>{author} <Moment at=version.inserted_at /></p>
                {version.note.map(|note| view! { <p class="versions__note">{note}</p> })}
                {badge}
            </div>
            <div class="versions__actions">{compare} {publish}</div>
        </li>
    }
}
