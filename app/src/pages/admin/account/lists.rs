//! Short lists of an account's credit periods, members, keys, renders, invoices and audit events.

use leptos::prelude::*;
use platen_domain::{
    account_directory::AccountPeriod,
    api_key::ApiKey,
    audit_log::AuditRow,
    number::{duration, grouped},
    render::{history::RenderMode, log::LoggedRender},
    team::Member,
};
use time::OffsetDateTime;

use crate::{
    layout::{page::Section, shell::admin::AdminEntry},
    model::{payment::Invoice, render::short_id},
    pages::{billing::billing_details::InvoiceTable, render::badge::StateBadge},
    ui::{
        badge::{Badge, State},
        moment::{Day, Moment, ago_or},
        table::{Column, Table},
    },
};

const PERIOD_COLUMNS: &[Column] = &[Column::text("From"), Column::text("Credits"), Column::figure("Used")];
const MEMBER_COLUMNS: &[Column] = &[Column::text("Name"), Column::text("Role"), Column::text("Last seen")];
const KEY_COLUMNS: &[Column] = &[Column::text("Name"), Column::text("Last used"), Column::text("Status")];
const RENDER_COLUMNS: &[Column] = &[
    Column::text("Render"),
    Column::text("Status"),
    Column::text("Execution").from_medium(),
    Column::figure("Pages").from_medium(),
    Column::figure("Credits").from_medium(),
    Column::figure("Duration"),
    Column::text("Accepted").from_medium(),
];
const AUDIT_COLUMNS: &[Column] = &[
    Column::text("Time"),
    Column::text("Actor"),
    Column::text("Event"),
    Column::text("Reason").from_medium(),
];

/// A section with a table, or with the text `nothing` if there are no rows.
#[component]
fn ListSection<R>(
    heading: &'static str,
    #[prop(optional)] note: &'static str,
    #[prop(optional)] beside: Option<AnyView>,
    caption: &'static str,
    columns: &'static [Column],
    #[prop(optional)] nothing: &'static str,
    rows: R,
) -> impl IntoView
where
    R: IntoIterator<Item: IntoView + 'static> + Send + 'static,
{
    view! {
        <Section heading note nostrip:beside=beside>
            <Table caption columns nothing rows />
        </Section>
    }
}

/// Credit periods of the account.
#[component]
pub fn PeriodSection(
    /// Newest first.
    periods: Vec<AccountPeriod>,
) -> impl IntoView {
    let rows = periods.into_iter().map(|period| {
        let parts = [
            (period.allowance, "from the plan"),
            (period.granted, "granted"),
            (period.bought, "without expiry"),
            (period.overage_used, "of overage"),
        ];
        let parts = parts.into_iter().filter(|(credits, _)| *credits > 0);
        let parts = parts
            .map(|(credits, from)| format!("{} {from}", grouped(credits)))
            .collect::<Vec<_>>();
        view! {
            <tr>
                <th scope="row" class="table__tight">
                    <Day at=period.starts_at />
                </th>
                <td>{parts.join(", ")}</td>
                <td class="table__figure">{grouped(period.used)}</td>
            </tr>
        }
    });
    view! {
        <ListSection
            heading="Credits"
            note="newest first"
            caption="Credits by period"
            columns=PERIOD_COLUMNS
            rows
        />
    }
}

/// Members of the account.
#[component]
pub fn MemberSection(
    /// The owner first.
    members: Vec<Member>,
    /// The current time.
    now: OffsetDateTime,
) -> impl IntoView {
    let rows = members.into_iter().map(move |member| {
        let called = member.called().to_owned();
        let named = called != member.email;
        view! {
            <tr>
                <th scope="row">
                    <span class="break">{called}</span>
                    {named.then(|| view! { <span class="table__sub break">{member.email}</span> })}
                </th>
                <td>{member.role.to_string()}</td>
                <td>{ago_or(member.seen_at, now, "never")}</td>
            </tr>
        }
    });
    view! {
        <ListSection
            heading="Members"
            caption="Members"
            columns=MEMBER_COLUMNS
            rows
        />
    }
}

