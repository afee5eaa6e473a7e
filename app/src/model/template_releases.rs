//! Releases of a template in the channels of its account.

use platen_domain::{
    ids::UserId,
    template::{
        channels::{ChannelName, Channels},
        identity::TemplateKind,
        promotions::{ChannelRelease, Promotion, PromotionState},
    },
};

/// Everything that the page of a template's releases shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Releases {
    /// Name of the published version.
    pub name: String,
    pub kind: TemplateKind,
    pub channels: Channels,
    /// The release in each channel, in their order.
    pub releases: Vec<ChannelRelease>,
    /// The promotions that wait for their approval or time, the newest first.
    pub waiting: Vec<Promotion>,
    /// The latest promotions, the newest first.
    pub latest: Vec<Promotion>,
    /// Names of the sets of sample data.
    pub sets: Vec<String>,
    /// The logged-in user.
    pub visitor: UserId,
}

impl Releases {
    /// Returns the number of a channel's release.
    pub fn version_in(&self, channel: &ChannelName) -> Option<i32> {
        let release = self.releases.iter().find(|release| release.channel == *channel);
        release.and_then(|release| release.version)
    }

    /// Returns the number of the release that another version would replace in a channel.
    pub fn replaced_in(&self, channel: &ChannelName, version: i32) -> Option<i32> {
        self.version_in(channel).filter(|current| *current != version)
    }

    /// Returns the number of the release that a channel had before its present one.
    pub fn previous_in(&self, channel: &ChannelName) -> Option<i32> {
        self.channels.preceding(channel)?;
        let mut done = self.latest.iter();
        let done = done.find(|promotion| promotion.channel == *channel && promotion.state == PromotionState::Done);
        done.and_then(|promotion| promotion.previous_version)
            .filter(|previous| self.version_in(channel) != Some(*previous))
    }
}
