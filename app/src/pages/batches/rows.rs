//! Tables of rows of a batch.

use leptos::{either::Either, prelude::*};
use platen_domain::batch::RowState;

use crate::{
    model::{batch::ListedRow, render::short_id},
    pages::renders,
    ui::{
        badge::{Badge, State},
        table::{Column, Table},
    },
};

const FAILED_COLUMNS: &[Column] = &[Column::tight("Row"), Column::text("Error"), Column::text("Render")];
const FIRST_COLUMNS: &[Column] = &[Column::tight("Row"), Column::text("Status"), Column::text("Render")];

/// The first failed rows.
#[component]
pub fn FailedRows(rows: Vec<ListedRow>) -> impl IntoView {
    let rows = rows.into_iter().map(|row| {
        view! {
            <tr data-key=row.number.to_string()>
                <th scope="row" class="table__tight">
                    {row.number}
                </th>
                <td class="break">{row.error.clone()}</td>
                <td>{render(&row)}</td>
            </tr>
        }
    });
    view! { <Table caption="Failed rows" columns=FAILED_COLUMNS rows /> }
}

/// The first rows.
#[component]
pub fn FirstRows(rows: Vec<ListedRow>) -> impl IntoView {
    let rows = rows.into_iter().map(|row| {
        let (state, name) = match row.state {
            RowState::Opened => (State::Busy, "In progress"),
            RowState::Again => (State::Open, "Waiting for its retry"),
            RowState::Succeeded => (State::Good, "Succeeded"),
            RowState::Failed => (State::Bad, "Failed"),
        };
        view! {
            <tr data-key=row.number.to_string()>
                <th scope="row" class="table__tight">
                    {row.number}
                </th>
                <td>
                    <Badge state>{name}</Badge>
                </td>
                <td>{render(&row)}</td>
            </tr>
        }
    });
    view! { <Table caption="First rows" columns=FIRST_COLUMNS rows /> }
}

/// Returns a link to the render of a row.
fn render(row: &ListedRow) -> impl IntoView + use<> {
    let number = row.number;
    match row.render {
        Some(id) => Either::Left(view! {
            <a class="mono" href=format!("{}/{id}", renders::PATH)>
                <span class="visually-hidden">{format!("Row {number}: ")}</span>
                {short_id(&id.to_string())}
            </a>
        }),
        None => Either::Right("–"),
    }
}
