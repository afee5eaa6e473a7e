//! Sessions of the user.

use leptos::prelude::*;
use platen_domain::client::{self, ListedSession};
use time::OffsetDateTime;

use crate::{
    layout::page::{Section, SectionKind},
    outcome::{ButtonForm, Outcome, OutcomeErrors, RowButton},
    pages::settings::api::{EndOtherSessions, EndSession},
    ui::{
        button::{Rank, Size, SubmitButton},
        moment::{Ago, Moment},
        table::{Column, Table},
    },
};

const COLUMNS: &[Column] = &[
    Column::text("Device"),
    Column::text("Address").from_medium(),
    Column::text("Since").from_medium(),
    Column::text("Last used").from_medium(),
    Column::ACTIONS,
];

/// Table of sessions, with buttons that end them.
#[component]
pub fn SessionsSection(
    /// Newest first.
    sessions: Vec<ListedSession>,
    /// The current time.
    now: OffsetDateTime,
) -> impl IntoView {
    let end = Outcome::of::<EndSession>();
    let end_others = Outcome::of::<EndOtherSessions>();
    let others = sessions.iter().any(|session| !session.current);
    let rows = sessions.into_iter().map(move |session| view! { <Row session now /> });
    view! {
        <Section heading="Sessions" kind=SectionKind::Hanging>
            <OutcomeErrors outcome=end />
            <OutcomeErrors outcome=end_others />
            <Table caption="Sessions" columns=COLUMNS rows />
            {others
                .then(|| {
                    view! {
                        <div class="form-foot">
                            <ButtonForm outcome=end_others>
                                <SubmitButton size=Size::Small>"Log out everywhere else"</SubmitButton>
                            </ButtonForm>
                        </div>
                    }
                })}
        </Section>
    }
}

#[component]
fn Row(session: ListedSession, now: OffsetDateTime) -> impl IntoView {
    let outcome = Outcome::about::<EndSession>(&session.id.to_string());
    let (device, address) = (client::device(&session.user_agent), session.address.to_string());
    let end = (!session.current).then(|| {
        view! {
            <RowButton outcome rank=Rank::Quiet words="Log out" of=format!(" {device} at {address}") />
        }
    });
    view! {
        <tr>
            <th scope="row">
                {device}
                {session.current.then(|| view! { <span class="table__sub">"this session"</span> })}
                <span class="table__sub table__narrow">{address.clone()}</span>
            </th>
            <td class="table__medium">{address}</td>
            <td class="table__medium">
                <Moment at=session.since />
            </td>
            <td class="table__medium">
                <Ago at=session.seen now />
            </td>
            <td class="table__actions">{end}</td>
        </tr>
    }
}
