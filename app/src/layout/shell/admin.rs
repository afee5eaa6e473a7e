//! The frame of every operator page. It looks different, so that no page is mistaken for one of an account.

use leptos::{either::Either, prelude::*};
use leptos_meta::Title;
use platen_domain::{health::process::HealthSummary, number::counted};
use strum::VariantArray;

use crate::{
    backend::redirect,
    error::AppError,
    layout::{
        brand::Brand,
        card::Card,
        page::loaded_or,
        shell::{Bar, rail::RailLink, slug::Slug},
    },
    model::{
        admin::health::headline,
        own_path::{DASHBOARD, SECOND_FACTOR_FIRST},
    },
    pages::not_found::NotFound,
    ui::{
        badge::{Badge, State},
        icon::Glyph,
        live_part::LivePart,
        notice::ErrorNotice,
    },
};

/// Address of the event stream for changes of the service's health.
pub const HEALTH_EVENTS: &str = "/admin/events/health";
/// First page of the operator area.
pub const PATH: &str = "/admin/accounts";

/// An entry of the operators' rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
pub enum AdminEntry {
    Accounts,
    Health,
    /// Failed jobs.
    Jobs,
    Announcements,
    /// The operator audit log.
    Audit,
}

impl AdminEntry {
    pub fn path(self) -> &'static str {
        self.details().1
    }

    /// Returns name, path and icon.
    fn details(self) -> (&'static str, &'static str, Glyph) {
        match self {
            Self::Accounts => ("Accounts", PATH, Glyph::Account),
            Self::Health => ("System health", "/admin/health", Glyph::Pulse),
            Self::Jobs => ("Failed jobs", "/admin/jobs", Glyph::Rotate),
            Self::Announcements => ("Announcements", "/admin/announcements", Glyph::Info),
            Self::Audit => ("Audit log", "/admin/audit", Glyph::Audit),
        }
    }
}

/// A page for operators. Others get a 404 page.
#[component]
pub fn AdminShell(
    /// Title of the document and of the slug.
    #[prop(into)]
    title: String,
    /// The rail entry that is highlighted.
    current: AdminEntry,
    /// The content, with its heading.
    children: Children,
) -> impl IntoView {
    let heading = title.clone();
    let operator = ("Operator".to_owned(), PATH);
    let (name, path, _) = current.details();
    let entry = (title != name).then(|| (name.to_owned(), path));
    let crumbs = [operator].into_iter().chain(entry).collect::<Vec<_>>();
    loaded_or(
        |backend| async move { backend.operator_standing().await },
        move |summary| {
            view! {
                <Title text=title />
                <a class="skip-link" href="#main">
                    "Skip to content"
                </a>
                <div class="shell shell--operator">
                    <Bar />
                    <Rail current health=summary.health />
                    <div class="shell__sheet">
                        <Slug person=summary.person operator=true crumbs title=heading />
                        <main class="shell__content" id="main">
                            {children()}
                        </main>
                    </div>
                </div>
            }
        },
        |error| match error {
            AppError::NotFound => Either::Left(view! { <NotFound /> }),
            error => {
                if error == AppError::SecondFactorFirst {
                    redirect(SECOND_FACTOR_FIRST);
                }
                Either::Right(view! {
                    <Card>
                        <ErrorNotice error />
                    </Card>
                })
            }
        },
    )
}

#[component]
fn Rail(current: AdminEntry, health: Option<HealthSummary>) -> impl IntoView {
    let entries = AdminEntry::VARIANTS.iter().map(|&entry| {
        let (name, path, glyph) = entry.details();
        view! { <RailLink name path glyph is_current=entry == current /> }
    });
    view! {
        <nav class="rail" id="rail" aria-label="Main" popover>
            <Brand class="rail__brand" />
            <div class="stack">
                <div class="rail__group" role="group" aria-labelledby="rail-operator">
                    <p class="rail__heading" id="rail-operator">
                        "Operator"
                    </p>
                    <ul class="rail__list">{entries.collect_view()}</ul>
                </div>
                <div class="rail__group">
                    <ul class="rail__list">
                        <RailLink name="Back to my account" path=DASHBOARD glyph=Glyph::Previous />
                    </ul>
                </div>
            </div>
            {health.map(|health| view! { <Foot health live=current == AdminEntry::Health /> })}
        </nav>
    }
}

/// Health of the service in short. It is updated live only on the health page.
#[component]
fn Foot(health: HealthSummary, live: bool) -> impl IntoView {
    let state = if health.concerns == 0 {
        State::Good
    } else {
        State::Warning
    };
    let processes = format!("{} web · {}", health.web, counted(health.workers, "worker", "workers"));
    view! {
        <div class="rail__foot">
            <LivePart id="health-in-short" events=live.then(|| HEALTH_EVENTS.to_owned())>
                <p>
                    <Badge state>{headline(health.concerns)}</Badge>
                </p>
                <p>{processes} <br /> "Release " {env!("CARGO_PKG_VERSION")}</p>
            </LivePart>
        </div>
    }
}
