//! `/admin/accounts/{id}`: one account, with the actions of operators.

pub mod api;
pub mod dialogs;
pub mod lists;

use leptos::prelude::*;
use platen_domain::{
    account_directory::{AccountFile as Details, AccountState},
    ids::AccountId,
    number::{counted, grouped},
    plan::OwnLimits,
};
use time::OffsetDateTime;

use crate::{
    layout::{
        page::{PageHead, Section, loaded},
        shell::admin::{AdminEntry, AdminShell},
    },
    model::admin::accounts::AccountFile,
    outcome::Done,
    pages::{
        admin::{
            account::{
                dialogs::{Actions, Dialogs},
                lists::{AuditSection, Invoices, KeySection, MemberSection, PeriodSection, RenderSection},
            },
            accounts::AccountBadge,
        },
        query::id_in_path,
        storage::StorageSection,
    },
    ui::{
        figure::Figure,
        moment::{Moment, day, day_and_year},
        notice::WarningNotice,
    },
};

const MIB: usize = 1024 * 1024;

/// The page of an account, for operators.
#[component]
pub fn Account() -> impl IntoView {
    let id = id_in_path(AccountId::parse);
    view! {
        <AdminShell title="Account" current=AdminEntry::Accounts>
            {loaded(
                |backend| async move { backend.account_file(id?).await },
                |account| view! { <Content account /> },
            )}
        </AdminShell>
    }
}

#[component]
fn Content(account: AccountFile) -> impl IntoView {
    let (file, now) = (account.file.clone(), account.now);
    let (state, balance) = (file.record.state(), file.balance);
    let facts = view! {
        <span>
            <AccountBadge state used=balance.used total=balance.total() />
        </span>
        <span>{file.record.plan.clone()}</span>
        <span>"since " {day_and_year(file.record.inserted_at.date())}</span>
        <span class="mono break">{account.id.clone()}</span>
    }
    .into_any();
    view! {
        <PageHead title=file.record.called.clone() is_chosen=true facts>
            <Actions suspended={state == AccountState::Suspended} />
        </PageHead>
        <Done about=done />
        <AccountStatus file=file.clone() />
        <Figures file=file.clone() />
        <div class="grid grid--2">
            <Pairs file=file.clone() now />
            <PeriodSection periods=file.periods />
            <MemberSection members=file.members now />
            <KeySection keys=file.keys now />
        </div>
        <StorageSection uses=file.storage />
        <RenderSection renders=file.renders />
        <Invoices invoices=account.invoices.clone() />
        <AuditSection entries=file.audit />
        <Dialogs account />
    }
}

/// Notices of a suspension and of a scheduled deletion.
#[component]
fn AccountStatus(file: Details) -> impl IntoView {
    let suspended = file.record.suspended_at.map(|since| {
        let reason = file.record.suspended_because.unwrap_or_default();
        let why = (!reason.is_empty()).then(|| format!(": {reason}"));
        view! { <WarningNotice>"Suspended since " <Moment at=since /> {why}</WarningNotice> }
    });
    let farewell = file.record.delete_at.map(|at| {
        view! { <WarningNotice>"Scheduled for deletion by its owner: " <Moment at /></WarningNotice> }
    });
    view! {
        {suspended}
        {farewell}
    }
}

#[component]
fn Figures(file: Details) -> impl IntoView {
    let (record, balance, renders) = (file.record, file.balance, file.figures);
    let (suspended, until) = (record.suspended_at.is_some(), day(balance.period.ends_at.date()));
    let concurrency = file.limits.concurrency;
    view! {
        <Section heading="This period">
            <div class="figures">
                <Figure label="Credits" value=grouped(balance.used)>
                    "of "
                    {grouped(balance.total())}
                    ", until "
                    {until}
                </Figure>
                <Figure label="Renders" value=grouped(renders.succeeded + renders.failed)>
                    {grouped(renders.failed)}
                    " failed"
                </Figure>
                <Figure label="Waiting" value=grouped(record.waiting)>
                    {if suspended { "until the account is restored" } else { "queued jobs" }}
                </Figure>
                <Figure label="In progress" value=grouped(record.in_hand)>
                    "of "
                    {whole(concurrency)}
                    " concurrent"
                </Figure>
            </div>
        </Section>
    }
}

#[component]
fn Pairs(file: Details, now: OffsetDateTime) -> impl IntoView {
    let record = file.record;
    let owner = file.members.first().map(|owner| {
        if owner.called() == owner.email {
            owner.email.clone()
        } else {
            format!("{}, {}", owner.called(), owner.email)
        }
    });
    let invited =
        (record.invitations > 0).then(|| format!(", and {}", counted(record.invitations, "invitation", "invitations")));
    let in_use = file.keys.iter().filter(|key| key.state(now).is_good()).count();
    let limits = file.limits;
    let own = record.own_limits() != OwnLimits::default();
    let stripe = record.customer.map(|customer| {
        let paid = file.subscriptions.into_iter().map(|paid| {
            let until = day_and_year(paid.period_ends_at.date());
            view! { <span class="table__sub">{format!("{}: {}, until {until}", paid.product, paid.status)}</span> }
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
        <Section heading="Account">
            <dl class="pairs">
                <dt>"Owner"</dt>
                <dd class="break">{owner}</dd>
                <dt>"Members"</dt>
                <dd>{file.members.len()} {invited}</dd>
                <dt>"API keys"</dt>
                <dd>{in_use} " active"</dd>
                <dt>"Templates"</dt>
                <dd>{record.templates}</dd>
                <dt>"Storage connections"</dt>
                <dd>{record.connections}</dd>
                {stripe}
                <dt>"Limits"</dt>
                <dd>
                    {format!(
                        "{} concurrent renders, {} requests per minute, {} MiB per request, {} s per synchronous render",
                        whole(limits.concurrency),
                        grouped(limits.rate_per_minute.get().into()),
                        limits.body_bytes / MIB,
                        limits.sync_deadline.as_secs(),
                    )} {own.then(|| view! { <span class="table__sub">"set by an operator"</span> })}
                </dd>
            </dl>
        </Section>
    }
}

fn whole(number: usize) -> String {
    grouped(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Returns the notice for a value of `done` in the query.
fn done(word: &str) -> Option<&'static str> {
    Some(match word {
        "suspended" => "Account suspended. Renders in progress finish; queued renders wait.",
        "restored" => "Account restored. Queued renders continue.",
        "granted" => "Credits granted.",
        "plan" => "Plan changed.",
        "limits" => "Limits changed. They apply from the next request.",
        "looked" => "You exited the view as owner.",
        _ => return None,
    })
}
