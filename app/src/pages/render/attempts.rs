//! Attempts of a webhook delivery.

use leptos::prelude::*;
use platen_domain::{callback::Attempt, number::duration};

use crate::ui::{
    badge::{Badge, State},
    moment::Stamp,
    table::{Column, Table},
};

const COLUMNS: &[Column] = &[
    Column::text("Attempt, UTC"),
    Column::text("Response"),
    Column::figure("Duration"),
];

/// Table of attempts.
#[component]
pub fn Attempts(
    /// Oldest first.
    attempts: Vec<Attempt>,
) -> impl IntoView {
    let rows = attempts.into_iter().zip(1..).map(|(attempt, number): (_, usize)| {
        let state = if attempt.was_received() {
            State::Good
        } else {
            State::Bad
        };
        let status = attempt
            .status
            .map_or_else(|| "no response".to_owned(), |status| status.to_string());
        let why = attempt
            .error
            .or(Some(attempt.answer).filter(|answer| !answer.trim().is_empty()));
        view! {
            <tr>
                <th scope="row">{format!("{number}, ")} <Stamp at=attempt.inserted_at /></th>
                <td>
                    <Badge state>{status}</Badge>
                    {why.map(|why| view! { <span class="table__sub break">{why}</span> })}
                </td>
                <td class="table__figure">{duration(attempt.duration_ms.into())}</td>
            </tr>
        }
    });
    view! { <Table caption="Delivery attempts, in UTC" columns=COLUMNS rows /> }
}
