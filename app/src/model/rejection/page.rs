//! Reasons that are only shown on pages without islands: in the WebAssembly module they would only take up space.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::rejection::refusal::{PaymentRefusal, RenderRefusal};

/// Why a form of a page without islands was rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageReason {
    /// No user has this email address and password.
    WrongCredentials,
    /// It is not the user's password.
    WrongPassword,
    /// The action needs more than a session: the user must confirm their identity first.
    Unconfirmed,
    /// The passkey's response is too late, or for another challenge than the last one.
    PasskeyTooLate,
    /// It is none of the user's passkeys, or its response doesn't match the challenge.
    PasskeyRefused,
    /// The user has the maximum number of passkeys.
    TooManyPasskeys,
    /// The link of a mail was used, replaced or has expired.
    WorthlessLink,
    /// Another user has this email address.
    EmailTaken,
    /// A key that is revoked or has expired can't be replaced.
    KeyEnded,
    /// The invitation is for another email address.
    OthersInvitation,
    /// The account has reached its daily limit of invitations.
    TooManyInvitations,
    /// An owner can't leave or be demoted before transferring the account.
    OwnerStays,
    /// Documents can't be written with the new credentials of a storage connection.
    CredentialsRejected,
    /// Members can't approve their own releases, nor those whose promotion they have requested.
    OwnRelease,
    /// The pages of a release have to be compared before it is approved.
    NotCompared {
        /// Number of sets of sample data with which they have to be compared.
        sets: usize,
    },
    /// The version can't be promoted to the channel, or the promotion no longer waits.
    NotPromotable,
    /// A channel that would become the first one has other releases than what is published.
    ChannelsDiffer,
    /// An export of the account is in progress.
    ExportUnderWay,
    /// The account has the maximum number of webhook endpoints.
    TooManyEndpoints,
    /// The account has reached its daily limit of exports.
    ExportsSpent,
    /// Another version has been published since the page was loaded.
    PublishedMeanwhile,
    /// The account has the maximum number of batches that have not ended.
    TooManyBatches,
    /// The state of the batch no longer allows the change.
    BatchChanged,
    /// About a render or its delivery.
    Render(RenderRefusal),
    /// About a plan or a payment.
    Payment(PaymentRefusal),
}

impl PageReason {
    /// Returns the HTTP status for this reason.
    pub(crate) fn status(&self) -> u16 {
        match self {
            Self::WrongCredentials
            | Self::WrongPassword
            | Self::PasskeyRefused
            | Self::OthersInvitation
            | Self::OwnRelease
            | Self::Unconfirmed => 403,
            Self::TooManyInvitations | Self::ExportsSpent => 429,
            Self::Payment(_)
            | Self::Render(_)
            | Self::PublishedMeanwhile
            | Self::ChannelsDiffer
            | Self::NotCompared { .. }
            | Self::NotPromotable
            | Self::OwnerStays
            | Self::TooManyPasskeys
            | Self::TooManyEndpoints
            | Self::TooManyBatches
            | Self::BatchChanged
            | Self::ExportUnderWay => 409,
            Self::KeyEnded
            | Self::CredentialsRejected
            | Self::WorthlessLink
            | Self::EmailTaken
            | Self::PasskeyTooLate => 422,
        }
    }
}

impl fmt::Display for PageReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotCompared { sets: 1 } => {
                "Not approved yet: compare the pages with each set of sample data below. One set is left."
            }
            Self::NotCompared { sets } => {
                return write!(
                    formatter,
                    "Not approved yet: compare the pages with each set of sample data below. {sets} sets are left."
                );
            }
            Self::WrongCredentials => "Email or password is wrong.",
            Self::WrongPassword => "This password is wrong.",
            Self::Unconfirmed => {
                "Your identity is confirmed, but nothing has changed yet. Submit the form again."
            }
            Self::PasskeyTooLate => {
                "The passkey request has expired, or was replaced in another tab. Try again."
            }
            Self::PasskeyRefused => {
                "This passkey was not accepted. Try again, or use another method."
            }
            Self::TooManyPasskeys => "You have ten passkeys, the maximum. Remove one first.",
            Self::WorthlessLink => {
                "This link has been used or replaced, or has expired. Request a new one."
            }
            Self::KeyEnded => "This key is revoked or has expired. Create a new one.",
            Self::OwnRelease => {
                "You have saved this release, or requested its promotion. Ask another member to approve it."
            }
            Self::NotPromotable => "The releases below don’t allow this, or have changed. Promote the version to the preceding channel first, or cancel promotions that wait.",
            Self::ChannelsDiffer => {
                "The channel that would be the first one lacks published versions of templates. Promote them to it, and save again."
            }
            Self::ExportUnderWay => {
                "An export is in progress. We’ll email you when it is ready."
            }
            Self::ExportsSpent => {
                "An account can create at most three exports a day. Try again tomorrow."
            }
            Self::TooManyEndpoints => {
                "The account has ten webhook endpoints, the maximum. Delete one first."
            }
            Self::EmailTaken => "Another user has this email address. Use a different one.",
            Self::OthersInvitation => "This invitation is for a different email address. Log out, then open its link again.",
            Self::TooManyInvitations => {
                "An account can send at most 50 invitations a day. Try again tomorrow."
            }
            Self::OwnerStays => {
                "The owner can’t leave or change roles. Make another member the owner first."
            }
            Self::CredentialsRejected => {
                "The test with the new credentials failed. The previous credentials stay in use."
            }
            Self::PublishedMeanwhile => "Another version has been published since you opened this page. Check it, and publish again.",
            Self::TooManyBatches => {
                "The account has 20 batches that have not ended, the maximum. Wait for one, or cancel one."
            }
            Self::BatchChanged => {
                "The batch has changed since you opened this page, and no longer allows this. Its current state is shown below."
            }
            Self::Render(refusal) => refusal.sentence(),
            Self::Payment(refusal) => refusal.sentence(),
        })
    }
}
