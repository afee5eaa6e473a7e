//! Lists of what can be done, for the logs that it is written down in.

/// Makes an enum of deeds: for each what belongs to it, the word for its kind, and what people read of it. The part of the
/// word before the dot is what the deed is about, by which people look for it.
macro_rules! deeds {
    (
        $(#[$documentation:meta])* $deeds:ident;
        $($name:ident { $($field:ident: $type:ty),* } $word:literal $sentence:literal;)*
    ) => {
        $(#[$documentation])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "kind")]
        #[expect(missing_docs, reason = "what is read of each says it")]
        pub enum $deeds {
            $(#[serde(rename = $word)] $name { $($field: $type),* },)*
        }

        impl $deeds {
            /// The words for all kinds.
            pub const KINDS: &[&str] = &[$($word),*];

            /// The word for its kind: what it is about, a dot, and what became of that.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => $word,)*
                }
            }

            /// What people read of it: who did it stands before.
            pub fn sentence(&self) -> String {
                match self {
                    $(Self::$name { $($field),* } => format!($sentence),)*
                }
            }
        }
    };
}

pub(in crate::domain) use deeds;
