//! `/dashboard/templates/{id}/versions`: the versions of a template. Any two of them are compared.

pub mod api;
pub mod comparison;
pub mod publish;

use leptos::{either::Either, prelude::*};
use leptos_router::hooks::use_query_map;
use platen_domain::{
    ids::TemplateId,
    template::{
        EditedTemplate, VersionSummary,
        identity::{TemplateIdentity, TemplateKind},
    },
};

use crate::{
    error::AppError,
    layout::{
        page::{PageHead, Section, loaded, loaded_or},
        shell::{Shell, rail::Entry},
    },
    model::{
        template::{comparison_path, editor_path, releases_path, versions_path},
        template_versions::Versions as VersionsModel,
    },
    outcome::{Done, Outcome, OutcomeErrors},
    pages::{query::id_in_path, template::audience},
    ui::{
        badge::{Badge, State},
        button::{ButtonLink, OpenButton, Size, SubmitButton},
        moment::Moment,
        notice::WarningNotice,
        select::Select,
    },
};

use self::{
    api::{PublishVersion, RestoreTemplate},
    comparison::Compared,
    publish::{PublishDialog, publish_dialog_id},
};

/// The page of versions. `from` and `to` of the query are the numbers of versions that are compared; without `to`, the
/// newest is.
#[component]
pub fn Versions() -> impl IntoView {
    let id = id_in_path(TemplateId::parse);
    let query = use_query_map().read_untracked();
    let number = |name: &str| query.get(name).and_then(|number| number.parse().ok());
    let (from, to) = (number("from"), number("to"));
    view! {
        <Shell title="Versions" current=Entry::Templates parent=template_crumb(id.clone())>
            {loaded(
                move |backend| async move {
                    let id = id?;
                    Ok((id, backend.template_versions(id, from, to).await?))
                },
                |(id, found)| view! { <Found id=id.to_string() found /> },
            )}
        </Shell>
    }
}

#[component]
fn Found(id: String, found: VersionsModel) -> impl IntoView {
    let VersionsModel {
        edited:
            EditedTemplate {
                identity: TemplateIdentity { kind, .. },
                published,
                newest,
            },
        listed,
        compared,
        sets,
        channels,
        releases,
    } = found;
    let newest = newest.summary;
    let published_name = listed.iter().find(|version| version.published);
    let published_name = published_name.map(|version| version.name.clone());
    let shown = compared
        .as_ref()
        .map(|compared| (compared.older.number, compared.newer.number));
    let compared_older = compared.as_ref().map(|compared| &compared.older);
    let unlisted = compared_older.filter(|older| listed.iter().all(|version| version.number != older.number));
    let dialogs = listed
        .iter()
        .chain(unlisted)
        .filter(|version| !version.published)
        .cloned();
    let dialogs = dialogs.map(|version| {
        let (id, published_name) = (id.clone(), published_name.clone());
        view! {
            <PublishDialog id version published published_name newest=newest.number audience=audience(kind, &channels) />
        }
    });
    let dialogs = dialogs.collect_view();
    let numbers: Vec<_> = listed.iter().map(|version| version.number).collect();
    let choice = (numbers.len() > 1).then(|| {
        let chosen = shown.unwrap_or((numbers[1], newest.number));
        view! { <Choice id=id.clone() numbers chosen newest=newest.number /> }
    });
    let items = listed.into_iter().map(|version| {
        let side = Side::of(version.number, shown, newest.number);
        let promoted = releases
            .iter()
            .skip(1)
            .filter(|release| release.version == Some(version.number));
        let promoted = promoted.map(|release| release.channel.to_string()).collect();
        view! { <Item id=id.clone() version published newest=newest.number side promoted /> }
    });
    let items = items.collect_view();
    let (title, editor) = (format!("Versions of {}", newest.name), editor_path(&id));
    let lede = format!(
        "Each save creates a version. {} use the published version.",
        audience(kind, &channels)
    );
    let to_releases = (!channels.are_off() && kind == TemplateKind::Document).then(|| {
        view! { <ButtonLink href=releases_path(&id)>"Releases"</ButtonLink> }
    });
    let comparison = compared.map(|compared| {
        if compared.older.number == compared.newer.number {
            Either::Left(view! { <WarningNotice>"Choose two different versions to compare."</WarningNotice> })
        } else {
            Either::Right(view! { <Compared id compared newest=newest.number sets /> })
        }
    });
    let restored = Outcome::of::<RestoreTemplate>();
    let not_published = Outcome::about_nothing::<PublishVersion>();
    view! {
        <PageHead
            title=title
            is_chosen=true
            lede=lede
        >
            {to_releases}
            <ButtonLink href=editor>"Back to the editor"</ButtonLink>
        </PageHead>
        <Done about=done />
        <OutcomeErrors outcome=restored />
        <OutcomeErrors outcome=not_published />
        {comparison}
        <Section heading="All versions">
            {choice} <ul class="versions">{items}</ul>
        </Section>
        {dialogs}
    }
}

