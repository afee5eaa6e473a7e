//! Account activity: the audit events that an account's owner and admins see.

use std::fmt;

use time::OffsetDateTime;

use crate::{
    audit_events::audit_events,
    caller::{Caller, User},
    client::Client,
    ids::{ApiKeyId, EventId, UserId},
};

audit_events! {
    /// An audit event of an account. Contains no secrets; user input in it is shown as plain text.
    AccountEvent;
    AccountRenamed { name: String } "account.renamed" "renamed the account to {name}";
    ContentKept {} "account.content_kept" "turned on storage of request content";
    ContentForgotten {} "account.content_forgotten" "turned off storage of request content";
    DocumentLinksSet { minutes: i32 } "account.document_links_set" "set links to new documents to expire after {minutes} minutes";
    DocumentLinksByPlan {} "account.document_links_by_plan" "set links to new documents to expire by the plan";
    DocumentsMadePublic {} "account.documents_made_public" "set new documents to have public addresses";
    ExportAsked {} "account.export_asked" "requested an export of the account";
    ExportFetched {} "account.export_fetched" "downloaded an export of the account";
    DeletionAsked { on: String } "account.deletion_asked" "scheduled the deletion of the account for {on}";
    DeletionUndone {} "account.deletion_undone" "cancelled the deletion of the account";
    OwnerChanged { from: String, to: String } "account.owner_changed" "transferred the account from {from} to {to}";
    MemberInvited { email: String, role: String } "member.invited" "invited {email} as {role}";
    InvitationSentAgain { email: String } "member.invited_again" "resent the invitation to {email}";
    InvitationWithdrawn { email: String } "member.invitation_withdrawn" "withdrew the invitation to {email}";
    MemberJoined { role: String } "member.joined" "joined as {role}";
    RoleChanged { email: String, from: String, to: String } "member.role_changed" "changed the role of {email} from {from} to {to}";
    MemberRemoved { email: String } "member.removed" "removed {email}";
    MemberLeft {} "member.left" "left the account";
    SecondFactorOn {} "second_factor.turned_on" "turned on an authenticator app as a second factor";
    SecondFactorOff {} "second_factor.turned_off" "turned off the authenticator app as a second factor";
    PasskeyAdded { name: String } "passkey.added" "added the passkey {name}";
    PasskeyRemoved { name: String } "passkey.removed" "removed the passkey {name}";
    SecondFactorRemoved { email: String } "second_factor.removed" "removed the second factor of {email}";
    RecoveryCodesRenewed {} "second_factor.codes_renewed" "created new recovery codes";
    SecondFactorRequired { from: String } "second_factor.required" "required a second factor for all members from {from}";
    SecondFactorOptional {} "second_factor.optional" "made the second factor optional for all members";
    SessionEnded {} "session.ended" "ended one of their sessions";
    OtherSessionsEnded {} "session.others_ended" "ended all their other sessions";
    PlanChosen { plan: String } "payment.plan_chosen" "chose the {plan} plan";
    PlanKept {} "payment.plan_kept" "cancelled the change to a smaller plan";
    SubscriptionCancelled {} "payment.subscription_cancelled" "cancelled the subscription at the end of its period";
    SubscriptionResumed {} "payment.subscription_resumed" "resumed the subscription";
    OverageAllowed { credits: i64 } "payment.overage_allowed" "allowed up to {credits} overage credits in each period";
    OverageEnded {} "payment.overage_ended" "turned off overage";
    PlanGiven { plan: String } "payment.plan_given" "set the {plan} plan to match the subscription";
    CreditsBought { credits: i64 } "payment.credits_bought" "added {credits} purchased credits";
    CreditsTakenBack { credits: i64 } "payment.credits_taken_back" "removed {credits} refunded credits";
    KeyCreated { name: String } "key.created" "created the API key {name}";
    KeyChanged { name: String, #[serde(default)] settings: KeySettingNames } "key.changed" "changed {settings} of the API key {name}";
    KeyRotated { name: String } "key.rotated" "rotated the API key {name}";
    KeyRevoked { name: String } "key.revoked" "revoked the API key {name}";
    ConnectionCreated { name: String } "destination.connected" "created the storage connection {name}";
    ConnectionChanged { name: String } "destination.changed" "changed the storage connection {name}";
    ConnectionCredentialsRotated { name: String } "destination.credentials_rotated" "rotated the credentials of the storage connection {name}";
    ConnectionDeleted { name: String } "destination.deleted" "deleted the storage connection {name}";
    WebhookSecretShown {} "webhook.secret_shown" "viewed the webhook secret";
    WebhookSecretReplaced {} "webhook.secret_replaced" "rotated the webhook secret";
    WebhookEndpointCreated { address: String } "webhook.endpoint_created" "created the webhook endpoint {address}";
    WebhookEndpointChanged { address: String } "webhook.endpoint_changed" "changed the webhook endpoint {address}";
    WebhookEndpointEnabled { address: String } "webhook.endpoint_enabled" "enabled the webhook endpoint {address}";
    WebhookEndpointDisabled { address: String } "webhook.endpoint_disabled" "disabled the webhook endpoint {address}";
    WebhookEndpointFailed { address: String } "webhook.endpoint_failed" "disabled the webhook endpoint {address}, whose deliveries have failed for five days";
    WebhookEndpointDeleted { address: String } "webhook.endpoint_deleted" "deleted the webhook endpoint {address}";
    TemplateCreated { name: String } "template.created" "created the template {name}";
    TemplateDeleted { name: String } "template.deleted" "deleted the template {name}";
    AssetCreated { name: String } "asset.created" "created the asset {name}";
    AssetReplaced { name: String } "asset.replaced" "replaced the asset {name}";
    AssetDeleted { name: String } "asset.deleted" "deleted the asset {name}";
    LookedInto { reason: String, minutes: i64 } "operator.looked" "viewed the account as its owner, read-only, for up to {minutes} minutes ({reason})";
    Suspended {} "operator.suspended" "suspended the account";
    Restored {} "operator.restored" "lifted the suspension of the account";
    CreditsGranted { credits: i64 } "operator.credits_granted" "granted {credits} credits";
    PlanSet { plan: String } "operator.plan_set" "changed the plan of the account to {plan}";
    TemplatePromoted { name: String, version: i32, channel: String } "template.promoted" "released version {version} of the template {name} to {channel}";
    TemplatePromotionRequested { name: String, version: i32, channel: String } "template.promotion_requested" "requested approval of version {version} of the template {name} for {channel}";
    TemplatePromotionScheduled { name: String, version: i32, channel: String, due: String } "template.promotion_scheduled" "scheduled version {version} of the template {name} for {channel} on {due}";
    TemplatePromotionApproved { name: String, version: i32, channel: String } "template.promotion_approved" "approved version {version} of the template {name} for {channel}";
    TemplatePromotionCancelled { name: String, version: i32, channel: String } "template.promotion_cancelled" "cancelled the release of version {version} of the template {name} to {channel}";
    TemplatePromotionFailed { name: String, version: i32, channel: String } "template.promotion_failed" "could not release version {version} of the template {name} to {channel}";
    ChannelsChanged { channels: String, approval: String } "template.channels_changed" "set the channels of templates to {channels}, {approval}";
    LimitsSet {} "operator.limits_set" "changed the limits of the account";
    TemplatePublished { name: String, version: i32 } "template.published" "published version {version} of the template {name}";
}

impl AccountEvent {
    /// Replaces the email addresses of people that `name` knows with their names, followed by the addresses.
    #[must_use]
    pub fn with_names(mut self, name: impl Fn(&str) -> Option<String>) -> Self {
        let (first, second) = match &mut self {
            Self::OwnerChanged { from, to } => (Some(from), Some(to)),
            Self::MemberInvited { email, .. }
            | Self::InvitationSentAgain { email }
            | Self::InvitationWithdrawn { email }
            | Self::RoleChanged { email, .. }
            | Self::MemberRemoved { email }
            | Self::SecondFactorRemoved { email } => (Some(email), None),
            _ => (None, None),
        };
        for email in [first, second].into_iter().flatten() {
            if let Some(name) = name(email) {
                *email = format!("{name} ({email})");
            }
        }
        self
    }
}

/// A setting of an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeySetting {
    Name,
    Scopes,
    Expiry,
    AllowedNetworks,
    AllowedTemplates,
    AllowedChannels,
    CreditLimit,
}

