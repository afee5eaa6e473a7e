//! Settings of the account, for its owner.

use leptos::{context::Provider, prelude::*};
use platen_domain::{
    download_link::DocumentLinks,
    number::counted,
    template::channels::{ChannelName, Channels},
};
use time::{Date, OffsetDateTime};

use crate::{
    layout::page::{Section, SectionKind},
    model::{rejection::Field, settings::OwnedAccount},
    outcome::{ButtonForm, DialogForm, FormField, NarrowForm, Outcome, OutcomeErrors},
    pages::settings::{
        api::{
            KeepContent, RenameAccount, RequestDeletion, RequireSecondFactor, SetChannels, SetDocumentLinks,
            UndoDeletion,
        },
        export::ExportSection,
        while_suspended,
    },
    ui::{
        button::{OpenButton, Rank, SubmitButton},
        check::Check,
        dialog::Weight,
        moment::Moment,
        select::Select,
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
        <LinksSection links=account.links plan_seconds=account.plan_link_seconds />
        <ChannelsSection channels=account.channels />
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
        <Section heading="Request content" note="Owners only" kind=SectionKind::Hanging>
            <NarrowForm outcome action="Save setting">
                <Check
                    name="keep"
                    label="Store request content"
                    hint="Stores requests, encrypted, for your plan’s retention, so that you can view them with their renders. Without it, content is deleted when a render ends. Turning it off also deletes stored requests, thumbnails, titles and console messages within minutes."
                    checked=keep
                />
            </NarrowForm>
        </Section>
    }
}

/// Lifetimes of links, in seconds.
const LIFETIMES: [(i32, &str); 5] = [
    (3_600, "Links that expire after an hour"),
    (86_400, "Links that expire after a day"),
    (259_200, "Links that expire after three days"),
    (604_800, "Links that expire after a week"),
    (1_209_600, "Links that are valid as long as the document"),
];

/// Describes a lifetime in the largest unit in which it is whole: `90 minutes`.
fn duration(seconds: i32) -> String {
    let units = [
        (86_400, "day", "days"),
        (3_600, "hour", "hours"),
        (60, "minute", "minutes"),
    ];
    let whole = units.into_iter().find(|(unit, ..)| seconds % unit == 0);
    let (unit, one, many) = whole.unwrap_or((1, "second", "seconds"));
    counted(seconds / unit, one, many)
}

#[component]
fn LinksSection(links: DocumentLinks, plan_seconds: i32) -> impl IntoView {
    let outcome = Outcome::of::<SetDocumentLinks>();
    let by_plan = format!("Links that expire by your plan, after {}", duration(plan_seconds));
    let lifetimes = LIFETIMES.map(|(seconds, label)| (DocumentLinks::Lasting(seconds), label.to_owned()));
    let mut options = vec![
        (DocumentLinks::Public, "Public, unlisted addresses".to_owned()),
        (DocumentLinks::ByPlan, by_plan),
    ];
    options.extend(lifetimes);
    if let DocumentLinks::Lasting(seconds) = links
        && options.iter().all(|(listed, _)| *listed != links)
    {
        options.push((links, format!("Links that expire after {}", duration(seconds))));
    }
    let options = options.into_iter().map(|(links, label)| (links.to_string(), label));
    view! {
        <Section heading="Document links" note="Owners only" kind=SectionKind::Hanging>
            <NarrowForm outcome action="Save setting">
                <Select
                    name="links"
                    label="New documents get"
                    options
                    chosen=links.to_string()
                    hint="Applies to documents in the service’s own storage. The API creates further links. Revoke them through the API or on the page of the render. Members can always open documents here."
                />
            </NarrowForm>
        </Section>
    }
}

#[component]
fn ChannelsSection(channels: Channels) -> impl IntoView {
    let outcome = Outcome::of::<SetChannels>();
    let names: Vec<_> = channels
        .before_production()
        .iter()
        .map(ChannelName::to_string)
        .collect();
    let approval = channels.need_approval();
    view! {
        <Section heading="Channels of templates" note="Owners only" kind=SectionKind::Hanging>
            <NarrowForm outcome action="Save channels">
                <FormField
                    outcome=outcome
                    field=Field::Channels
                    label="Channels before production"
                    hint="For example, development, staging. Publishing releases to the first channel; promote to the others on the page Releases of each template. Leave empty to publish to production. Removing a channel cancels promotions to it, and requests that name it fail."
                    value=names.join(", ")
                    optional=true
                />
                <Check
                    name="approval"
                    label="Require approval for production"
                    hint="Members don’t release to production alone what they have worked on: another member must approve it first."
                    checked=approval
                />
            </NarrowForm>
        </Section>
    }
}

#[component]
fn SecondFactorPolicy(from: Option<Date>) -> impl IntoView {
    let outcome = Outcome::of::<RequireSecondFactor>();
    view! {
        <Section heading="Required second factor" note="Owners only" kind=SectionKind::Hanging>
            <NarrowForm outcome action="Save requirement">
                <FormField
                    outcome=outcome
                    field=Field::SecondFactorFrom
                    label="Required from"
                    kind="date"
                    hint="Members are asked to set one up, and from this day can’t use the account without one. API keys keep working. Leave empty to make it optional."
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
        <Section heading="Delete account" note="Owners only" id="delete" kind=SectionKind::Danger>
            <div class="stack">
                <p class="small">
                    "Deletes " {name.clone()}
                    " with its templates, API keys, renders and stored documents after seven days. You can cancel the deletion until then."
                </p>
                <div>
                    <OpenButton dialog="delete-account" rank=Rank::Danger>
                        "Delete account"
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
                    "Templates, API keys, storage connections and renders are deleted too. Files in your own buckets stay."
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
        <Section heading="Delete account" note="Owners only" id="delete" kind=SectionKind::Danger>
            <div class="stack">
                <OutcomeErrors outcome />
                <p class="small">{name} " will be deleted on " <Moment at /> ". It keeps working until then."</p>
                <ButtonForm outcome>
                    <SubmitButton>"Cancel deletion"</SubmitButton>
                </ButtonForm>
            </div>
        </Section>
    }
}