/// API keys of the account.
#[component]
pub fn KeySection(
    /// Newest first.
    keys: Vec<ApiKey>,
    /// The current time.
    now: OffsetDateTime,
) -> impl IntoView {
    let rows = keys.into_iter().map(move |key| {
        let in_use = key.state(now).is_good();
        let state = if in_use {
            view! { <Badge state=State::Good>"Active"</Badge> }
        } else {
            view! { <Badge state=State::Struck>"Ended"</Badge> }
        };
        view! {
            <tr class=(!in_use).then_some("table__row--faint")>
                <th scope="row">
                    <span class="break">{key.name}</span>
                    {(!key.livemode).then(|| view! { <span class="tag tag--test">"Test"</span> })}
                    <span class="table__sub">
                        <code>{key.hint} "…"</code>
                    </span>
                </th>
                <td>{ago_or(key.last_used_at, now, "never")}</td>
                <td>{state}</td>
            </tr>
        }
    });
    view! {
        <ListSection
            heading="API keys"
            caption="API keys"
            columns=KEY_COLUMNS
            nothing="No API keys."
            rows
        />
    }
}

/// Latest renders of the account, without their content.
#[component]
pub fn RenderSection(
    /// Newest first.
    renders: Vec<LoggedRender>,
) -> impl IntoView {
    let rows = renders.into_iter().filter_map(|render| {
        // Another release may have recorded a status or mode that is unknown here.
        let (state, mode) = (render.state.parse().ok()?, render.mode.parse::<RenderMode>().ok()?);
        let id = render.id.to_string();
        let took = render
            .finished_at
            .map(|end| duration((end - render.inserted_at).as_seconds_f64() * 1000.0));
        Some(view! {
            <tr>
                <th scope="row">
                    <code title=id.clone()>{short_id(&id)}</code>
                </th>
                <td>
                    <StateBadge state />
                </td>
                <td class="table__medium">{mode.name()}</td>
                <td class="table__figure table__medium">{render.page_count}</td>
                <td class="table__figure table__medium">{render.credits}</td>
                <td class="table__figure">{took}</td>
                <td class="table__medium table__tight">
                    <Moment at=render.inserted_at />
                </td>
            </tr>
        })
    });
    view! {
        <ListSection
            heading="Latest renders"
            note="content is hidden"
            caption="Latest renders"
            columns=RENDER_COLUMNS
            nothing="No renders yet."
            rows
        />
    }
}

/// Invoices of the account.
#[component]
pub fn Invoices(
    /// `None` if the account pays nothing or Stripe doesn't respond. Nothing is shown then.
    invoices: Option<Vec<Invoice>>,
) -> impl IntoView {
    invoices.map(|invoices| {
        view! {
            <Section heading="Invoices">
                <InvoiceTable invoices />
            </Section>
        }
    })
}

/// Audit events of operators' actions on the account.
#[component]
pub fn AuditSection(
    /// Newest first.
    entries: Vec<AuditRow>,
) -> impl IntoView {
    let rows = entries.into_iter().map(|row| {
        let (who, what) = (row.entry.by.who().to_owned(), row.what());
        let reason = row.entry.reason;
        view! {
            <tr>
                <th scope="row" class="table__tight">
                    <Moment at=row.happened_at />
                </th>
                <td>
                    <span class="break">{who}</span>
                </td>
                <td>
                    {what} <span class="table__sub table__narrow">{reason.clone()}</span>
                </td>
                <td class="table__medium">{reason}</td>
            </tr>
        }
    });
    view! {
        <ListSection
            heading="Operator activity"
            beside=view! {
                <a class="small" href=AdminEntry::Audit.path()>
                    "Audit log"
                </a>
            }
                .into_any()
            caption="Audit events of this account"
            columns=AUDIT_COLUMNS
            nothing="No audit events yet."
            rows
        />
    }
}
