//! What belongs to an account, in short.

use leptos::{either::Either, prelude::*};
use time::OffsetDateTime;

use crate::{
    layout::shell::admin::AdminEntry,
    model::{
        admin::accounts::{AccountKey, AccountMember, AccountPeriod, AccountRender, AuditLine},
        payment::Invoice,
        render::short_id,
    },
    pages::{billing::papers::InvoiceTable, render::badge::StateBadge},
    ui::{
        badge::{Badge, State},
        moment::{Ago, Day, Moment},
        number::{grouped, milliseconds},
    },
};

/// Its months.
#[component]
pub fn PeriodSection(
    /// The latest first.
    periods: Vec<AccountPeriod>,
) -> impl IntoView {
    let rows = periods.into_iter().map(|period| {
        let parts = [
            (period.allowance, "by the plan"),
            (period.granted, "granted"),
            (period.bought, "until used"),
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
    let rows = rows.collect_view();
    view! {
        <section class="section">
            <div class="section__head">
                <h2>"Credits"</h2>
                <span class="section__note">"newest first"</span>
            </div>
            <div class="section__body">
                <table class="table">
                    <caption>"Credits by period"</caption>
                    <thead>
                        <tr>
                            <th scope="col">"From"</th>
                            <th scope="col">"Credits"</th>
                            <th scope="col" class="table__figure">
                                "Used"
                            </th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    }
}

/// Who belongs to it.
#[component]
pub fn MemberSection(
    /// The owner first.
    members: Vec<AccountMember>,
    /// The moment of the page.
    now: OffsetDateTime,
) -> impl IntoView {
    let rows = members.into_iter().map(|member| {
        let named = member.called != member.email;
        view! {
            <tr>
                <th scope="row">
                    <span class="break">{member.called}</span>
                    {named.then(|| view! { <span class="table__sub break">{member.email}</span> })}
                </th>
                <td>{member.role.to_string()}</td>
                <td>{seen(member.seen_at, now)}</td>
            </tr>
        }
    });
    let rows = rows.collect_view();
    view! {
        <section class="section">
            <div class="section__head">
                <h2>"Members"</h2>
            </div>
            <div class="section__body">
                <table class="table">
                    <caption>"Members"</caption>
                    <thead>
                        <tr>
                            <th scope="col">"Name"</th>
                            <th scope="col">"Role"</th>
                            <th scope="col">"Last seen"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    }
}

fn seen(at: Option<OffsetDateTime>, now: OffsetDateTime) -> impl IntoView {
    at.map_or_else(|| Either::Left("not yet"), |at| Either::Right(view! { <Ago at now /> }))
}

/// Its keys.
#[component]
pub fn KeySection(
    /// The newest first.
    keys: Vec<AccountKey>,
    /// The moment of the page.
    now: OffsetDateTime,
) -> impl IntoView {
    let nothing = keys.is_empty();
    let rows = keys.into_iter().map(|key| {
        let state = if key.in_use {
            view! { <Badge state=State::Good>"In use"</Badge> }
        } else {
            view! { <Badge state=State::Struck>"Ended"</Badge> }
        };
        view! {
            <tr class=(!key.in_use).then_some("table__row--faint")>
                <th scope="row">
                    <span class="break">{key.name}</span>
                    {(!key.live).then(|| view! { <span class="tag tag--test">"Test"</span> })}
                    <span class="table__sub">
                        <code>{key.hint} "…"</code>
                    </span>
                </th>
                <td>{seen(key.last_used_at, now)}</td>
                <td>{state}</td>
            </tr>
        }
    });
    let rows = rows.collect_view();
    view! {
        <section class="section">
            <div class="section__head">
                <h2>"Keys"</h2>
            </div>
            <div class="section__body">
                {if nothing {
                    Either::Left(view! { <p class="quiet">"No keys."</p> })
                } else {
                    Either::Right(
                        view! {
                            <table class="table">
                                <caption>"Keys"</caption>
                                <thead>
                                    <tr>
                                        <th scope="col">"Name"</th>
                                        <th scope="col">"Last used"</th>
                                        <th scope="col">"State"</th>
                                    </tr>
                                </thead>
                                <tbody>{rows}</tbody>
                            </table>
                        },
                    )
                }}
            </div>
        </section>
    }
}

/// What was rendered for it lately, without content.
#[component]
pub fn RenderSection(
    /// The newest first.
    renders: Vec<AccountRender>,
) -> impl IntoView {
    let nothing = renders.is_empty();
    let rows = renders.into_iter().map(|render| {
        view! {
            <tr>
                <th scope="row">
                    <code title=render.id.clone()>{short_id(&render.id)}</code>
                </th>
                <td>
                    <StateBadge state=render.state />
                </td>
                <td class="table__medium">{render.mode.name()}</td>
                <td class="table__figure table__medium">{render.pages}</td>
                <td class="table__figure table__medium">{render.credits}</td>
                <td class="table__figure">{render.milliseconds.map(took)}</td>
                <td class="table__medium table__tight">
                    <Moment at=render.at />
                </td>
            </tr>
        }
    });
    let rows = rows.collect_view();
    view! {
        <section class="section">
            <div class="section__head">
                <h2>"Latest renders"</h2>
                <span class="section__note">"without their content"</span>
            </div>
            <div class="section__body">
                {if nothing {
                    Either::Left(view! { <p class="quiet">"Nothing was rendered yet."</p> })
                } else {
                    Either::Right(
                        view! {
                            <table class="table">
                                <caption>"Latest renders"</caption>
                                <thead>
                                    <tr>
                                        <th scope="col">"Render"</th>
                                        <th scope="col">"State"</th>
                                        <th scope="col" class="table__medium">
                                            "Mode"
                                        </th>
                                        <th scope="col" class="table__figure table__medium">
                                            "Pages"
                                        </th>
                                        <th scope="col" class="table__figure table__medium">
                                            "Credits"
                                        </th>
                                        <th scope="col" class="table__figure">
                                            "Took"
                                        </th>
                                        <th scope="col" class="table__medium">
                                            "When"
                                        </th>
                                    </tr>
                                </thead>
                                <tbody>{rows}</tbody>
                            </table>
                        },
                    )
                }}
            </div>
        </section>
    }
}

#[expect(clippy::cast_precision_loss, reason = "a duration needs no more digits")]
fn took(time: i64) -> String {
    milliseconds(time as f64)
}

/// What it was charged.
#[component]
pub fn Invoices(
    /// `None`: it pays nothing, or Stripe does not answer.
    invoices: Option<Vec<Invoice>>,
) -> impl IntoView {
    invoices.map(|invoices| {
        view! {
            <section class="section">
                <div class="section__head">
                    <h2>"Invoices"</h2>
                </div>
                <div class="section__body">
                    <InvoiceTable invoices />
                </div>
            </section>
        }
    })
}

/// What operators did to it.
#[component]
pub fn AuditSection(
    /// The latest first.
    entries: Vec<AuditLine>,
) -> impl IntoView {
    let nothing = entries.is_empty();
    let rows = entries.into_iter().map(|entry| {
        view! {
            <tr>
                <th scope="row" class="table__tight">
                    <Moment at=entry.at />
                </th>
                <td>
                    <span class="break">{entry.who}</span>
                </td>
                <td>
                    {entry.what} <span class="table__sub table__narrow">{entry.reason.clone()}</span>
                </td>
                <td class="table__medium">{entry.reason}</td>
            </tr>
        }
    });
    let rows = rows.collect_view();
    view! {
        <section class="section">
            <div class="section__head">
                <h2>"What operators did here"</h2>
                <a class="small" href=AdminEntry::Audit.path()>
                    "Audit log"
                </a>
            </div>
            <div class="section__body">
                {if nothing {
                    Either::Left(view! { <p class="quiet">"Nothing yet."</p> })
                } else {
                    Either::Right(
                        view! {
                            <table class="table">
                                <caption>"Audit of this account"</caption>
                                <thead>
                                    <tr>
                                        <th scope="col">"When"</th>
                                        <th scope="col">"Who"</th>
                                        <th scope="col">"What"</th>
                                        <th scope="col" class="table__medium">
                                            "Reason"
                                        </th>
                                    </tr>
                                </thead>
                                <tbody>{rows}</tbody>
                            </table>
                        },
                    )
                }}
            </div>
        </section>
    }
}
