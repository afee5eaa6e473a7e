//! `/admin/accounts/{id}`: one account, with the actions of operators.

pub mod api;
pub mod dialogs;
pub mod lists;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use platen_domain::{
    account_directory::AccountState,
    number::{counted, grouped},
};

use crate::{
    layout::{
        loaded::loaded,
        shell::admin::{AdminEntry, AdminShell},
    },
    model::admin::accounts::{AccountFile, OwnLimits},
    outcome::done::Done,
    pages::{
        admin::{
            account::{
                dialogs::{Actions, Dialogs},
                lists::{AuditSection, Invoices, KeySection, MemberSection, PeriodSection, RenderSection},
            },
            accounts::AccountBadge,
        },
        storage::StorageSection,
    },
    ui::{
        figure::Figure,
        moment::{Moment, day, day_and_year},
        notice::WarningNotice,
    },
};

/// The page of an account, for operators.
#[component]
pub fn Account() -> impl IntoView {
    let id = use_params_map().read_untracked().get("id").unwrap_or_default();
    view! {
        <AdminShell title="Account" current=AdminEntry::Accounts>
            {loaded(
                |backend| async move { backend.account_file(id).await },
                |account| view! { <Content account /> },
            )}
        </AdminShell>
    }
}

#[component]
fn Content(account: AccountFile) -> impl IntoView {
    view! {
        <div class="page-head">
            <div class="page-head__text">
                <h1 class="break">{account.called.clone()}</h1>
                <div class="page-head__meta">
                    <span>
                        <AccountBadge state=account.state used=account.used total=account.total />
                    </span>
                    <span>{account.plan.clone()}</span>
                    <span>"since " {day_and_year(account.since.date())}</span>
                    <span class="mono break">{account.id.clone()}</span>
                </div>
            </div>
            <div class="page-head__actions">
                <Actions suspended={account.state == AccountState::Suspended} />
            </div>
        </div>
        <Done about=done />
        <AccountStatus account=account.clone() />
        <Figures account=account.clone() />
        <div class="grid grid--2">
            <Pairs account=account.clone() />
            <PeriodSection periods=account.periods.clone() />
            <MemberSection members=account.members.clone() now=account.now />
            <KeySection keys=account.keys.clone() now=account.now />
        </div>
        <StorageSection uses=account.storage.clone() />
        <RenderSection renders=account.renders.clone() />
        <Invoices invoices=account.invoices.clone() />
        <AuditSection entries=account.audit.clone() />
        <Dialogs account />
    }
}

/// Notices of a suspension and of a scheduled deletion.
#[component]
fn AccountStatus(account: AccountFile) -> impl IntoView {
    let suspended = account.suspended.map(|(since, reason)| {
        let why = (!reason.is_empty()).then(|| format!(": {reason}"));
        view! { <WarningNotice>"Suspended since " <Moment at=since /> {why}</WarningNotice> }
    });
    let farewell = account.delete_at.map(|at| {
        view! { <WarningNotice>"Its owner has asked for it to be deleted: on " <Moment at /> "."</WarningNotice> }
    });
    view! {
        {suspended}
        {farewell}
    }
}

#[component]
fn Figures(account: AccountFile) -> impl IntoView {
    let until = day(account.period_ends_at.date());
    view! {
        <section class="section">
            <div class="section__head">
                <h2>"This period"</h2>
            </div>
            <div class="section__body">
                <div class="figures">
                    <Figure label="Credits" value=grouped(account.used)>
                        "of "
                        {grouped(account.total)}
                        ", until "
                        {until}
                    </Figure>
                    <Figure label="Renders" value=grouped(account.succeeded + account.failed)>
                        {grouped(account.failed)}
                        " failed"
                    </Figure>
                    <Figure label="Waiting" value=grouped(account.waiting)>
                        {if account.state == AccountState::Suspended { "until it is restored" } else { "jobs in its queue" }}
                    </Figure>
                    <Figure label="In hand" value=grouped(account.in_hand)>
                        "of "
                        {grouped(account.limits.concurrency)}
                        " at a time"
                    </Figure>
                </div>
            </div>
        </section>
    }
}

#[component]
fn Pairs(account: AccountFile) -> impl IntoView {
    let owner = account.members.first().map(|owner| {
        if owner.called == owner.email {
            owner.email.clone()
        } else {
            format!("{}, {}", owner.called, owner.email)
        }
    });
    let invited = (account.invitations > 0)
        .then(|| format!(", and {}", counted(account.invitations, "invitation", "invitations")));
    let in_use = account.keys.iter().filter(|key| key.in_use).count();
    let limits = account.limits;
    let own = account.own_limits != OwnLimits::default();
    let stripe = account.customer.map(|customer| {
        let paid = account.subscriptions.into_iter().map(|(product, status, until)| {
            view! { <span class="table__sub">{format!("{product}: {status}, until {}", day_and_year(until.date()))}</span> }
        });
        view! {
            <dt>"Stripe"</dt>
            <dd>
                <span class="mono break">{customer}</span>
                {paid.collect_view()}
            </dd>
        }
    });
    view! {
        <section class="section">
            <div class="section__head">
                <h2>"Account"</h2>
            </div>
            <div class="section__body">
                <dl class="pairs">
                    <dt>"Owner"</dt>
                    <dd class="break">{owner}</dd>
                    <dt>"Members"</dt>
                    <dd>{account.members.len()} {invited}</dd>
                    <dt>"Keys"</dt>
                    <dd>{in_use} " in use"</dd>
                    <dt>"Templates"</dt>
                    <dd>{account.templates}</dd>
                    <dt>"Destinations"</dt>
                    <dd>{account.connections}</dd>
                    {stripe}
                    <dt>"Limits"</dt>
                    <dd>
                        {format!(
                            "{} at a time, {} requests a minute, {} MiB, {} s",
                            grouped(limits.concurrency),
                            grouped(limits.rate_per_minute),
                            limits.body_mib,
                            limits.deadline_seconds,
                        )} {own.then(|| view! { <span class="table__sub">"set by an operator"</span> })}
                    </dd>
                </dl>
            </div>
        </section>
    }
}

/// Returns the notice for a value of `done` in the query.
fn done(word: &str) -> Option<&'static str> {
    Some(match word {
        "suspended" => "Account suspended. What is being rendered ends; what is queued waits.",
        "restored" => "Account restored. What was queued goes on.",
        "granted" => "Credits granted.",
        "plan" => "Plan changed.",
        "limits" => "Limits changed. They count from the next request.",
        "looked" => "You look no more.",
        _ => return None,
    })
}
