//! `/dashboard/templates/{id}/settings`: kind and handle of a template, and the templates that use a partial.

pub mod api;

use leptos::{either::Either, prelude::*};
use platen_domain::{
    ids::TemplateId,
    template::{
        identity::{Handle, TemplateIdentity, TemplateKind},
        used_by::{PartialUser, PartialUsers},
    },
};
use strum::{EnumString, IntoStaticStr};

use crate::{
    layout::{
        page::{PageHead, Section, loaded},
        shell::{Shell, rail::Entry},
    },
    model::{
        own_path::OwnPath,
        rejection::Field,
        template::{editor_path, settings_path, versions_path},
        template_settings::TemplateSettings,
    },
    outcome::{self, FormField, NarrowForm, Outcome, PageForm, done_word},
    pages::{
        query::id_in_path,
        template::{
            pages::ComparePagesLink,
            settings::api::{ChangeTemplateKind, PublishUsersOfPartial, chosen_user},
            versions::template_crumb,
        },
        templates::{HANDLE_HINT, PATH, dialogs::KindField},
    },
    ui::{
        badge::{Badge, State},
        button::{ButtonLink, SubmitButton},
        notice::WarningNotice,
        table::{Column, Table},
    },
};

const COLUMNS: &[Column] = &[
    Column::tight("Select").with_hidden_head(),
    Column::text("Template"),
    Column::text("Kind").from_medium(),
    Column::figure("Uses version"),
    Column::text("State").from_medium(),
    Column::ACTIONS,
];

/// The completed actions of the page, by their words in its address.
#[derive(Debug, Clone, Copy, EnumString, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum Done {
    Saved,
    Published,
    /// The partial was not deleted, because templates use it.
    Kept,
}

/// Returns the path to which a completed action leads.
pub(crate) fn done(id: TemplateId, done: Done) -> OwnPath {
    let path = format!("{}?done={}", settings_path(&id.to_string()), done.into_str());
    OwnPath::parse(&path).unwrap_or_else(|| PATH.into())
}

/// The page of a template's settings.
#[component]
pub fn Settings() -> impl IntoView {
    let id = id_in_path(TemplateId::parse);
    view! {
        <Shell title="Template settings" current=Entry::Templates parent=template_crumb(id.clone())>
            {loaded(
                move |backend| async move {
                    let id = id?;
                    Ok((id, backend.template_settings(id).await?))
                },
                |(id, settings)| view! { <Found id settings /> },
            )}
        </Shell>
    }
}

#[component]
fn Found(id: TemplateId, settings: TemplateSettings) -> impl IntoView {
    let TemplateSettings {
        name,
        identity,
        published,
        users,
    } = settings;
    let path = id.to_string();
    let (versions, editor) = (versions_path(&path), editor_path(&path));
    let used = (identity.kind == TemplateKind::Partial).then(|| view! { <UsedBy id published users=users.clone() /> });
    view! {
        <PageHead title=format!("Settings of {name}") is_chosen=true lede="Settings apply to all versions.">
            <ButtonLink href=versions>"Versions"</ButtonLink>
            <ButtonLink href=editor>"Back to the editor"</ButtonLink>
        </PageHead>
        <outcome::Done about=notice />
        <Section heading="Kind and handle" body="section__body stack stack--tight">
            <Identity id=path identity is_used={users.count > 0} />
        </Section>
        {used}
    }
}

fn notice(word: &str) -> Option<&'static str> {
    Some(match word.parse().ok()? {
        Done::Saved => "Kind and handle saved.",
        Done::Published => "The selected templates are published, with the published versions of their partials.",
        Done::Kept => return None,
    })
}

/// The form of kind and handle. A partial that is used keeps both.
#[component]
fn Identity(id: String, identity: TemplateIdentity, is_used: bool) -> impl IntoView {
    let handle = identity.handle.as_ref().map(Handle::to_string).unwrap_or_default();
    if is_used {
        return Either::Left(view! {
            <p>"This is a partial with the handle " <code>{handle}</code> "."</p>
            <p class="small quiet">"Both can be changed once no published template uses it."</p>
        });
    }
    let outcome = Outcome::of::<ChangeTemplateKind>();
    Either::Right(view! {
        <NarrowForm outcome action="Save">
            <input type="hidden" name="id" value=id />
            <KindField outcome kind=identity.kind />
            <FormField
                outcome=outcome
                field=Field::TemplateHandle
                label="Handle"
                hint=HANDLE_HINT
                value=handle
                optional=true
            />
        </NarrowForm>
    })
}

