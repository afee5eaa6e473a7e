//! The head of the sheet: where one is, and one's own menu.

pub mod api;

use leptos::prelude::*;

use crate::{
    layout::{
        shell::{rail::Entry, slug::api::LogOut},
        theme_button::ThemeButton,
    },
    model::standing::Standing,
    outcome::{Outcome, form::ButtonForm},
    ui::{
        avatar::Avatar,
        icon::{Glyph, Icon},
    },
};

/// Crumbs, and what is at hand everywhere.
#[component]
pub fn Slug(
    /// Who is logged in.
    standing: Standing,
    /// The entry of the rail that the page belongs to.
    current: Entry,
    /// What the page is called.
    title: String,
) -> impl IntoView {
    let log_out = Outcome::of::<LogOut>();
    let person = standing.person;
    let deeper = (title != current.name()).then(|| {
        view! {
            <li>
                <a href=current.path()>{current.name()}</a>
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
                    <li>
                        <a href="/dashboard">{standing.account}</a>
                    </li>
                    {deeper}
                    <li>
                        <span aria-current="page">{title}</span>
                    </li>
                </ol>
            </nav>
            <div class="slug__tools">
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
                    <ButtonForm outcome=log_out>
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
