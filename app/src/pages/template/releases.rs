//! `/dashboard/templates/{id}/releases`: the releases of a template by channel, and their promotions.

pub mod api;

use std::collections::BTreeSet;

use leptos::{either::Either, prelude::*};
use platen_domain::{
    ids::{PromotionId, TemplateId},
    template::{
        channels::ChannelName,
        identity::TemplateKind,
        promotions::{ChannelRelease, Promotion, PromotionState},
    },
};
use strum::{EnumString, IntoStaticStr};

use crate::{
    layout::{
        page::{PageHead, Section, loaded},
        shell::{Shell, rail::Entry},
    },
    model::{
        own_path::OwnPath,
        rejection::Field,
        template::{releases_path, versions_path},
        template_releases::Releases as Model,
    },
    outcome::{self, ButtonForm, DialogForm, FormField, Outcome, OutcomeErrors},
    pages::{
        query::id_in_path,
        template::{
            pages::{ComparePagesLink, SetList},
            releases::api::{ApprovePromotion, CancelPromotion, PromoteTemplate, promoted},
            versions::template_crumb,
        },
        templates::PATH,
    },
    ui::{
        badge::{Badge, State},
        button::{ButtonLink, OpenButton, Rank, Size, SubmitButton},
        dialog::Weight,
        moment::Moment,
        table::{Column, Table},
    },
};

const CHANNELS: &[Column] = &[
    Column::text("Channel"),
    Column::text("Version"),
    Column::text("Since").from_medium(),
    Column::ACTIONS,
];
const WAITING: &[Column] = &[
    Column::text("Release"),
    Column::text("State").from_medium(),
    Column::ACTIONS,
];
const HISTORY: &[Column] = &[
    Column::text("Release"),
    Column::text("State"),
    Column::text("Requested by").from_medium(),
    Column::text("Time").from_medium(),
    Column::ACTIONS,
];

/// The completed actions of the page, by their words in its address.
#[derive(Debug, Clone, Copy, EnumString, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum Done {
    Released,
    Scheduled,
    AwaitsApproval,
    Approved,
    ApprovedForLater,
    Cancelled,
}

impl From<PromotionState> for Done {
    fn from(state: PromotionState) -> Self {
        match state {
            PromotionState::AwaitingApproval => Self::AwaitsApproval,
            PromotionState::Scheduled => Self::Scheduled,
            PromotionState::Done | PromotionState::Cancelled | PromotionState::Failed => Self::Released,
        }
    }
}

/// Returns the path to which a completed action leads.
pub(crate) fn done(id: TemplateId, done: Done) -> OwnPath {
    let path = format!("{}?done={}", releases_path(&id.to_string()), done.into_str());
    OwnPath::parse(&path).unwrap_or_else(|| PATH.into())
}

/// The page of releases.
#[component]
pub fn Releases() -> impl IntoView {
    let id = id_in_path(TemplateId::parse);
    view! {
        <Shell title="Releases" current=Entry::Templates parent=template_crumb(id.clone())>
            {loaded(
                move |backend| async move {
                    let id = id?;
                    Ok((id, backend.template_releases(id).await?))
                },
                |(id, found)| view! { <Found id=id.to_string() found /> },
            )}
        </Shell>
    }
}

#[component]
fn Found(id: String, found: Model) -> impl IntoView {
    let versions = versions_path(&id);
    let cancelled = Outcome::of::<CancelPromotion>();
    let without_dialog = (!is_dialog_refused(&found)).then(|| {
        let (promoted, approved) = (Outcome::of::<PromoteTemplate>(), Outcome::of::<ApprovePromotion>());
        view! {
            <OutcomeErrors outcome=promoted />
            <OutcomeErrors outcome=approved />
        }
    });
    let (name, kind) = (found.name.clone(), found.kind);
    let lede = "Requests use the release in the channel that they name, or in production by default.";
    view! {
        <PageHead title=format!("Releases of {name}") is_chosen=true lede>
            <ButtonLink href=versions>"Versions"</ButtonLink>
        </PageHead>
        <outcome::Done about=notice />
        {without_dialog}
        <OutcomeErrors outcome=cancelled />
        {match kind {
            TemplateKind::Partial => view! { <NoChannels words=OF_PARTIALS /> }.into_any(),
            TemplateKind::Document if found.channels.are_off() => view! { <NoChannels words=OFF /> }.into_any(),
            TemplateKind::Document => view! { <InChannels id found /> }.into_any(),
        }}
    }
}

const OF_PARTIALS: &str =
    "Partials have no channels. Documents use the versions of partials that are published when the documents are.";
