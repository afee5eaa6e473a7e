//! `/dashboard/templates/{id}/versions`: earlier versions of a template, compared with the newest.

pub mod api;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use platen_domain::{
    ids::TemplateId,
    template::{EditedTemplate, TemplateVersion, VersionSummary},
};

use super::diff::{Line, compare};
use crate::{
    layout::{
        page::{PageHead, loaded},
        shell::{Shell, rail::Entry},
    },
    model::{
        template::{editor_path, versions_path},
        template_versions::Versions as VersionsModel,
    },
    outcome::{ButtonForm, Outcome, OutcomeErrors},
    pages::query::id_in_path,
    ui::{
        button::{ButtonLink, SubmitButton},
        icon::Glyph,
        moment::Moment,
    },
};

use self::api::RestoreTemplate;

/// The page of versions. `compare` of the query is the number of the version that is compared with the newest.
#[component]
pub fn Versions() -> impl IntoView {
    let id = id_in_path(TemplateId::parse);
    let compared = use_query_map().read_untracked().get("compare");
    let compared = compared.and_then(|number| number.parse().ok());
    view! {
        <Shell title="Versions" current=Entry::Templates>
            {loaded(
                move |backend| async move {
                    let id = id?;
                    Ok((id, backend.template_versions(id, compared).await?))
                },
                |(id, found)| view! { <Found id=id.to_string() found /> },
            )}
        </Shell>
    }
}

#[component]
fn Found(id: String, found: VersionsModel) -> impl IntoView {
    let VersionsModel {
        edited: EditedTemplate { published, newest },
        listed,
        compared,
    } = found;
    let current = newest.summary.number;
    let shown = compared.as_ref().map(|version| version.summary.number);
    let items = listed.into_iter().map(|version| {
        let is_shown = shown == Some(version.number);
        view! { <Item id=id.clone() version published current is_shown /> }
    });
    let editor = editor_path(&id);
    let restored = Outcome::of::<RestoreTemplate>();
    view! {
        <PageHead
            title=format!("Versions of {}", newest.summary.name)
            lede="Every save is one. Renders use the one that is published."
        >
            <ButtonLink href=editor>"Back to the editor"</ButtonLink>
        </PageHead>
        <OutcomeErrors outcome=restored />
        <div class="grid grid--2">
            <section class="section">
                <div class="section__head">
                    <h2>"Saved"</h2>
                </div>
                <ul class="section__body versions">{items.collect_view()}</ul>
            </section>
            <section class="section">
                {match compared {
                    Some(compared) => view! { <Comparison id compared newest /> }.into_any(),
                    None => {
                        view! {
                            <div class="section__head">
                                <h2>"Compare"</h2>
                            </div>
                            <p>"Choose a version to see what has changed since."</p>
                        }
                            .into_any()
                    }
                }}
            </section>
        </div>
    }
}

#[component]
fn Item(id: String, version: VersionSummary, published: i32, current: i32, is_shown: bool) -> impl IntoView {
    let number = version.number;
    let note = match number {
        number if number == published => Some("Published"),
        number if number > published => Some("Draft"),
        _ => None,
    };
    let link = if number == current {
        view! { <span class="small quiet">"current"</span> }.into_any()
    } else {
        let href = format!("{}?compare={number}", versions_path(&id));
        view! {
            <a
                class="button button--small"
                href=href
                aria-current=is_shown.then_some("true")
                aria-label=format!("Compare version {number}")
            >
                "Compare"
            </a>
        }
        .into_any()
    };
    let author = version.author.map(|author| format!("{author}, "));
    view! {
        <li class=if is_shown { "versions__item versions__item--shown" } else { "versions__item" }>
            <span class="versions__number">{number}</span>
            <div>
                <p>{author} <Moment at=version.inserted_at /></p>
                {note.map(|note| view! { <p class="versions__note">{note}</p> })}
            </div>
            <div>{link}</div>
        </li>
    }
}

#[component]
fn Comparison(id: String, compared: TemplateVersion, newest: TemplateVersion) -> impl IntoView {
    let (older, newer) = (compared.summary.number, newest.summary.number);
    let (older_data, newer_data) = (compared.data(), newest.data());
    let outcome = Outcome::of::<RestoreTemplate>();
    let renamed = (compared.summary.name != newest.summary.name).then(|| {
        view! { <p class="small">"It was called " <b>{compared.summary.name.clone()}</b> "."</p> }
    });
    view! {
        <div class="section__head">
            <h2>{older} " compared with " {newer}</h2>
        </div>
        <div class="section__body stack stack--tight">
            {renamed} <Difference title="HTML" older=compared.content newer=newest.content />
            <Difference title="Sample data" older=older_data newer=newer_data />
            <ButtonForm outcome class="stack stack--tight">
                <input type="hidden" name="id" value=id />
                <input type="hidden" name="number" value=older />
                <p class="small quiet">
                    {format!("Restoring saves version {older} again as a draft. Nothing is lost.")}
                </p>
                <div>
                    <SubmitButton icon=Glyph::Clock>
                        "Restore "
                        {older}
                    </SubmitButton>
                </div>
            </ButtonForm>
        </div>
    }
}

#[component]
fn Difference(title: &'static str, older: String, newer: String) -> impl IntoView {
    let lines: Vec<_> = compare(&older, &newer).into_iter().map(line).collect();
    if lines.is_empty() {
        return view! { <p class="small quiet">{title} " is the same."</p> }.into_any();
    }
    view! {
        <h3>{title}</h3>
        <pre class="diff" tabindex="0" role="group" aria-label=format!("Changes of {title}")>
            {lines}
        </pre>
    }
    .into_any()
}

fn line(line: Line) -> impl IntoView + use<> {
    let (class, number, sign, text) = match line {
        Line::Same(number, text) => ("diff__line", Some(number), " ", text.to_owned()),
        Line::Removed(number, text) => ("diff__line diff__line--removed", Some(number), "−", text.to_owned()),
        Line::Added(number, text) => ("diff__line diff__line--added", Some(number), "+", text.to_owned()),
        Line::Skipped(1) => ("diff__line diff__line--skip", None, " ", "1 line alike".to_owned()),
        Line::Skipped(count) => ("diff__line diff__line--skip", None, " ", format!("{count} lines alike")),
    };
    let text = match line {
        Line::Removed(..) => view! { <del>{text}</del> }.into_any(),
        Line::Added(..) => view! { <ins>{text}</ins> }.into_any(),
        Line::Same(..) | Line::Skipped(_) => view! { <span>{text}</span> }.into_any(),
    };
    view! {
        <span class=class>
            <span class="diff__number">{number}</span>
            <span>{sign}</span>
            {text}
        </span>
    }
}
