//! The list of templates and its filters.

use leptos::prelude::*;
use platen_domain::template::{
    TemplateGlance,
    identity::{Handle, TemplateKind},
};

use crate::{
    model::template::{editor_path, settings_path, versions_path},
    outcome::{ButtonForm, Outcome},
    pages::templates::{PATH, api::DuplicateTemplate, dialogs::delete_dialog_id},
    ui::{
        badge::{Badge, State},
        filters::{FilterForm, SearchFilter, SelectFilter},
        icon::{Glyph, Icon},
        menu::{OpenItem, RowMenu},
        moment::Moment,
        table::{Column, Table},
    },
};

const COLUMNS: &[Column] = &[
    Column::text("Name"),
    Column::text("Id").from_wide(),
    Column::text("State"),
    Column::figure("Version").from_medium(),
    Column::text("Changed").from_medium(),
    Column::ACTIONS,
];

/// The filter form. It leads to this page with its values in the query.
#[component]
pub fn Filters() -> impl IntoView {
    let states = [("published", "Published"), ("draft", "Has a draft")];
    view! {
        <FilterForm path=PATH>
            <SearchFilter label="Find by name or id" />
            <SelectFilter name="state" label="State" options=states />
        </FilterForm>
    }
}

/// Table of templates.
#[component]
pub fn TemplateTable(
    /// In display order, with texts that distinguish equal names.
    templates: Vec<(TemplateGlance, Option<String>)>,
) -> impl IntoView {
    let rows = templates.into_iter();
    let rows = rows.map(|(template, hint)| view! { <Row template hint /> });
    view! { <Table caption="Templates" columns=COLUMNS rows /> }
}

#[component]
fn Row(template: TemplateGlance, hint: Option<String>) -> impl IntoView {
    let id = template.id.to_string();
    let is_ahead = template.newest > template.published;
    let copied = Outcome::of::<DuplicateTemplate>();
    let changed = move || {
        let by = template.changed_by.clone().map(|by| format!(", {by}"));
        view! {
            <Moment at=template.changed_at />
            {by}
        }
    };
    let changed_again = changed.clone();
    let partial = (template.identity.kind == TemplateKind::Partial).then(|| {
        let handle = template.identity.handle.as_ref().map(Handle::to_string);
        view! {
            <span class="table__sub">
                "Partial " <code>{handle}</code>
            </span>
        }
    });
    let versions = versions_path(&id);
    let settings = settings_path(&id);
    let delete = delete_dialog_id(&id);
    view! {
        <tr>
            <th scope="row">
                <a class="table__link" href=editor_path(&id)>
                    {template.name.clone()}
                </a>
                {hint.map(|hint| view! { <span class="table__sub">{hint}</span> })}
                {partial}
                <span class="table__sub table__narrow">{changed()}</span>
            </th>
            <td class="table__wide">
                <code>{id.clone()}</code>
            </td>
            <td>
                {if is_ahead {
                    view! { <Badge state=State::Warning>"Draft ahead"</Badge> }
                } else if !template.in_production {
                    view! { <Badge state=State::Warning>"Not in production"</Badge> }
                } else {
                    view! { <Badge state=State::Good>"Published"</Badge> }
                }}
            </td>
            <td class="table__figure table__medium">{template.newest}</td>
            <td class="table__medium">{changed_again()}</td>
            <td class="table__actions">
                <RowMenu id=format!("menu-{id}") of=template.name>
                    <ButtonForm outcome=copied>
                        <input type="hidden" name="id" value=id.clone() />
                        <button class="menu__item">
                            <Icon glyph=Glyph::Copy />
                            "Duplicate"
                        </button>
                    </ButtonForm>
                    <a class="menu__item" href=versions>
                        <Icon glyph=Glyph::Clock />
                        "Versions"
                    </a>
                    <a class="menu__item" href=settings>
                        <Icon glyph=Glyph::Settings />
                        "Settings"
                    </a>
                    <OpenItem dialog=delete danger=true icon=Glyph::Remove>
                        "Delete"
                    </OpenItem>
                </RowMenu>
            </td>
        </tr>
    }
}
