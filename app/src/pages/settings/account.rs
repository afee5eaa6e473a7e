//! Settings of the account, for its owner.

use leptos::{context::Provider, prelude::*};
use time::{Date, OffsetDateTime};

use crate::{
    layout::page::{Section, SectionKind},
    model::{rejection::Field, settings::OwnedAccount},
    outcome::{ButtonForm, DialogForm, FormField, NarrowForm, Outcome, OutcomeErrors},
    pages::settings::{
        api::{KeepContent, RenameAccount, RequestDeletion, RequireSecondFactor, UndoDeletion},
        export::ExportSection,
        while_suspended,
    },
    ui::{
        button::{OpenButton, Rank, SubmitButton},
        check::Check,
        dialog::Weight,
        moment::Moment,
    },
};

/// Name, stored content, second factor policy, exports and deletion.
#[component]
pub fn AccountSections(
    /// The account.
    account: OwnedAccount,
) -> impl IntoView {
    let name = account.called;
    view! {
        <AccountSection name=account.name />
        <ContentSection keep=account.keep_content />
        <SecondFactorPolicy from=account.second_factor_from />
        <Provider value=while_suspended()>
            <ExportSection exports=account.exports />
        </Provider>
        {match account.delete_at {
            Some(at) => view! { <UndoSection name at /> }.into_any(),
            None => view! { <DeletionSection name /> }.into_any(),
        }}
    }
}

#[component]
fn AccountSection(name: String) -> impl IntoView {
    let outcome = Outcome::of::<RenameAccount>();
    view! {
        <Section heading="Account" note="Owners only" kind=SectionKind::Hanging>
            <NarrowForm outcome action="Save account name">
                <FormField
                    outcome=outcome
                    field=Field::AccountName
                    label="Account name"
                    value=name
                    autocomplete="organization"
                />
            </NarrowForm>
        </Section>
    }
}

#[component]
fn ContentSection(keep: bool) -> impl IntoView {
    let outcome = Outcome::of::<KeepContent>();
    view! {
        <Section heading="Content" note="Owners only" kind=SectionKind::Hanging>
            <NarrowForm outcome action="Save">
                <Check
                    name="keep"
                    label="Keep the content of requests"
                    hint="For as long as your plan says, encrypted, so that you can look at it beside its render. Otherwise we forget it when the render has ended. Turning this off also deletes, within minutes, what we have kept so far: requests, pictures of pages, titles and what consoles said."
                    checked=keep
                />
            </NarrowForm>
        </Section>
    }
}

#[component]
fn SecondFactorPolicy(from: Option<Date>) -> impl IntoView {
    let outcome = Outcome::of::<RequireSecondFactor>();
    view! {
        <Section heading="Second factor for everybody" note="Owners only" kind=SectionKind::Hanging>
            <NarrowForm outcome action="Save">
                <FormField
                    outcome=outcome
                    field=Field::SecondFactorFrom
                    label="Required from"
                    kind="date"
                    hint="Until that day members are asked to set one up; from then on they have to, before they do anything else in this account. API keys go on. Without a day it is up to them."
                    value=from.map(|from| from.to_string()).unwrap_or_default()
                    optional=true
                />
            </NarrowForm>
        </Section>
    }
}

#[component]
fn DeletionSection(name: String) -> impl IntoView {
    let outcome = Outcome::of::<RequestDeletion>();
    view! {
        <Section heading="Delete the account" note="Owners only" id="delete" kind=SectionKind::Danger>
            <div class="stack">
                <p class="small">
                    "Deletes " {name.clone()}
                    " with its templates, keys, log and stored PDFs after seven days. Until then you can take it back."
                </p>
                <div>
                    <OpenButton dialog="delete-account" rank=Rank::Danger>
                        "Delete the account"
                    </OpenButton>
                </div>
            </div>
            <DialogForm
                outcome=outcome
                id="delete-account"
                title=format!("Delete {name}")
                weight=Weight::Danger
                action="Delete in seven days"
            >
                <p>
                    "Templates, keys, destinations and the log of renders go with it. Files in your own buckets stay."
                </p>
                <FormField
                    outcome=outcome
                    field=Field::Confirmation
                    label=format!("Type {name} to confirm")
                    focus=true
                />
            </DialogForm>
        </Section>
    }
}

#[component]
fn UndoSection(name: String, at: OffsetDateTime) -> impl IntoView {
    let outcome = Outcome::of::<UndoDeletion>();
    view! {
        <Section heading="Delete the account" note="Owners only" id="delete" kind=SectionKind::Danger>
            <div class="stack">
                <OutcomeErrors outcome />
                <p class="small">{name} " is deleted on " <Moment at /> ". Until then everything goes on."</p>
                <ButtonForm outcome>
                    <SubmitButton>"Keep the account"</SubmitButton>
                </ButtonForm>
            </div>
        </Section>
    }
}