const OFF: &str = "This account has no channels before production: requests get what is published, at once. The owner \
                   of the account can add channels, such as staging, in its settings.";

#[component]
fn NoChannels(words: &'static str) -> impl IntoView {
    view! {
        <Section heading="Channels">
            <p>{words}</p>
        </Section>
    }
}

fn notice(word: &str) -> Option<&'static str> {
    Some(match word.parse().ok()? {
        Done::Released => "Released. New renders of the channel use it.",
        Done::Scheduled => "Scheduled. It is listed below until then.",
        Done::AwaitsApproval => "Requested. Another member has to approve it on this page.",
        Done::Approved => "Approved and released. New renders of the channel use it.",
        Done::ApprovedForLater => "Approved. It will be released at its time.",
        Done::Cancelled => "Cancelled. The channel keeps its release.",
    })
}

#[component]
fn InChannels(id: String, found: Model) -> impl IntoView {
    let rows = found.releases.clone().into_iter().map(|release| {
        let (id, found) = (id.clone(), found.clone());
        view! { <Channel id release found /> }
    });
    let rows = rows.collect::<Vec<_>>();
    let waiting = found.waiting.clone();
    let ended = found.latest.iter().filter(|promotion| !promotion.state.is_open());
    let ended: Vec<_> = ended.cloned().collect();
    let dialogs = offered(&found).into_iter().map(|(channel, version)| {
        let (id, found) = (id.clone(), found.clone());
        view! { <PromoteDialog id channel version found /> }
    });
    let dialogs = dialogs.collect_view();
    let approvable = waiting
        .iter()
        .filter(|promotion| promotion.may_be_approved_by(found.visitor));
    let approvals = approvable.map(|promotion| {
        let (id, promotion, found) = (id.clone(), promotion.clone(), found.clone());
        view! { <ApproveDialog id promotion found /> }
    });
    let approvals = approvals.collect_view();
    let waiting = (!waiting.is_empty()).then(|| {
        let rows = waiting.into_iter().map(|promotion| {
            let (id, found) = (id.clone(), found.clone());
            view! { <Waiting id promotion found /> }
        });
        let rows = rows.collect::<Vec<_>>();
        view! {
            <Section heading="Waiting">
                <Table caption="Promotions that wait" columns=WAITING rows />
            </Section>
        }
    });
    let mut seen = BTreeSet::new();
    let rows_of_history = ended.into_iter().map(|promotion| {
        let is_latest =
            promotion.state == PromotionState::Done && seen.insert((promotion.channel.clone(), promotion.version));
        let found = found.clone();
        view! { <Ended promotion found is_latest /> }
    });
    let rows_of_history = rows_of_history.collect::<Vec<_>>();
    view! {
        <Section heading="Channels" body="section__body stack stack--tight">
            <p class="small quiet">
                {format!(
                    "Publishing releases a version to {}. Promote it from there; a release keeps the versions of its partials.",
                    found.channels.first(),
                )}
            </p>
            <Table caption="Releases by channel" columns=CHANNELS rows />
        </Section>
        {waiting}
        <Section heading="History">
            <Table
                caption="Promotions that have ended"
                columns=HISTORY
                nothing="No release has been promoted yet."
                rows=rows_of_history
            />
        </Section>
        {dialogs}
        {approvals}
    }
}

/// Returns whether a dialog of the page shows why its last submission was refused.
fn is_dialog_refused(found: &Model) -> bool {
    let is_promotion = |(channel, version): (ChannelName, i32)| {
        let outcome = Outcome::about::<PromoteTemplate>(&promoted(channel.as_str(), version));
        outcome.error().is_some()
    };
    let is_approval = |promotion: &Promotion| {
        let outcome = Outcome::about::<ApprovePromotion>(&promotion.id.to_string());
        promotion.may_be_approved_by(found.visitor) && outcome.error().is_some()
    };
    offered(found).into_iter().any(is_promotion) || found.waiting.iter().any(is_approval)
}

/// Returns the promotions that the page offers: the release of the preceding channel for each one, and those that the
/// channel has had.
fn offered(found: &Model) -> BTreeSet<(ChannelName, i32)> {
    let next = found
        .channels
        .names()
        .iter()
        .filter_map(|channel| Some((channel.clone(), next_in(found, channel)?)));
    let previous = found.channels.names().iter();
    let previous = previous.filter_map(|channel| Some((channel.clone(), found.previous_in(channel)?)));
    let former = found.latest.iter().filter(|promotion| can_return(found, promotion));
    let former = former.map(|promotion| (promotion.channel.clone(), promotion.version));
    next.chain(previous).chain(former).collect()
}

