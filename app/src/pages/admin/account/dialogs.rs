//! Dialogs for operators' actions on an account. Each asks for a reason.

use leptos::{either::Either, prelude::*};
use platen_domain::{
    account_directory::AccountState, credits::GrantLasts, plan::StorageLimits, storage::StorageResource,
};
use strum::VariantArray;

use crate::{
    model::{admin::accounts::AccountFile, rejection::Field},
    outcome::{DialogForm, FormField, Outcome},
    pages::admin::account::api::{GrantCredits, Impersonate, RestoreAccount, SetLimits, SetPlan, SuspendAccount},
    ui::{
        button::{OpenButton, Rank},
        check::Check,
        dialog::Weight,
        field::Face,
        icon::Glyph,
        moment::day,
        select::Select,
        text_area::TextArea,
    },
};

const MIB: i32 = 1024 * 1024;

/// The buttons that open the dialogs.
#[component]
pub fn Actions(
    /// Whether the account is suspended.
    suspended: bool,
) -> impl IntoView {
    view! {
        <OpenButton dialog="view-as-owner" icon=Glyph::Eye>
            "View as owner"
        </OpenButton>
        <OpenButton dialog="grant">"Grant credits"</OpenButton>
        <OpenButton dialog="plan">"Change plan"</OpenButton>
        <OpenButton dialog="limits">"Change limits"</OpenButton>
        {if suspended {
            Either::Left(view! { <OpenButton dialog="restore">"Restore"</OpenButton> })
        } else {
            Either::Right(
                view! {
                    <OpenButton dialog="suspend" rank=Rank::Danger>
                        "Suspend"
                    </OpenButton>
                },
            )
        }}
    }
}

/// The dialogs that [`Actions`] opens.
#[component]
pub fn Dialogs(
    /// The account that they act on.
    account: AccountFile,
) -> impl IntoView {
    view! {
        <ImpersonationDialog account=account.clone() />
        <GrantDialog account=account.clone() />
        <PlanDialog account=account.clone() />
        <LimitsDialog account=account.clone() />
        {if account.file.record.state() == AccountState::Suspended {
            Either::Left(view! { <RestoreDialog account /> })
        } else {
            Either::Right(view! { <SuspendDialog account /> })
        }}
    }
}

#[component]
fn ReasonField(outcome: Outcome, hint: &'static str) -> impl IntoView {
    view! { <FormField outcome=outcome field=Field::OperatorsReason label="Reason" hint=hint focus=true /> }
}

const FOR_THE_AUDIT_LOG: &str = "Recorded in the audit log.";

#[component]
fn ImpersonationDialog(account: AccountFile) -> impl IntoView {
    let outcome = Outcome::about::<Impersonate>(&account.id);
    view! {
        <DialogForm
            outcome=outcome
            id="view-as-owner"
            title=format!("View {} as owner", account.file.record.called)
            action="View as owner"
        >
            <p>
                "Shows the dashboard of the owner, read-only, for up to 30 minutes. Secrets and documents are hidden."
            </p>
            <ReasonField outcome hint="For example, a ticket number. The owner sees it in the account’s activity." />
        </DialogForm>
    }
}

#[component]
fn GrantDialog(account: AccountFile) -> impl IntoView {
    let outcome = Outcome::about::<GrantCredits>(&account.id);
    let options = GrantLasts::VARIANTS
        .iter()
        .map(|lasts| (lasts.into_str(), lasts.name()));
    let chosen = outcome.typed_or(Field::GrantLasts, GrantLasts::Period.into_str());
    view! {
        <DialogForm outcome=outcome id="grant" title=format!("Grant credits to {}", account.file.record.called) action="Grant credits">
            <div class="fields fields--2">
                <FormField outcome=outcome field=Field::CreditAmount label="Credits" value="500" focus=true />
                <Select
                    name=Field::GrantLasts.into_str()
                    id=outcome.id(Field::GrantLasts)
                    label="Valid until"
                    options
                    chosen
                    problem=outcome.problem(Field::GrantLasts)
                />
            </div>
            <p class="small quiet">"This period ends on " {day(account.file.balance.period.ends_at.date())} "."</p>
            <ReasonField outcome hint=FOR_THE_AUDIT_LOG />
        </DialogForm>
    }
}

