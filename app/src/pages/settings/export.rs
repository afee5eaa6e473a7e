//! Exports of all data of an account, for its owner.

use leptos::prelude::*;
use platen_domain::{
    export::{Export, ExportState, LIFETIME},
    number::size,
};

use crate::{
    layout::page::{Section, SectionKind},
    outcome::{ButtonForm, Outcome, OutcomeErrors},
    pages::settings::api::RequestExport,
    ui::{
        badge::{Badge, State},
        button::SubmitButton,
        moment::Moment,
        table::{Column, Table},
    },
};

const COLUMNS: &[Column] = &[
    Column::text("Requested"),
    Column::text("Status"),
    Column::text("Deleted").from_medium(),
    Column::ACTIONS,
];

/// Section that starts exports, and lists them for download.
#[component]
pub fn ExportSection(
    /// Newest first.
    exports: Vec<Export>,
) -> impl IntoView {
    let outcome = Outcome::of::<RequestExport>();
    let under_way = exports.iter().any(|export| export.state == ExportState::Waiting);
    let list = (!exports.is_empty()).then(|| {
        let rows = exports.into_iter().map(|export| view! { <Row export /> });
        view! { <Table caption="Exports" columns=COLUMNS rows /> }
    });
    let ask = (!under_way).then(|| {
        view! {
            <ButtonForm outcome>
                <SubmitButton>"Create export"</SubmitButton>
            </ButtonForm>
        }
    });
    view! {
        <Section heading="Export" note="Owners only" id="export" kind=SectionKind::Hanging>
            <div class="stack">
                <OutcomeErrors outcome />
                <p class="small">
                    "One file with the data of the account: templates with all versions, renders, usage, members, and the latest documents in default storage. It contains no secrets or credentials. We’ll email you when it is ready, and delete it after seven days."
                </p>
                {list}
                {ask}
            </div>
        </Section>
    }
}

#[component]
fn Row(export: Export) -> impl IntoView {
    let (state, word, fetch) = match export.state {
        ExportState::Waiting => (State::Busy, "In progress", None),
        ExportState::Failed => (State::Bad, "Failed", None),
        ExportState::Ready => {
            let href = format!("/dashboard/exports/{}", export.id);
            let link = view! {
                <a href=href download>
                    "Download, " {size(export.bytes.unwrap_or_default())}
                </a>
            };
            (State::Good, "Ready", Some(link))
        }
    };
    view! {
        <tr>
            <th scope="row">
                <Moment at=export.inserted_at />
            </th>
            <td>
                <Badge state>{word}</Badge>
            </td>
            <td class="table__medium">
                <Moment at=export.inserted_at + LIFETIME />
            </td>
            <td class="table__actions">{fetch}</td>
        </tr>
    }
}