/// Returns the link to the editor, with the name of the template, for the breadcrumbs of a page about the template.
pub fn template_crumb(id: Result<TemplateId, AppError>) -> AnyView {
    loaded_or(
        move |backend| async move {
            let id = id?;
            Ok((id, backend.template(id).await?.newest.summary.name))
        },
        |(id, name)| {
            view! {
                <li>
                    <a href=editor_path(&id.to_string())>{name}</a>
                </li>
            }
        },
        // The page itself shows the error.
        |_| (),
    )
    .into_any()
}

/// Returns a version as texts call it.
pub fn called(number: i32, newest: i32) -> String {
    if number == newest {
        format!("Version {number} (newest)")
    } else {
        format!("Version {number}")
    }
}

/// The form that compares two versions.
#[component]
fn Choice(
    /// Id of the template.
    id: String,
    /// Numbers of versions that are listed.
    numbers: Vec<i32>,
    /// Numbers of the versions that are chosen first, which may be others.
    chosen: (i32, i32),
    /// Number of the newest version.
    newest: i32,
) -> impl IntoView {
    let select = |name: &'static str, label: &'static str, chosen: i32| {
        let unlisted = (!numbers.contains(&chosen)).then_some(chosen);
        let numbers = numbers.iter().copied().chain(unlisted);
        let options: Vec<_> = numbers
            .map(|number| (number.to_string(), called(number, newest)))
            .collect();
        view! { <Select name label options chosen=chosen.to_string() /> }
    };
    view! {
        <form class="versions__choice" action=versions_path(&id)>
            {select("from", "Compare", chosen.0)}
            {select("to", "With", chosen.1)}
            <SubmitButton>"Compare"</SubmitButton>
        </form>
    }
}

fn done(word: &str) -> Option<&'static str> {
    (word == "published").then_some("Version published.")
}

/// Part of a version in the comparison that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    None,
    /// It is compared with another version.
    Compared,
    /// It is compared with the newest version, as its link does.
    WithNewest,
}

impl Side {
    /// `shown` are the numbers of the versions that are compared.
    fn of(number: i32, shown: Option<(i32, i32)>, newest: i32) -> Self {
        match shown {
            Some(shown) if shown == (number, newest) => Self::WithNewest,
            Some((older, newer)) if number == older || number == newer => Self::Compared,
            _ => Self::None,
        }
    }
}

#[component]
fn Item(
    id: String,
    version: VersionSummary,
    published: i32,
    newest: i32,
    side: Side,
    /// The channels after the first that have the version.
    promoted: Vec<String>,
) -> impl IntoView {
    let promoted = promoted
        .into_iter()
        .map(|channel| view! { <Badge state=State::Good>{channel}</Badge> });
    let promoted = promoted.collect_view();
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
                href=comparison_path(&id, number, newest)
                aria-current=(side == Side::WithNewest).then_some("true")
                aria-label=format!("Compare version {number} with version {newest} (newest)")
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
        <li class=if side == Side::None { "versions__item" } else { "versions__item versions__item--shown" }>
            <span class="versions__number">{number}</span>
            <div class="versions__about">
                <p>{author} <Moment at=version.inserted_at /></p>
                {version.note.map(|note| view! { <p class="versions__note">{note}</p> })}
                <div class="cluster">{badge} {promoted}</div>
            </div>
            <div class="versions__actions">{compare} {publish}</div>
        </li>
    }
}
