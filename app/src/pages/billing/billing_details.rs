//! Credit packs, invoices and billing details.

use leptos::{either::Either, prelude::*};
use platen_domain::number::grouped;

use crate::{
    layout::page::Section,
    model::payment::{BillingDetails, Invoice, InvoiceState, PackOffer},
    outcome::{ButtonForm, Outcome, OutcomeErrors, RowButton},
    pages::billing::api::{BuyCredits, OpenPortal},
    ui::{
        badge::{Badge, State},
        button::{Size, SubmitButton},
        icon::{Glyph, Icon},
        moment::Day,
        notice::WarningNotice,
        table::{Column, Table},
    },
};

const PACK_COLUMNS: &[Column] = &[Column::text("Credits"), Column::figure("Price"), Column::ACTIONS];
const INVOICE_COLUMNS: &[Column] = &[
    Column::text("Number"),
    Column::text("Date").from_medium(),
    Column::text("Status"),
    Column::figure("Amount"),
    Column::ACTIONS,
];

/// Credit packs, which are bought once.
#[component]
pub fn PackSection(
    /// Smallest first. Nothing is shown if there are none.
    packs: Vec<PackOffer>,
) -> impl IntoView {
    if packs.is_empty() {
        return None;
    }
    // The forms of the rows have no room for errors.
    let outcome = Outcome::of::<BuyCredits>();
    let rows = packs.into_iter().map(|pack| {
        let buy = Outcome::about::<BuyCredits>(&pack.product);
        view! {
            <tr>
                <th scope="row">{grouped(pack.credits)} " credits"</th>
                <td class="table__figure">{pack.price.to_string()}</td>
                <td class="table__actions">
                    <RowButton outcome=buy words="Buy" of=format!(" {} credits", grouped(pack.credits)) />
                </td>
            </tr>
        }
    });
    Some(view! {
        <Section heading="More credits" note="Used after the credits of the plan. They don’t expire.">
            <OutcomeErrors outcome />
            <Table caption="Credit packs" columns=PACK_COLUMNS rows />
        </Section>
    })
}

/// Invoices and billing details, or a notice if Stripe doesn't respond.
#[component]
pub fn BillingDetailsSections(
    /// Invoices, card and billing details.
    billing_details: BillingDetails,
) -> impl IntoView {
    let portal = Outcome::of::<OpenPortal>();
    let (invoices, card, pairs) = match billing_details {
        BillingDetails::Unknown => {
            return Either::Left(view! {
                <WarningNotice>"Stripe is not responding, so card and invoices can’t be shown. Reload the page in a few minutes."</WarningNotice>
            });
        }
        BillingDetails::Known {
            invoices,
            card,
            name,
            email,
        } => (invoices, card, [("Billed to", name), ("Email", email)]),
    };
    let pairs = pairs.into_iter().filter_map(|(term, value)| {
        let value = value?;
        Some(view! {
            <dt>{term}</dt>
            <dd class="break">{value}</dd>
        })
    });
    let card = card.map(|(words, expires)| {
        view! {
            <div class="card-line">
                <div>
                    <p>
                        <b>{words}</b>
                    </p>
                    {expires.map(|expires| view! { <p class="quiet small">{expires}</p> })}
                </div>
            </div>
        }
    });
    Either::Right(view! {
        <div class="grid grid--main-side">
            <Section heading="Invoices">
                <InvoiceTable invoices />
            </Section>
            <Section heading="Payment">
                <div class="stack">
                    <OutcomeErrors outcome=portal />
                    {card}
                    <ButtonForm outcome=portal>
                        <SubmitButton size=Size::Small>"Change at Stripe" <Icon glyph=Glyph::Leave /></SubmitButton>
                    </ButtonForm>
                    <dl class="pairs">{pairs.collect_view()}</dl>
                </div>
            </Section>
        </div>
    })
}

/// Table of invoices, with links to Stripe.
#[component]
pub fn InvoiceTable(
    /// Newest first.
    invoices: Vec<Invoice>,
) -> impl IntoView {
    if invoices.is_empty() {
        return Either::Left(view! { <p class="small quiet">"No invoices yet."</p> });
    }
    let rows: Vec<_> = invoices.into_iter().map(row).collect();
    Either::Right(view! { <Table caption="Invoices" columns=INVOICE_COLUMNS rows /> })
}

fn row(invoice: Invoice) -> impl IntoView {
    let (state, word) = match invoice.state {
        InvoiceState::Paid => (State::Good, "Paid"),
        InvoiceState::Open => (State::Warning, "Unpaid"),
        InvoiceState::Void => (State::Struck, "Void"),
    };
    let link = match invoice.state {
        InvoiceState::Open => invoice.page.map(|page| (page, "Pay")),
        InvoiceState::Paid | InvoiceState::Void => invoice.pdf.map(|pdf| (pdf, "PDF")),
    };
    let number = invoice.number.clone();
    let link = link.map(|(href, word)| {
        view! {
            <a class="button button--quiet button--small" href=href>
                {word}
                <span class="visually-hidden">{format!(" of {number}")}</span>
            </a>
        }
    });
    view! {
        <tr>
            <th scope="row">{invoice.number}</th>
            <td class="table__medium">
                <Day at=invoice.at />
            </td>
            <td>
                <Badge state>{word}</Badge>
            </td>
            <td class="table__figure">{invoice.total.to_string()}</td>
            <td class="table__actions">{link}</td>
        </tr>
    }
}
