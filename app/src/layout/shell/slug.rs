//! The top of the sheet: breadcrumbs and the user's menu.

pub mod api;

use leptos::prelude::*;

use crate::{
    layout::{
        shell::{admin, palette::Palette, slug::api::LogOut},
        theme_button::ThemeButton,
    },
    model::person::Person,
    outcome::{ButtonForm, Outcome},
    ui::{
        avatar::Avatar,
        icon::{Glyph, Icon},
    },
};

/// Breadcrumbs, and actions of every page.
#[component]
pub fn Slug(
    /// The logged-in user.
    person: Person,
    /// Whether the user is an operator.
    operator: bool,
    /// Names and paths of the pages above this one.
    crumbs: Vec<(String, &'static str)>,
    /// The item of a further page above this one.
    #[prop(optional_no_strip)]
    parent: Option<AnyView>,
    /// Title of the page.
    title: String,
) -> impl IntoView {
    let log_out = Outcome::of::<LogOut>();
    let above = crumbs.into_iter().map(|(name, path)| {
        view! {
            <li>
                <a href=path>{name}</a>
            </li>
        }
    });
    let called = if person.name.is_empty() {
        person.email.clone()
    } else {
        person.name.clone()
    };
    view! {
        <header class="slug">
            <nav aria-label="Breadcrumb">
                <ol class="slug__crumbs">
                    {above.collect_view()}
                    {parent}
                    <li>
                        <span aria-current="page">{title}</span>
                    </li>
                </ol>
            </nav>
            <div class="slug__tools">
                <Palette />
                <a class="button button--quiet button--small slug__docs" href="/docs">
                    "Docs"
                </a>
                <ThemeButton />
                <button class="button button--quiet button--icon button--small" type="button" popovertarget="me">
                    <Avatar name=called.clone() />
                    <span class="visually-hidden">{called.clone()} ", your menu"</span>
                </button>
                <div class="menu" id="me" popover>
                    <p class="menu__who">{person.name} <br /> {person.email}</p>
                    <a class="menu__item" href="/dashboard/settings">
                        <Icon glyph=Glyph::Settings />
                        "Settings"
                    </a>
                    {operator
                        .then(|| {
                            view! {
                                <a class="menu__item" href=admin::PATH>
                                    <Icon glyph=Glyph::Pulse />
                                    "Operator area"
                                </a>
                            }
                        })} <ButtonForm outcome=log_out>
                        <button class="menu__item">
                            <Icon glyph=Glyph::Leave />
                            "Log out"
                        </button>
                    </ButtonForm>
                </div>
            </div>
        </header>
    }
}
