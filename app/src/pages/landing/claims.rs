//! Claims about Platen, each with an example.

use leptos::prelude::*;

use crate::ui::{
    badge::{Badge, State},
    table::{Column, Table},
};

const PART_COLUMNS: &[Column] = &[
    Column::text("Part"),
    Column::text("Source").from_medium(),
    Column::figure("Pages"),
];
const CONTENT_COLUMNS: &[Column] = &[
    Column::text("In the file"),
    Column::text("From your page"),
    Column::text("Added by Platen"),
];
const ATTEMPT_COLUMNS: &[Column] = &[
    Column::text("Attempt"),
    Column::text("Sent"),
    Column::text("Response"),
    Column::figure("Duration"),
];
const REQUEST_COLUMNS: &[Column] = &[Column::text("Address"), Column::tight("Status")];

/// All claims.
#[component]
pub fn Claims() -> impl IntoView {
    (one_document(), archival(), not_lost(), closed())
}

fn one_document() -> impl IntoView {
    let code = |source: &'static str| view! { <code>{source}</code> }.into_any();
    let rows = [
        ("Cover", code("<h1>Annual report</h1>"), "1"),
        ("Report", code("https://harbourfinch.example/report"), "2–9"),
        ("Terms", "template, with the client’s name".into_any(), "10–11"),
    ];
    let rows = rows.into_iter().map(|(part, source, pages)| {
        view! {
            <tr>
                <th scope="row">{part}</th>
                <td class="table__medium">{source}</td>
                <td class="table__figure">{pages}</td>
            </tr>
        }
    });
    view! {
        <Claim
            title="One document from many parts"
            text="Up to 50 parts become one file. Page numbers continue from part to part, and the outline, links and \
                  tags of every part are preserved."
        >
            {pages_in_a_row()}
            <Table caption="Parts of the document and their pages" columns=PART_COLUMNS rows />
        </Claim>
    }
}

fn archival() -> impl IntoView {
    let rows = [
        ("Text and fonts", "embedded, selectable", "–"),
        ("Outline, links, tags", "preserved", "–"),
        ("Colour", "as designed", "sRGB output intent"),
        ("Metadata", "title, language", "XMP, PDF/A identifier"),
    ];
    let rows = rows.into_iter().map(|(content, kept, added)| {
        view! {
            <tr>
                <th scope="row">{content}</th>
                <td>{kept}</td>
                <td>{added}</td>
            </tr>
        }
    });
    view! {
        <Claim
            title="Archival by default"
            text="The printed PDF is completed in place, so text stays text, images stay sharp and tags are kept. Content \
                  that can’t conform is reported in a warning; nothing is dropped silently."
        >
            <Table caption="Content of a document" columns=CONTENT_COLUMNS rows />
        </Claim>
    }
}

fn not_lost() -> impl IntoView {
    let rows = [
        ("1", "02:14:07 UTC", State::Bad, "503", "41 ms"),
        ("2", "02:14:38 UTC", State::Bad, "no response", "10.0 s"),
        ("3", "02:19:41 UTC", State::Good, "200", "84 ms"),
    ];
    let rows = rows.into_iter().map(|(attempt, sent, state, answer, took)| {
        view! {
            <tr>
                <th scope="row">{attempt}</th>
                <td>{sent}</td>
                <td>
                    <Badge state>{answer}</Badge>
                </td>
                <td class="table__figure">{took}</td>
            </tr>
        }
    });
    view! {
        <Claim
            title="Accepted renders are never lost"
            text="Queue 50,000 invoices at the end of the month. Each is rendered once, charged once and reported once, by a \
                  signed webhook that is retried for a day."
        >
            <Table caption="Webhook attempts of one render" columns=ATTEMPT_COLUMNS rows />
        </Claim>
    }
}

fn closed() -> impl IntoView {
    let rows = [
        ("fonts.harbourfinch.example/text.woff2", State::Good, "200, 31 KB"),
        ("169.254.169.254/latest/meta-data", State::Struck, "refused: not public"),
        ("file:///etc/hosts", State::Struck, "refused: scheme"),
    ];
    let rows = rows.into_iter().map(|(address, state, outcome)| {
        view! {
            <tr>
                <th scope="row">
                    <code class="break">{address}</code>
                </th>
                <td class="table__tight">
                    <Badge state>{outcome}</Badge>
                </td>
            </tr>
        }
    });
    view! {
        <Claim
            title="Secure by default"
            text="The browser is sandboxed. Every request of a page passes one guard, which refuses private addresses, also after \
                  a redirect. No two accounts share a browser context."
        >
            <Table caption="Requests of one page" columns=REQUEST_COLUMNS rows />
        </Claim>
    }
}

/// A claim on the left, its example on the right.
#[component]
fn Claim(
    /// In a few words.
    title: &'static str,
    /// In two sentences.
    text: &'static str,
    /// The example.
    children: Children,
) -> impl IntoView {
    view! {
        <section class="claim">
            <div>
                <h2 class="claim__title">{title}</h2>
                <p class="claim__text">{text}</p>
            </div>
            <div>{children()}</div>
        </section>
    }
}

/// The pages of one document, coloured by part.
fn pages_in_a_row() -> impl IntoView {
    const PAGES: u32 = 11;
    let pages = (1..=PAGES)
        .map(|number| {
            let part = match number {
                1 => "a",
                10.. => "c",
                _ => "b",
            };
            let left = f64::from(number - 1) * 100.0 / f64::from(PAGES);
            view! {
                <rect class=format!("claim__page claim__page--{part}") x=format!("{left:.2}%") width="8.2%" height="36" />
                <text class="chart__label chart__label--middle" x=format!("{:.2}%", left + 4.1) y="52" font-size="12">
                    {number}
                </text>
            }
        })
        .collect_view();
    view! {
        <svg
            class="claim__run"
            role="img"
            aria-label="Eleven pages in a row: page 1 from the cover, pages 2 to 9 from the report, pages 10 and 11 from the terms"
        >
            {pages}
        </svg>
    }
}