#[component]
fn PlanDialog(account: AccountFile) -> impl IntoView {
    let outcome = Outcome::about::<SetPlan>(&account.id);
    let chosen = outcome.typed_or(Field::Plan, &account.file.record.plan);
    let options = account.plans.into_iter().map(|plan| (plan.clone(), plan));
    let paid = account.file.record.customer.map(|_| {
        view! {
            <p>
                "This account is a Stripe customer: the plan applies until its subscription changes. Nothing is charged or refunded."
            </p>
        }
    });
    view! {
        <DialogForm outcome=outcome id="plan" title=format!("Change the plan of {}", account.file.record.called) action="Change plan">
            {paid}
            <div class="fields fields--2">
                <Select name=Field::Plan.into_str() id=outcome.id(Field::Plan) label="Plan" options chosen focus=true />
                <FormField
                    outcome=outcome
                    field=Field::PeriodCredits
                    label="Credits per month"
                    hint="Leave empty for the plan’s credits."
                    value=typed(account.file.record.credits)
                    optional=true
                />
            </div>
            <ReasonField outcome hint=FOR_THE_AUDIT_LOG />
        </DialogForm>
    }
}

#[component]
fn LimitsDialog(account: AccountFile) -> impl IntoView {
    let outcome = Outcome::about::<SetLimits>(&account.id);
    let own = account.file.record.own_limits();
    let fields = [
        (Field::Concurrency, "Concurrent renders", own.concurrency),
        (Field::RatePerMinute, "Requests per minute", own.rate_per_minute),
        (
            Field::BodyMib,
            "Request size, MiB",
            own.body_bytes.map(|bytes| bytes / MIB),
        ),
        (
            Field::DeadlineSeconds,
            "Synchronous render time, seconds",
            own.sync_deadline_seconds,
        ),
    ];
    let fields = fields.map(|(field, label, value)| {
        view! { <FormField outcome=outcome field=field label=label value=typed(value) optional=true focus=true /> }
    });
    view! {
        <DialogForm outcome=outcome id="limits" title=format!("Limits of {}", account.file.record.called) action="Change limits">
            <p>"Leave a field empty for the plan’s limit."</p>
            <div class="fields fields--2">{fields}</div>
            <TextArea
                face=Face::Code
                name=Field::StorageLimits.into_str()
                id=outcome.id(Field::StorageLimits)
                label="Storage"
                hint="One limit per line, such as templates 100. Sizes are in bytes."
                value=outcome.typed_or(Field::StorageLimits, &storage_lines(&own.storage))
                problem=outcome.problem(Field::StorageLimits)
                optional=true
            />
            <p class="small quiet">
                "Resources: "
                {StorageResource::ALL.map(|resource| resource.into_str()).join(", ")}
            </p>
            <ReasonField outcome hint=FOR_THE_AUDIT_LOG />
        </DialogForm>
    }
}

fn storage_lines(limits: &StorageLimits) -> String {
    let lines = limits
        .iter()
        .map(|(resource, limit)| format!("{} {limit}", resource.into_str()));
    lines.collect::<Vec<_>>().join("\n")
}

fn typed(number: Option<impl ToString>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

#[component]
fn SuspendDialog(account: AccountFile) -> impl IntoView {
    let outcome = Outcome::about::<SuspendAccount>(&account.id);
    view! {
        <DialogForm
            outcome=outcome
            id="suspend"
            title=format!("Suspend {}", account.file.record.called)
            weight=Weight::Danger
            action="Suspend"
        >
            <p>
                "Requests with API keys are rejected with 403 " <code>"forbidden"</code>
                ". Renders in progress finish; queued renders wait until the account is restored. Members have read-only access."
            </p>
            <ReasonField outcome hint="Recorded in the audit log, and included in the email to the owner." />
            <Check name="tell_owner" label="Notify the owner by email" checked=true />
        </DialogForm>
    }
}

#[component]
fn RestoreDialog(account: AccountFile) -> impl IntoView {
    let outcome = Outcome::about::<RestoreAccount>(&account.id);
    view! {
        <DialogForm outcome=outcome id="restore" title=format!("Restore {}", account.file.record.called) action="Restore">
            <p>"API keys work again, and queued renders continue."</p>
            <ReasonField outcome hint=FOR_THE_AUDIT_LOG />
            <Check name="tell_owner" label="Notify the owner by email" checked=true />
        </DialogForm>
    }
}