/// Returns the release of the preceding channel, unless the channel has it.
fn next_in(found: &Model, channel: &ChannelName) -> Option<i32> {
    let preceding = found.channels.preceding(channel)?;
    found
        .version_in(preceding)
        .filter(|version| found.version_in(channel) != Some(*version))
}

/// Returns whether a channel can get a release again that it has had.
fn can_return(found: &Model, promotion: &Promotion) -> bool {
    promotion.state == PromotionState::Done
        && found.channels.preceding(&promotion.channel).is_some()
        && found.version_in(&promotion.channel) != Some(promotion.version)
}

#[component]
fn Channel(id: String, release: ChannelRelease, found: Model) -> impl IntoView {
    let ChannelRelease {
        channel,
        version,
        released_at,
    } = release;
    let next = next_in(&found, &channel);
    let compare = next.zip(version).map(|(next, version)| {
        let of = format!("versions {version} and {next}");
        view! { <ComparePagesLink id versions=(version, next) of /> }
    });
    let promote = next.map(|next| {
        let to = format!(" to {channel}");
        view! {
            <OpenButton dialog=dialog_id(&channel, next) size=Size::Small>
                {format!("Promote {next}")}
                <span class="visually-hidden">{to}</span>
            </OpenButton>
        }
    });
    let back = found
        .previous_in(&channel)
        .filter(|previous| next != Some(*previous))
        .map(|previous| {
            let of = format!(" in {channel}");
            view! {
                <OpenButton dialog=dialog_id(&channel, previous) size=Size::Small>
                    {format!("Roll back to {previous}")}
                    <span class="visually-hidden">{of}</span>
                </OpenButton>
            }
        });
    let shown = match version {
        Some(version) => Either::Left(format!("Version {version}")),
        None => Either::Right(view! { <Badge state=State::Open>"None yet"</Badge> }),
    };
    view! {
        <tr>
            <th scope="row">{channel.to_string()}</th>
            <td>{shown}</td>
            <td class="table__medium">{released_at.map(|at| view! { <Moment at /> })}</td>
            <td class="table__actions">
                <div class="cluster cluster--end">{compare} {back} {promote}</div>
            </td>
        </tr>
    }
}

#[component]
fn Waiting(id: String, promotion: Promotion, found: Model) -> impl IntoView {
    let (version, channel) = (promotion.version, promotion.channel.clone());
    let cancelled = Outcome::about::<CancelPromotion>(&promotion.id.to_string());
    let release = format!("Version {version} to {channel}");
    let of = format!(" (version {version} to {channel})");
    let approve = promotion.may_be_approved_by(found.visitor).then(|| {
        let of = of.clone();
        view! {
            <OpenButton dialog=approve_dialog_id(promotion.id) rank=Rank::Primary size=Size::Small>
                "Approve"
                <span class="visually-hidden">{of}</span>
            </OpenButton>
        }
    });
    let compare = found.replaced_in(&channel, version).map(|current| {
        let (id, of) = (id.clone(), format!("versions {current} and {version}"));
        view! { <ComparePagesLink id versions=(current, version) of /> }
    });
    let state = move || match promotion.state {
        PromotionState::Scheduled => view! { <Badge state=State::Busy>"Scheduled"</Badge> },
        _ => view! { <Badge state=State::Warning>"Needs approval"</Badge> },
    };
    let due = promotion
        .due_at
        .map(|at| view! { <span class="table__sub">"To be released on " <Moment at /></span> });
    let requester = promotion.requester.map(|requester| format!(" by {requester}"));
    view! {
        <tr>
            <th scope="row">
                {release} <span class="table__sub table__narrow">{state()}</span>
                {due}
                <span class="table__sub break">"Requested" {requester} ", " <Moment at=promotion.inserted_at /></span>
            </th>
            <td class="table__medium">{state()}</td>
            <td class="table__actions">
                <div class="cluster cluster--end">
                    {compare} {approve} <ButtonForm outcome=cancelled>
                        <input type="hidden" name="id" value=id />
                        <SubmitButton size=Size::Small>"Cancel" <span class="visually-hidden">{of}</span></SubmitButton>
                    </ButtonForm>
                </div>
            </td>
        </tr>
    }
}

