//! A macro for kinds of audit events.

/// Defines an enum of audit events: for each event its fields, the name of its kind, and the sentence that users read.
/// The part of a kind's name before the dot is the event's subject, by which users filter.
macro_rules! audit_events {
    (
        $(#[$documentation:meta])* $audit_events:ident;
        $($name:ident { $($(#[$attribute:meta])* $field:ident: $type:ty),* } $word:literal $sentence:literal;)*
    ) => {
        $(#[$documentation])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "kind")]
        pub enum $audit_events {
            $(#[serde(rename = $word)] $name { $($(#[$attribute])* $field: $type),* },)*
        }

        impl $audit_events {
            /// The names of all kinds.
            pub const KINDS: &[&str] = &[$($word),*];

            /// Returns the name of the kind: the subject, a dot, and what happened to it.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => $word,)*
                }
            }

            /// Returns the sentence that users read, without the actor, who precedes it.
            pub fn sentence(&self) -> String {
                match self {
                    $(Self::$name { $($field),* } => format!($sentence),)*
                }
            }
        }
    };
}

pub(crate) use audit_events;