/// The settings of an API key that were changed. Empty in events of earlier releases, which didn't record them.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct KeySettingNames(pub Vec<KeySetting>);

impl fmt::Display for KeySettingNames {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().map(|setting| setting.name()).collect();
        match names.as_slice() {
            [] => formatter.write_str("settings"),
            [only] => write!(formatter, "the {only}"),
            [first @ .., last] => write!(formatter, "the {} and {last}", first.join(", ")),
        }
    }
}

impl KeySetting {
    fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Scopes => "scopes",
            Self::Expiry => "expiry",
            Self::AllowedNetworks => "allowed addresses",
            Self::AllowedTemplates => "allowed templates",
            Self::AllowedChannels => "allowed channels",
            Self::CreditLimit => "credit limit",
        }
    }
}

/// What an audit event is about: the part of its kind before the dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Topic {
    Account,
    Member,
    Session,
    SecondFactor,
    Passkey,
    Key,
    Template,
    Asset,
    Destination,
    Webhook,
    Payment,
    Operator,
}

impl Topic {
    /// Returns the display name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Account => "Account",
            Self::Member => "Members and invitations",
            Self::Session => "Sessions",
            Self::SecondFactor => "Second factor",
            Self::Passkey => "Passkeys",
            Self::Key => "API keys",
            Self::Template => "Templates",
            Self::Asset => "Assets",
            Self::Destination => "Storage connections",
            Self::Webhook => "Webhooks",
            Self::Payment => "Plan and billing",
            Self::Operator => "Operators of this service",
        }
    }
}