#[component]
fn Ended(
    promotion: Promotion,
    found: Model,
    /// Whether it is the latest one that has brought this release to the channel.
    is_latest: bool,
) -> impl IntoView {
    let (version, channel) = (promotion.version, promotion.channel.clone());
    let (state, words) = match promotion.state {
        PromotionState::Done if found.channels.preceding(&channel).is_none() => (State::Open, "Channel removed"),
        PromotionState::Done if is_latest && found.version_in(&channel) == Some(version) => {
            (State::Good, "Current release")
        }
        PromotionState::Done => (State::Open, "Replaced"),
        PromotionState::Failed => (State::Bad, "Failed: not possible when it was due"),
        _ => (State::Struck, "Cancelled"),
    };
    let again = (is_latest && can_return(&found, &promotion)).then(|| {
        let of = format!(" (version {version} to {channel})");
        view! {
            <OpenButton dialog=dialog_id(&channel, version) size=Size::Small>
                "Release again"
                <span class="visually-hidden">{of}</span>
            </OpenButton>
        }
    });
    let by = match (promotion.requester, promotion.approver) {
        (Some(requester), Some(approver)) => format!("{requester}, approved by {approver}"),
        (requester, _) => requester.unwrap_or_default(),
    };
    view! {
        <tr>
            <th scope="row">{format!("Version {version} to {channel}")}</th>
            <td>
                <Badge state>{words}</Badge>
            </td>
            <td class="table__medium">{by}</td>
            <td class="table__medium">{promotion.ended_at.map(|at| view! { <Moment at /> })}</td>
            <td class="table__actions">{again}</td>
        </tr>
    }
}

/// Returns the `id` of the dialog that promotes a version to a channel.
fn dialog_id(channel: &ChannelName, version: i32) -> String {
    format!("promote-{channel}-{version}")
}

/// Asks for confirmation and, on request, for the time of a promotion.
#[component]
fn PromoteDialog(
    /// Id of the template.
    id: String,
    channel: ChannelName,
    version: i32,
    found: Model,
) -> impl IntoView {
    let outcome = Outcome::about::<PromoteTemplate>(&promoted(channel.as_str(), version));
    let approval = (found.channels.need_approval() && channel.is_production()).then(|| {
        view! {
            <p class="small quiet">
                "If production has not had this version, and you have worked on it or its partials, another member must approve it."
            </p>
        }
    });
    view! {
        <DialogForm
            outcome
            id=dialog_id(&channel, version)
            title=format!("Release version {version} to {channel}")
            weight=Weight::Wide
            action="Release"
        >
            <input type="hidden" name="id" value=id.clone() />
            <p>
                "New renders of the channel use it. Queued and running renders keep the version with which they were accepted."
            </p>
            {approval}
            <FormField
                outcome
                field=Field::DueAt
                label="Time, UTC"
                kind="datetime-local"
                hint="Leave empty to release it now."
                optional=true
            />
            <ChangedPages id channel version found />
        </DialogForm>
    }
}

/// Returns the `id` of the dialog that approves a promotion.
fn approve_dialog_id(promotion: PromotionId) -> String {
    format!("approve-{promotion}")
}

/// Asks for confirmation of an approval.
#[component]
fn ApproveDialog(
    /// Id of the template.
    id: String,
    promotion: Promotion,
    found: Model,
) -> impl IntoView {
    let outcome = Outcome::about::<ApprovePromotion>(&promotion.id.to_string());
    let (version, channel) = (promotion.version, promotion.channel);
    let compared = found
        .replaced_in(&channel, version)
        .map(|_| view! { <p>"Compare the pages with each set of sample data below before you approve."</p> });
    let due = match promotion.due_at {
        Some(at) => Either::Left(view! {
            <p>"It is to be released on " <Moment at /> ". If that has passed, it is released now."</p>
        }),
        None => Either::Right(view! { <p>"It is released at once."</p> }),
    };
    view! {
        <DialogForm
            outcome
            id=approve_dialog_id(promotion.id)
            title=format!("Approve version {version} for {channel}")
            weight=Weight::Wide
            action="Approve"
        >
            <input type="hidden" name="id" value=id.clone() />
            <p>"Your approval is recorded in the account’s activity."</p>
            {compared}
            {due}
            <ChangedPages id channel version found />
        </DialogForm>
    }
}

/// The pages of a channel's release, compared with those of a version that is to replace it, for each set of sample data.
#[component]
fn ChangedPages(
    /// Id of the template.
    id: String,
    channel: ChannelName,
    version: i32,
    found: Model,
) -> impl IntoView {
    let current = found.replaced_in(&channel, version);
    current.map(|current| {
        view! {
            <h3>{format!("Pages, compared with version {current}")}</h3>
            <SetList id versions=(current, version) sets=found.sets />
        }
    })
}