/// The templates that use the partial, in a form that publishes them again.
#[component]
fn UsedBy(
    id: TemplateId,
    /// Number of the partial's published version.
    published: i32,
    users: PartialUsers,
) -> impl IntoView {
    let outcome = Outcome::of::<PublishUsersOfPartial>();
    let PartialUsers { listed, count } = users;
    if listed.is_empty() {
        return Either::Left(view! {
            <Section heading="Used by">
                <p>"No published template uses this partial."</p>
            </Section>
        });
    }
    let more = count - listed.len();
    let more = (more > 0).then(|| view! { <p class="small quiet">{format!("And {more} more.")}</p> });
    let kept = done_word().is_some_and(|word| word == Done::Kept.into_str());
    let kept = kept.then(|| {
        view! {
            <WarningNotice>
                "This partial can't be deleted, because published templates use it. Publish them without it, or delete them, first."
            </WarningNotice>
        }
    });
    let can_publish = listed.iter().any(can_be_published);
    let rows = listed.into_iter().enumerate();
    let rows = rows.map(move |(index, user)| view! { <User index user published /> });
    let publish = can_publish.then(|| {
        view! {
            <p class="small quiet">
                "Compare the pages first. Each selected template is saved as a new version with the content that is published now."
            </p>
            <div>
                <SubmitButton>"Publish the selected templates"</SubmitButton>
            </div>
        }
    });
    Either::Right(view! {
        <Section heading="Used by" body="section__body stack stack--tight">
            <p class="small quiet">
                {format!(
                    "Version {published} of this partial is published. Templates use it once they are published again.",
                )}
            </p>
            {kept}
            <PageForm outcome class="stack stack--tight">
                <input type="hidden" name="id" value=id.to_string() />
                <div id=outcome.id(Field::Chosen)>
                    <Table caption="Templates that use this partial" columns=COLUMNS rows />
                </div>
                {more}
                {publish}
            </PageForm>
        </Section>
    })
}

/// Returns whether a template can be published again with other partials. Partials use others only in the versions that
/// are published when a document is. A draft would be hidden by the new version, so its author publishes it.
fn can_be_published(user: &PartialUser) -> bool {
    user.outdated && !user.has_draft && user.kind == TemplateKind::Document
}

#[component]
fn User(
    index: usize,
    user: PartialUser,
    /// Number of the partial's published version.
    published: i32,
) -> impl IntoView {
    let id = user.id.to_string();
    let can_be_published = can_be_published(&user);
    let select = can_be_published.then(|| {
        view! {
            <input
                class="check__box"
                type="checkbox"
                name=format!("chosen[{index}]")
                value=chosen_user(user.id, user.published)
                checked=true
                aria-label=format!("Select {}", user.name)
            />
        }
    });
    let compare = can_be_published.then(|| {
        let (id, versions) = (id.clone(), (user.published, user.published));
        view! { <ComparePagesLink id versions of=user.name.clone() /> }
    });
    let (href, kind) = match user.kind {
        TemplateKind::Document => (editor_path(&id), "Document"),
        TemplateKind::Partial => (settings_path(&id), "Partial"),
    };
    let state = match user.kind {
        TemplateKind::Partial => None,
        TemplateKind::Document if user.outdated && user.has_draft => Some((State::Warning, "Has a draft: publish it")),
        TemplateKind::Document if user.uses < published => Some((State::Warning, "Older version")),
        TemplateKind::Document if user.outdated => Some((State::Warning, "Other partials changed")),
        TemplateKind::Document => Some((State::Good, "Up to date")),
    };
    let badge = move || state.map(|(state, words)| view! { <Badge state>{words}</Badge> });
    view! {
        <tr>
            <td class="table__tight">{select}</td>
            <th scope="row">
                <a class="table__link" href=href>
                    {user.name}
                </a>
                <span class="table__sub table__narrow">{badge()}</span>
            </th>
            <td class="table__medium">{kind}</td>
            <td class="table__figure">{user.uses}</td>
            <td class="table__medium">{badge()}</td>
            <td class="table__actions">{compare}</td>
        </tr>
    }
}