/// Who or what caused an audit event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActorKind {
    /// A logged-in user.
    Person {
        id: UserId,
        /// The user's email address at that time.
        email: String,
    },
    /// A program that used an API key.
    Key {
        id: ApiKeyId,
        /// The email address of the key's creator.
        creator: String,
    },
    /// An operator of the service, on the command line or in the dashboard.
    Operator,
    /// The service itself.
    Service,
}

/// The actor of an audit event, and the client that was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    pub kind: ActorKind,
    /// `None` if the action did not come from a client, for instance on the command line.
    pub client: Option<Client>,
}

impl Actor {
    pub const OPERATOR: Self = Self {
        kind: ActorKind::Operator,
        client: None,
    };

    /// The service itself.
    pub const SERVICE: Self = Self {
        kind: ActorKind::Service,
        client: None,
    };

    /// Returns the actor for a user in a browser.
    pub fn of_person(person: User, client: &Client) -> Self {
        Self {
            kind: ActorKind::Person {
                id: person.id,
                email: person.email,
            },
            client: Some(client.clone()),
        }
    }

    /// Returns the actor for a caller: a key, or a logged-in user.
    pub fn of_caller(caller: &Caller) -> Self {
        let kind = match caller.key {
            Some(id) => ActorKind::Key {
                id,
                creator: caller.user.email.clone(),
            },
            None => ActorKind::Person {
                id: caller.user.id,
                email: caller.user.email.clone(),
            },
        };
        Self {
            kind,
            client: caller.client.clone(),
        }
    }
}

