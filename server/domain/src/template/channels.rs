//! Channels: the stages through which releases of templates pass before requests get them by default.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The channel of requests that name none. It is always the last one.
pub const PRODUCTION: &str = "production";
/// Maximum number of channels before `production`.
pub const MOST_BEFORE_PRODUCTION: usize = 4;
/// Maximum length of a name, in characters.
const LONGEST_NAME: usize = 32;

/// The name of a channel: 1 to 32 of the letters a to z, digits and hyphens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ChannelName(String);

impl ChannelName {
    /// Returns `None` for an invalid name.
    pub fn parse(text: &str) -> Option<Self> {
        let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        let is_valid = (1..=LONGEST_NAME).contains(&text.len()) && text.bytes().all(is_allowed);
        is_valid.then(|| Self(text.to_owned()))
    }

    pub fn production() -> Self {
        Self(PRODUCTION.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_production(&self) -> bool {
        self.0 == PRODUCTION
    }
}

impl fmt::Display for ChannelName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Error of an invalid name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a channel's name has 1 to {LONGEST_NAME} of the letters a to z, digits and hyphens")]
pub struct InvalidChannelName;

impl FromStr for ChannelName {
    type Err = InvalidChannelName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text).ok_or(InvalidChannelName)
    }
}

impl TryFrom<String> for ChannelName {
    type Error = InvalidChannelName;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// The channels of an account, and the rule for promotions to `production`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Channels {
    /// In order; the last one is `production`.
    channels: Vec<ChannelName>,
    /// Whether another member than the author must approve the first promotion of a release to `production`.
    approval: bool,
}

impl Default for Channels {
    fn default() -> Self {
        Self::new([], false)
    }
}

impl Channels {
    /// Creates channels from those before `production`. Without any, no approval is possible.
    pub fn new(before: impl IntoIterator<Item = ChannelName>, approval: bool) -> Self {
        let mut channels: Vec<_> = before.into_iter().collect();
        let approval = approval && !channels.is_empty();
        channels.push(ChannelName::production());
        Self { channels, approval }
    }

    /// Parses the channels of a form, with one before `production` on each line or after each comma.
    pub fn parse(before: &str, approval: bool) -> Result<Self, ChannelsProblem> {
        let written = before.split(['\n', ',']).map(str::trim).filter(|name| !name.is_empty());
        let mut channels = Vec::new();
        for name in written {
            let name = ChannelName::parse(name).ok_or_else(|| ChannelsProblem::Invalid(name.to_owned()))?;
            if name.is_production() {
                return Err(ChannelsProblem::Production);
            }
            if channels.contains(&name) {
                return Err(ChannelsProblem::Twice(name));
            }
            channels.push(name);
        }
        if channels.len() > MOST_BEFORE_PRODUCTION {
            return Err(ChannelsProblem::TooMany(channels.len()));
        }
        if approval && channels.is_empty() {
            return Err(ChannelsProblem::ApprovalWithoutChannels);
        }
        Ok(Self::new(channels, approval))
    }

    /// Returns whether published versions are rendered at once.
    pub fn are_off(&self) -> bool {
        self.channels.len() == 1
    }

    /// Returns the names in order; the last one is `production`.
    pub fn names(&self) -> &[ChannelName] {
        &self.channels
    }

    /// Returns the names before `production`.
    pub fn before_production(&self) -> &[ChannelName] {
        &self.channels[..self.channels.len() - 1]
    }

    /// Returns the channel that has the published version of each template.
    pub fn first(&self) -> &ChannelName {
        &self.channels[0]
    }

    pub fn contains(&self, name: &ChannelName) -> bool {
        self.channels.contains(name)
    }

    /// Returns the channel before another one; `None` for the first one and for unknown ones.
    pub fn preceding(&self, name: &ChannelName) -> Option<&ChannelName> {
        let position = self.channels.iter().position(|channel| channel == name)?;
        self.channels.get(position.checked_sub(1)?)
    }

    pub fn need_approval(&self) -> bool {
        self.approval
    }

    /// Returns the names as part of a sentence.
    pub fn listed(&self) -> String {
        let names: Vec<_> = self.channels.iter().map(ChannelName::as_str).collect();
        names.join(", ")
    }
}

/// Channels in a form are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChannelsProblem {
    #[error("{0:?} is no name of a channel. Use 1 to 32 of the letters a to z, digits and hyphens.")]
    Invalid(String),
    #[error("The last channel is always production. List only the channels before it.")]
    Production,
    #[error("The channel {0} is listed twice.")]
    Twice(ChannelName),
    #[error("There may be up to {MOST_BEFORE_PRODUCTION} channels before production; these are {0}.")]
    TooMany(usize),
    #[error("Approval needs a channel before production, in which a release waits for it. Add one.")]
    ApprovalWithoutChannels,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn production_is_the_last_channel() {
        let channels = Channels::parse("development, staging\n", true).expect("channels");
        assert_eq!(channels.listed(), "development, staging, production");
        assert_eq!(channels.first().as_str(), "development");
        let preceding = |name: &str| channels.preceding(&ChannelName::parse(name)?).map(ChannelName::as_str);
        assert_eq!(preceding("production"), Some("staging"));
        assert_eq!(preceding("development"), None);
        assert_eq!(preceding("qa"), None);
        assert!(channels.need_approval());
        let off = Channels::parse("\n", false).expect("no channels");
        assert!(off.are_off() && off.first().is_production());
        assert_eq!(off, Channels::default());
    }

    #[test]
    fn faults_of_forms_are_named() {
        let problem = |before: &str, approval| Channels::parse(before, approval).expect_err("a problem");
        assert_eq!(problem("Staging", false), ChannelsProblem::Invalid("Staging".into()));
        assert_eq!(problem("dev, production", false), ChannelsProblem::Production);
        assert!(matches!(problem("dev, dev", false), ChannelsProblem::Twice(_)));
        assert_eq!(problem("a,b,c,d,e", false), ChannelsProblem::TooMany(5));
        assert_eq!(problem("", true), ChannelsProblem::ApprovalWithoutChannels);
        assert!(matches!(problem(&"x".repeat(33), false), ChannelsProblem::Invalid(_)));
    }
}
