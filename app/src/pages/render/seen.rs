//! Network requests and console messages of the pages of a render.

use leptos::prelude::*;
use platen_domain::{
    number::{counted, duration, size},
    render::detail::{Message, Request, RequestOutcome},
};

use crate::{
    layout::page::Section,
    ui::{
        badge::{Badge, State},
        table::{Column, Table},
    },
};

const REQUEST_COLUMNS: &[Column] = &[
    Column::text("Address"),
    Column::text("Type").from_medium(),
    Column::text("Status"),
    Column::figure("Size").from_medium(),
    Column::figure("Duration"),
];
const MESSAGE_COLUMNS: &[Column] = &[Column::tight("Level"), Column::text("Message")];

/// Table of network requests, including refused ones.
#[component]
pub fn Network(
    /// Requests, in the order of the rows.
    requests: Vec<Request>,
    /// Number of parts of the render.
    parts: usize,
) -> impl IntoView {
    let refused = requests
        .iter()
        .filter(|request| matches!(request.outcome, RequestOutcome::Refused(_)));
    let refused = refused.count();
    let note = counted(requests.len(), "request", "requests");
    let note = if refused > 0 {
        format!("{note}, {refused} refused")
    } else {
        note
    };
    let rows = requests.into_iter().map(move |request| request_row(request, parts));
    view! {
        <Section heading="Network" note id="network">
            <Table
                caption="Network requests of the page"
                columns=REQUEST_COLUMNS
                dense=true
                nothing="No network requests."
                rows
            />
        </Section>
    }
}

fn request_row(request: Request, parts: usize) -> impl IntoView {
    let (state, word, why) = match request.outcome {
        RequestOutcome::Answered(status @ 200..=399) => (State::Good, status.to_string(), None),
        RequestOutcome::Answered(status) => (State::Bad, status.to_string(), None),
        RequestOutcome::Refused(why) => (State::Struck, "refused".to_owned(), Some(why)),
        RequestOutcome::Failed(why) => (State::Bad, "failed".to_owned(), Some(why)),
        RequestOutcome::Open => (State::Open, "unfinished".to_owned(), None),
    };
    view! {
        <tr>
            <th scope="row">
                <code class="break">{request.url}</code>
                {(parts > 1).then(|| view! { <span class="table__sub">{format!("part {}", request.part)}</span> })}
            </th>
            <td class="table__medium">{request.kind.unwrap_or_else(|| "–".to_owned())}</td>
            <td>
                <Badge state>{word}</Badge>
                {why.map(|why| view! { <span class="table__sub break">{why}</span> })}
            </td>
            <td class="table__figure table__medium">{request.bytes.map_or_else(|| "–".to_owned(), size)}</td>
            <td class="table__figure">{request.took_ms.map_or_else(|| "–".to_owned(), duration)}</td>
        </tr>
    }
}

/// Table of console messages. Their content is untrusted, and shown as text, never as markup.
#[component]
pub fn Console(
    /// Messages, in the order of the rows.
    messages: Vec<Message>,
    /// Number of parts of the render.
    parts: usize,
    /// Whether the account stores content.
    keeps: bool,
) -> impl IntoView {
    let note = counted(messages.len(), "message", "messages");
    let nothing = if keeps {
        "No console messages."
    } else {
        "This account doesn’t store console messages."
    };
    let rows = messages.into_iter().map(move |message| message_row(message, parts));
    view! {
        <Section heading="Console" note>
            <Table caption="Console messages" columns=MESSAGE_COLUMNS dense=true nothing rows />
        </Section>
    }
}

fn message_row(message: Message, parts: usize) -> impl IntoView {
    let state = match message.level.as_str() {
        "error" => State::Bad,
        "warn" => State::Warning,
        _ => State::Open,
    };
    let level = if message.level == "warn" {
        "warning".to_owned()
    } else {
        message.level
    };
    view! {
        <tr>
            <th scope="row" class="table__tight">
                <Badge state>{level}</Badge>
            </th>
            <td>
                <code class="break">{message.text}</code>
                {(parts > 1).then(|| view! { <span class="table__sub">{format!("part {}", message.part)}</span> })}
            </td>
        </tr>
    }
}
