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
    Column::text("From, UTC").from_medium(),
    Column::text("Until, UTC").from_medium(),
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
        "announced" => Some("Announced. It stands at the head of every dashboard while its time lasts."),
        "ended" => Some("Ended. Nobody sees it any more."),
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
            lede="What everybody reads at the head of their dashboard, in every account, until they hide it."
        />
        <Done about=done />
        <OutcomeErrors outcome=refused />
        <Section heading="Now">
            <List announcements=current now nothing="Nothing is announced now." />
        </Section>
        {(!coming.is_empty())
            .then(|| {
                view! {
                    <Section heading="Later">
                        <List announcements=coming now nothing="" />
                    </Section>
                }
            })}
        <Section heading="New announcement" note="It can't be changed afterwards: end it, and make another.">
            <NewAnnouncement />
        </Section>
        {(!past.is_empty())
            .then(|| {
                view! {
                    <Section heading="Before">
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
                label="Words"
                hint="Plain text of 1 to 500 characters: what happens, when, and what to do."
                value=outcome.typed(Field::AnnouncementWords)
                problem=outcome.problem(Field::AnnouncementWords)
                prose=true
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
                    hint="The https address of a page with more."
                    optional=true
                />
                <FormField
                    outcome
                    field=Field::LinkWords
                    label="What the link says"
                    hint="Such as: Status page."
                    optional=true
                />
                <FormField
                    outcome
                    field=Field::StartsAt
                    label="From, UTC"
                    kind="datetime-local"
                    hint="Empty: from now on."
                    optional=true
                />
                <FormField
                    outcome
                    field=Field::EndsAt
                    label="Until, UTC"
                    kind="datetime-local"
                    hint="Empty: until you end it."
                    optional=true
                />
            </div>
            <div class="cluster">
                <SubmitButton rank=Rank::Primary>"Announce"</SubmitButton>
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
    let hidden = counted(listed.hidden_by, "person", "people");
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
