//! Identifiers. Each kind is its own type, so that one can't be passed for another.

use uuid::Uuid;

macro_rules! identifier {
    ($(#[$documentation:meta])* $name:ident) => {
        $(#[$documentation])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A new one: UUID version 7, so that later ones sort after earlier ones (RFC 9562, 5.7).
            pub fn generate() -> Self {
                Self(Uuid::now_v7())
            }

            /// Reads an identifier as answers show it: digits in five groups. Other spellings of a UUID name nothing.
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
    };
}

identifier! {
    /// An account: the unit of tenancy, limits and billing.
    AccountId
}
identifier! {
    /// A person.
    UserId
}
identifier! {
    /// An API key; not a secret.
    ApiKeyId
}
identifier! {
    /// One render.
    RenderId
}
identifier! {
    /// A process of the service, from its start to its end.
    InstanceId
}
identifier! {
    /// A stored template.
    TemplateId
}
identifier! {
    /// A storage connection.
    ConnectionId
}
identifier! {
    /// What was done once in an account.
    DeedId
}
identifier! {
    /// An invitation into an account; not what its link holds.
    InvitationId
}
identifier! {
    /// A browser's session; not what its cookie holds.
    SessionId
}
identifier! {
    /// A browser that somebody has logged in with; not what its cookie holds.
    DeviceId
}
identifier! {
    /// A passkey; not what its authenticator calls it.
    PasskeyId
}
identifier! {
    /// A mail.
    MailId
}
identifier! {
    /// What operators tell everybody.
    AnnouncementId
}
identifier! {
    /// An archive of an account; no secret.
    ExportId
}
