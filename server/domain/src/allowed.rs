//! The templates and channels that a key may use.

use std::{collections::BTreeSet, fmt};

use crate::{
    ids::TemplateId,
    template::channels::{ChannelName, Channels},
};

/// A list of what a key may use. An empty list means no restriction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed<T>(BTreeSet<T>);

/// A list of templates. With one, the key renders only these, and neither sees nor changes others.
pub type AllowedTemplates = Allowed<TemplateId>;

/// A list of channels. With one, the key renders templates only from these, and makes no change that affects others.
/// Previews and comparisons show all versions.
pub type AllowedChannels = Allowed<ChannelName>;

impl<T: Ord> Allowed<T> {
    /// Returns whether there is no restriction: everything may be used, and content of any other kind.
    pub fn everything(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether an item may be used.
    pub fn contains(&self, item: &T) -> bool {
        self.everything() || self.0.contains(item)
    }

    /// Returns the items in a fixed order; none if there is no restriction.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }
}

impl AllowedChannels {
    /// Fails for a channel that may not be used.
    pub fn check(&self, channel: &ChannelName) -> Result<(), NotAllowed> {
        if self.contains(channel) {
            Ok(())
        } else {
            Err(NotAllowed {
                kind: "channels",
                what: format!("the channel {channel}"),
            })
        }
    }

    /// Fails unless all of an account's channels may be used.
    pub fn check_all(&self, channels: &Channels) -> Result<(), NotAllowed> {
        channels.names().iter().try_for_each(|channel| self.check(channel))
    }
}

impl<T: Ord> Default for Allowed<T> {
    fn default() -> Self {
        Self(BTreeSet::new())
    }
}

impl<T: Ord> FromIterator<T> for Allowed<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

/// A key that is restricted to certain templates or channels requests something else.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct NotAllowed {
    /// What the key is restricted to.
    kind: &'static str,
    /// The requested item, as a phrase.
    what: String,
}

impl fmt::Display for NotAllowed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, what } = self;
        write!(formatter, "the API key is for certain {kind} only, not for {what}")
    }
}

impl NotAllowed {
    /// Creates an error of a key for certain templates. The phrase follows "not for".
    pub fn new(what: impl Into<String>) -> Self {
        Self {
            kind: "templates",
            what: what.into(),
        }
    }
}