/// An audit event as recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct LogEntry {
    pub id: EventId,
    pub happened_at: OffsetDateTime,
    /// Kind of actor: `person`, `key`, `operator` or `service`.
    pub actor: String,
    /// The user's email address at the time, or the key's name; empty for other actors.
    pub actor_name: String,
    /// IP address of the client.
    pub address: Option<String>,
    pub user_agent: Option<String>,
    /// Kind of the event, such as `key.created`.
    pub kind: String,
    /// The event itself. `None` if another release wrote it and this one can't read it.
    pub event: Option<AccountEvent>,
}

impl LogEntry {
    /// Returns the actor's display name.
    pub fn who(&self) -> String {
        match self.actor.as_str() {
            "operator" => "An operator of this service".to_owned(),
            "service" => "This service".to_owned(),
            _ => self.actor_name.clone(),
        }
    }

    /// Returns a description of the event for display.
    pub fn what(&self) -> String {
        self.event
            .as_ref()
            .map_or_else(|| self.kind.clone(), AccountEvent::sentence)
    }
}

/// A filter for account activity; `None` matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivityFilter {
    /// Only events of this user.
    pub person: Option<UserId>,
    /// Only events of this topic.
    pub topic: Option<Topic>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use strum::VariantArray;

    use super::*;

    #[test]
    fn an_event_is_read_as_it_was_stored() {
        let event = AccountEvent::MemberInvited {
            email: "ann@example.org".to_owned(),
            role: "admin".to_owned(),
        };
        let kept = serde_json::to_value(&event).expect("JSON");
        assert_eq!(kept["kind"], event.kind());
        assert_eq!(serde_json::from_value::<AccountEvent>(kept).expect("an event"), event);
        assert_eq!(event.sentence(), "invited ann@example.org as admin");
    }

    #[test]
    fn a_changed_key_says_which_settings() {
        for (settings, sentence) in [
            (json!([]), "changed settings of the API key Billing"),
            (json!(["expiry"]), "changed the expiry of the API key Billing"),
            (
                json!(["name", "allowed_networks", "credit_limit"]),
                "changed the name, allowed addresses and credit limit of the API key Billing",
            ),
        ] {
            let stored = json!({"kind": "key.changed", "name": "Billing", "settings": settings});
            let event: AccountEvent = serde_json::from_value(stored).expect("an event");
            assert_eq!(event.sentence(), sentence);
        }
        let earlier = json!({"kind": "key.changed", "name": "Billing"});
        let earlier: AccountEvent = serde_json::from_value(earlier).expect("an event of an earlier release");
        assert_eq!(earlier.sentence(), "changed settings of the API key Billing");
    }

    #[test]
    fn names_precede_the_addresses_of_people_who_have_one() {
        let event = AccountEvent::OwnerChanged {
            from: "ann@example.org".to_owned(),
            to: "bob@example.org".to_owned(),
        };
        let named = event.with_names(|email| (email == "ann@example.org").then(|| "Ann Finch".to_owned()));
        assert_eq!(
            named.sentence(),
            "transferred the account from Ann Finch (ann@example.org) to bob@example.org"
        );
    }

    #[test]
    fn every_kind_has_a_topic_with_a_name_of_its_own() {
        for kind in AccountEvent::KINDS {
            let (topic, _) = kind.split_once('.').expect("a topic");
            assert!(topic.parse::<Topic>().is_ok(), "{kind}");
        }
        let mut names: Vec<_> = Topic::VARIANTS.iter().map(|topic| topic.name()).collect();
        assert!(names.iter().all(|name| !name.contains('_')), "{names:?}");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Topic::VARIANTS.len());
    }

    #[test]
    fn every_kind_says_what_it_is_about_and_is_there_once() {
        let mut kinds = AccountEvent::KINDS.to_vec();
        assert!(kinds.iter().all(|kind| kind.split('.').count() == 2), "{kinds:?}");
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), AccountEvent::KINDS.len());
    }
}
