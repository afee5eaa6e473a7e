//! `/admin/announcements`: announcements to all users of the dashboard.

pub mod api;

use leptos::{either::Either, prelude::*};
use platen_domain::{
    announcement::{Announcement, Level, Turn},
    number::counted,
};
use time::OffsetDateTime;

use crate::{
    layout::{
        page::{PageHead, Section, loaded},
        shell::{
            admin::{AdminEntry, AdminShell},
            announcements::more,
        },
    },
    model::rejection::Field,
    outcome::{Done, FormField, Outcome, OutcomeErrors, PageForm, RowButton},
    pages::admin::announcements::api::{Announce, EndAnnouncement},
    ui::{
        badge::{Badge, State},
        button::{Rank, SubmitButton},
        moment::Stamp,
        segmented::Segmented,
        table::{Column, Table},
        text_area::TextArea,
    },
};

const COLUMNS: &[Column] = &[
    Column::text("Announcement"),
    Column::text("Start, UTC").from_medium(),
    Column::text("End, UTC").from_medium(),
    Column::ACTIONS,
];

/// The page of announcements.
#[component]
pub fn Announcements() -> impl IntoView {
    view! {
        <AdminShell title="Announcements" current=AdminEntry::Announcements>
            {loaded(
                |backend| async move { backend.announcements().await },
                |(announcements, now)| view! { <Content announcements now /> },
            )}
        </AdminShell>
    }
}

fn done(word: &str) -> Option<&'static str> {
    match word {
        "announced" => Some("Announcement published. Every dashboard shows it from its start to its end."),
        "ended" => Some("Announcement ended. Dashboards no longer show it."),
        _ => None,
    }
}

#[component]
fn Content(announcements: Vec<Announcement>, now: OffsetDateTime) -> impl IntoView {
    let of = |turn: Turn| -> Vec<_> {
        let of_turn = announcements.iter().filter(|listed| listed.turn(now) == turn);
        of_turn.cloned().collect()
    };
    let refused = Outcome::of::<EndAnnouncement>();
    let (current, coming, past) = (of(Turn::Current), of(Turn::Coming), of(Turn::Past));
    view! {
        <PageHead
            title="Announcements"
            lede="Shown at the top of every dashboard, in all accounts, until a user hides it."
        />
        <Done about=done />
        <OutcomeErrors outcome=refused />
        <Section heading="Current">
            <List announcements=current now nothing="No current announcements." />
        </Section>
        {(!coming.is_empty())
            .then(|| {
                view! {
                    <Section heading="Scheduled">
                        <List announcements=coming now nothing="" />
                    </Section>
                }
            })}
        <Section
            heading="New announcement"
            note="Announcements can’t be edited. To change one, end it and publish another."
        >
            <NewAnnouncement />
        </Section>
        {(!past.is_empty())
            .then(|| {
                view! {
                    <Section heading="Past">
                        <List announcements=past now nothing="" />
                    </Section>
                }
            })}
    }
}

#[component]
fn NewAnnouncement() -> impl IntoView {
    let outcome = Outcome::of::<Announce>();
    let levels = vec![
        (Level::Information.into_str(), "Information"),
        (Level::Warning.into_str(), "Warning"),
    ];
    view! {
        <PageForm outcome class="stack">
            <TextArea
                name=Field::AnnouncementWords.into_str()
                label="Text"
                hint="Plain text of 1 to 500 characters. Say what happens, when, and what users have to do."
                value=outcome.typed(Field::AnnouncementWords)
                problem=outcome.problem(Field::AnnouncementWords)
            />
            <Segmented
                name=Field::Level.into_str()
                legend="Level"
                options=levels
                chosen=outcome.typed_or(Field::Level, Level::Information.into_str())
            />
            <div class="fields fields--2">
                <FormField
                    outcome
                    field=Field::LinkAddress
                    label="Link"
                    kind="url"
                    hint="HTTPS address of a page with details."
                    optional=true
                />
                <FormField
                    outcome
                    field=Field::LinkWords
                    label="Link text"
                    hint="For example, Status page."
                    optional=true
                />
                <FormField
                    outcome
                    field=Field::StartsAt
                    label="Start, UTC"
                    kind="datetime-local"
                    hint="Leave empty to start now."
                    optional=true
                />
                <FormField
                    outcome
                    field=Field::EndsAt
                    label="End, UTC"
                    kind="datetime-local"
                    hint="Leave empty to show it until you end it."
                    optional=true
                />
            </div>
            <div class="cluster">
                <SubmitButton rank=Rank::Primary>"Publish announcement"</SubmitButton>
            </div>
        </PageForm>
    }
}

#[component]
fn List(announcements: Vec<Announcement>, now: OffsetDateTime, nothing: &'static str) -> impl IntoView {
    let rows = announcements
        .into_iter()
        .map(move |listed| view! { <Row listed now /> });
    view! { <Table caption="Announcements" columns=COLUMNS nothing rows /> }
}

#[component]
fn Row(listed: Announcement, now: OffsetDateTime) -> impl IntoView {
    let (state, level) = match listed.level {
        Level::Information => (State::Open, "Information"),
        Level::Warning => (State::Warning, "Warning"),
    };
    let ends_at = listed.ends_at;
    let until = match ends_at {
        Some(at) => Either::Left(view! { <Stamp at /> }),
        None => Either::Right("no end"),
    };
    let starts_at = listed.starts_at;
    let hidden = counted(listed.hidden_by, "user", "users");
    let end = Outcome::about::<EndAnnouncement>(&listed.id.to_string());
    view! {
        <tr>
            <td>
                <span class="break">{listed.words.clone()} {more(&listed)}</span>
                <span class="table__sub">
                    <Badge state>{level}</Badge>
                    {format!(", hidden by {hidden}")}
                </span>
                <span class="table__sub table__narrow">
                    "From " <Stamp at=starts_at />
                    {ends_at.map(|at| view! { ", until " <Stamp at /> })} ", UTC"
                </span>
            </td>
            <td class="table__medium table__tight">
                <Stamp at=starts_at />
            </td>
            <td class="table__medium table__tight">{until}</td>
            <td class="table__actions">
                {(listed.turn(now) != Turn::Past)
                    .then(|| {
                        view! {
                            <RowButton outcome=end words="End now" of=format!(": {}", listed.words) />
                        }
                    })}
            </td>
        </tr>
    }
}
