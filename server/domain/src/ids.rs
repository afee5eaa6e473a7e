//! Identifiers. Each kind has its own type, so that they can't be confused.

use uuid::Uuid;

macro_rules! identifiers {
    ($($(#[$documentation:meta])* $name:ident;)+) => {$(
        $(#[$documentation])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// Generates an id: UUID version 7, so that later ids sort after earlier ones (RFC 9562, 5.7).
            pub fn generate() -> Self {
                Self(Uuid::now_v7())
            }

            /// Parses an id as responses show it: digits in five groups. Returns `None` for other spellings of a UUID.
            pub fn parse(text: &str) -> Option<Self> {
                const DIGITS_AND_HYPHENS: usize = 36;
                text.parse().ok().filter(|_| text.len() == DIGITS_AND_HYPHENS)
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(formatter)
            }
        }

        impl std::str::FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    )+};
}

identifiers! {
    /// An account: the unit of tenancy, limits and billing.
    AccountId;
    /// A user.
    UserId;
    /// An API key; not a secret.
    ApiKeyId;
    RenderId;
    /// A process of the service, from its start to its end.
    InstanceId;
    /// A stored template.
    TemplateId;
    /// A promotion of a template's release to a channel.
    PromotionId;
    /// An asset of an account.
    AssetId;
    BatchId;
    /// A link to a document; not its token.
    DownloadLinkId;
    /// A storage connection.
    ConnectionId;
    /// A webhook endpoint of an account.
    EndpointId;
    /// A webhook delivery. That of a webhook in a request has the id of its render.
    DeliveryId;
    /// An audit event of an account.
    EventId;
    /// An invitation to an account; not the token in its link.
    InvitationId;
    /// A browser's session; not the token in its cookie.
    SessionId;
    /// A browser that a user has logged in with; not the token in its cookie.
    DeviceId;
    /// A passkey; not the credential id of its authenticator.
    PasskeyId;
    MailId;
    /// An announcement of operators.
    AnnouncementId;
    /// An export of an account; not a secret.
    ExportId;
}
