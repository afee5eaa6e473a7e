//! Validation errors of forms. They travel in the address of the page, which anyone can forge.
//! Therefore they contain no texts, only values for which texts are chosen.

#[cfg(feature = "ssr")]
pub mod page;
#[cfg(feature = "ssr")]
pub mod refusal;

use std::fmt;

use platen_domain::{editor::SampleSetProblem, storage::StorageFull};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Values of [`Field::KeyMode`] and [`Field::BatchMode`].
pub const LIVE: &str = "live";
pub const TEST: &str = "test";

const NAME_RULE: &str = "Enter a name of 1 to 200 characters.";

/// A field of a form. The names are used in forms and in the validation errors of the services.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[strum(const_into_str, serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Field {
    Name,
    Email,
    /// The new email address of a user.
    NewEmail,
    AccountName,
    /// A password that is being chosen.
    Password,
    /// A code of the authenticator app.
    Code,
    RecoveryCode,
    PasskeyName,
    /// The day from which all members need a second factor.
    SecondFactorFrom,
    /// Hidden: id of the item that the form is about.
    Subject,
    /// The name of the item to be deleted, typed for confirmation.
    Confirmation,
    KeyName,
    /// Whether a key is live or a test key.
    KeyMode,
    Scopes,
    /// When a key expires.
    Expiry,
    /// The day on which a key expires, if that is chosen.
    ExpiryDay,
    /// Networks from which a key may be used.
    Networks,
    /// Templates to which a key is restricted.
    Templates,
    /// Credits that a key may use in each period.
    CreditLimit,
    /// Time for which a replaced key stays valid.
    Overlap,
    /// Kind of storage.
    Provider,
    /// How the service authenticates to an S3-compatible store.
    AmazonAccess,
    /// How the service authenticates to Google Cloud Storage.
    GoogleAccess,
    ConnectionName,
    Bucket,
    /// Prefix of the names of a connection’s objects.
    PathPrefix,
    /// Region of a bucket.
    Region,
    /// Address of an S3-compatible store other than Amazon’s.
    Endpoint,
    /// An AWS role.
    RoleArn,
    /// Id of an access key.
    AccessKeyId,
    /// Secret of an access key.
    SecretAccessKey,
    /// Email address of a Google service account.
    ClientEmail,
    /// Key of a Google service account.
    KeyFile,
    /// URL of a webhook endpoint.
    WebhookUrl,
    /// Description of a webhook endpoint.
    EndpointDescription,
    /// Events that a webhook endpoint receives.
    Events,
    /// Email addresses to invite.
    Emails,
    /// Role of a member.
    Role,
    TemplateName,
    TemplateKind,
    TemplateHandle,
    #[strum(serialize = "content")]
    TemplateContent,
    /// Channels of templates before `production`.
    Channels,
    /// Time of a promotion.
    DueAt,
    /// What a version changes.
    #[strum(serialize = "note")]
    VersionNote,
    /// Sample data for previews.
    #[strum(serialize = "data")]
    TemplateData,
    #[strum(serialize = "translations")]
    TemplateTranslations,
    /// Reason for an operator’s action.
    #[strum(serialize = "reason")]
    OperatorsReason,
    /// Credits that an operator grants.
    #[strum(serialize = "credits")]
    CreditAmount,
    /// How long granted credits can be used.
    #[strum(serialize = "lasts")]
    GrantLasts,
    /// Plan that an operator assigns to an account.
    Plan,
    /// Credits of each period, instead of the plan’s.
    PeriodCredits,
    /// Credits that may be used beyond those of a period.
    OverageLimit,
    /// Concurrent renders of an account.
    Concurrency,
    /// Requests per minute of an account.
    RatePerMinute,
    /// Largest request of an account, in MiB.
    BodyMib,
    /// Deadline of an account’s synchronous renders, in seconds.
    DeadlineSeconds,
    /// Storage limits of an account, instead of the plan’s.
    StorageLimits,
    /// Text of an announcement.
    #[strum(serialize = "words")]
    AnnouncementWords,
    /// Address of an announcement’s link.
    #[strum(serialize = "link")]
    LinkAddress,
    /// Text of an announcement’s link.
    LinkWords,
    /// Severity of an announcement.
    Level,
    /// Start of an announcement.
    StartsAt,
    /// End of an announcement.
    EndsAt,
    /// Tags of an asset.
    Tags,
    /// Template of a batch.
    BatchTemplate,
    /// Whether the renders of a batch are live or tests.
    BatchMode,
    /// Storage connection of a batch.
    BatchStorage,
    /// Path of each document of a batch.
    DocumentPath,
    /// Name of each document in the ZIP archive of a batch.
    FileNames,
    /// URL of a file with the rows of a batch.
    RowsUrl,
    /// Members that the columns of a batch become.
    BatchMembers,
    /// Hidden or checked: the selected items of a list.
    Chosen,
}

impl Field {
    /// Returns whether the value is part of a [`Rejection`], whose page shows it again. Secrets are not, such as
    /// signed URLs, nor are texts that are too long for an address.
    pub fn is_shown_again(self) -> bool {
        !matches!(
            self,
            Self::Password
                | Self::Code
                | Self::RecoveryCode
                | Self::SecretAccessKey
                | Self::KeyFile
                | Self::TemplateContent
                | Self::TemplateData
                | Self::TemplateTranslations
                | Self::RowsUrl
                | Self::BatchMembers
        )
    }

    /// Returns the text for an invalid value.
    pub fn rule(self) -> &'static str {
        match self {
            Self::TemplateName => NAME_RULE,
            Self::TemplateContent => "The template has an error, is empty, or is larger than 2 MiB.",
            Self::TemplateData => "Sample data must be a JSON object of at most 256 KiB.",
            Self::TemplateTranslations => "The translations have an error, or are larger than 512 KiB.",
            Self::VersionNote => "Enter a note of at most 500 characters, without control characters.",
            #[cfg(feature = "ssr")]
            _ => self.rule_of_page(),
            #[cfg(not(feature = "ssr"))]
            _ => "Check this field.",
        }
    }

    /// As [`Self::rule`], for fields that islands don't show: their texts would enlarge the WebAssembly module.
    #[cfg(feature = "ssr")]
    fn rule_of_page(self) -> &'static str {
        match self {
            Self::Name | Self::PasskeyName | Self::KeyName => NAME_RULE,
            Self::Email => "Enter an email address: one @ with text on both sides, and no spaces.",
            Self::NewEmail => "Enter a new email address: one @ with text on both sides, and no spaces.",
            Self::AccountName => "Enter an account name of 1 to 200 characters.",
            Self::Password => "Enter a password of at least 12 characters.",
            Self::Code => "Enter the current six-digit code from your authenticator app. Each code works once.",
            Self::RecoveryCode => "This code is invalid or has been used. Enter another recovery code.",
            Self::SecondFactorFrom => "Enter today or a later day, such as 2027-01-31.",
            Self::Subject => "This page is out of date. Reload it.",
            Self::Confirmation => "The name does not match. Type it as shown above.",
            Self::Role
            | Self::KeyMode
            | Self::Expiry
            | Self::Overlap
            | Self::Provider
            | Self::Level
            | Self::AmazonAccess
            | Self::GoogleAccess
            | Self::GrantLasts
            | Self::TemplateKind
            | Self::BatchMode
            | Self::BatchStorage
            | Self::Plan => "Choose one of the options.",
            Self::Scopes => "Choose at least one scope.",
            Self::ExpiryDay => "Choose today or a later day.",
            Self::Networks => "One per line: an address such as 203.0.113.7, or a network such as 203.0.113.0/24.",
            Self::Templates => "Choose templates of this account.",
            Self::CreditLimit => {
                "Enter a number of credits from 1 to 1,000,000,000, or leave the field empty for no limit."
            }
            Self::ConnectionName => "Enter a name of 1 to 200 characters that no other connection has.",
            Self::Bucket => "Enter a bucket name of 3 to 222 letters, digits, dots, hyphens and underscores.",
            Self::PathPrefix => "End the prefix with a slash. Each bucket and prefix can have only one connection.",
            Self::Region => "Enter a region, such as eu-central-1. Amazon’s buckets require it.",
            Self::Endpoint => "Enter a public address without a path, such as https://minio.example.com.",
            Self::RoleArn => "Enter the ARN of a role, such as arn:aws:iam::123456789012:role/platen.",
            Self::AccessKeyId => "Enter the id of an access key, without spaces.",
            Self::SecretAccessKey => "Enter the secret of the access key.",
            Self::ClientEmail => "Enter the address of a service account, such as platen@acme.iam.gserviceaccount.com.",
            Self::KeyFile => "Enter the complete JSON key file of a service account, as Google created it.",
            Self::WebhookUrl => {
                "Enter a public http:// or https:// URL of at most 8 KiB. Private addresses are refused."
            }
            Self::EndpointDescription => "Enter a description of at most 200 characters, on one line.",
            Self::Events => "Choose at least one event.",
            Self::Emails => "Enter 1 to 20 email addresses, separated by commas. Existing members can’t be invited.",
            Self::TemplateHandle => "Enter 1 to 64 of a–z, 0–9 and hyphens, unlike other templates.",
            Self::Channels => {
                "Enter up to four different names of a–z, 0–9 and hyphens, with 1 to 32 characters each, and without production. Approval needs at least one."
            }
            Self::OperatorsReason => "Enter a reason of 1 to 500 characters. It is recorded in the audit log.",
            Self::CreditAmount => "Enter a number of credits from 1 to 1,000,000,000.",
            Self::PeriodCredits => {
                "Enter a number of credits from 0 to 1,000,000,000, or leave the field empty for the plan’s credits."
            }
            Self::OverageLimit => "Enter a number of credits from 0 to as many as the plan allows.",
            Self::Concurrency => "Enter a number from 1 to 1,000, or leave the field empty for the plan’s limit.",
            Self::RatePerMinute => "Enter a number from 1 to 1,000,000, or leave the field empty for the plan’s limit.",
            Self::BodyMib => "Enter a number of MiB from 1 to 1,000, or leave the field empty for the plan’s limit.",
            Self::StorageLimits => "Enter one limit per line: a name from the list and a whole number.",
            Self::DeadlineSeconds => {
                "Enter a number of seconds from 1 to 3,600, or leave the field empty for the plan’s limit."
            }
            Self::AnnouncementWords => "Enter a text of 1 to 500 characters.",
            Self::LinkAddress => "Enter the full address of a page, such as https://status.example.com/.",
            Self::LinkWords => "Enter a link text of at most 100 characters.",
            Self::StartsAt => "Enter a date and time in UTC, such as 2027-01-31T18:00.",
            Self::DueAt => "Enter a future time in UTC, within a year, such as 2027-01-31T18:00.",
            Self::EndsAt => "Enter a date and time in UTC, after now and after the start.",
            Self::Tags => "Enter up to 10 tags of at most 40 characters each, with commas between them.",
            Self::BatchTemplate => "Choose a template with a release in production.",
            Self::DocumentPath => {
                "Enter a path with the name of a column in double braces, such as 2026/11/{{ number }}.pdf, so that each row has a path of its own."
            }
            Self::FileNames => {
                "Enter a name with the name of a column in double braces, such as {{ number }}.pdf, so that each row has a name of its own."
            }
            Self::RowsUrl => "Enter a public http:// or https:// URL of at most 64 KiB, without spaces.",
            Self::BatchMembers => {
                "Choose a member that no other column has or becomes, and that is not within the member of another column."
            }
            Self::Chosen => "Select at least one row, or all matches.",
            Self::TemplateName
            | Self::TemplateContent
            | Self::TemplateData
            | Self::TemplateTranslations
            | Self::VersionNote => self.rule(),
        }
    }
}

/// Why a form was rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// These fields are invalid.
    Invalid(Vec<Field>),
    /// The visitor's session is another one than when the page was loaded.
    Outdated,
    /// Too many attempts.
    TooMany {
        /// Minutes until the next attempt is allowed.
        minutes: u64,
    },
    /// Another member has saved a newer version.
    SavedMeanwhile,
    /// About the sets of sample data of a template.
    SampleSets(SampleSetProblem),
    /// The account has reached a storage limit.
    StorageFull(StorageFull),
    /// Only on pages without islands.
    #[cfg(feature = "ssr")]
    #[serde(untagged)]
    Page(page::PageReason),
}

#[cfg(feature = "ssr")]
impl From<page::PageReason> for Reason {
    fn from(reason: page::PageReason) -> Self {
        Self::Page(reason)
    }
}

/// A rejected form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    pub reason: Reason,
    /// The typed values that the page shows again. Several values of one field are separated by spaces. They don't
    /// travel in addresses.
    #[serde(skip)]
    pub typed: Vec<(Field, String)>,
}

impl Rejection {
    /// Returns the invalid fields.
    pub fn faulty(&self) -> &[Field] {
        match &self.reason {
            Reason::Invalid(fields) => fields,
            _ => &[],
        }
    }

    /// Returns the value typed into a field.
    pub fn typed(&self, field: Field) -> Option<&str> {
        let mut typed = self.typed.iter();
        typed.find(|(name, _)| *name == field).map(|(_, typed)| typed.as_str())
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Reason::Invalid(fields) if fields.len() == 1 => formatter.write_str("Check the highlighted field."),
            Reason::Invalid(fields) => write!(formatter, "Check the {} highlighted fields.", fields.len()),
            Reason::Outdated => {
                formatter.write_str("This page was out of date, and nothing was submitted. Submit the form again.")
            }
            Reason::TooMany { minutes: 1 } => formatter.write_str("Too many attempts. Try again in 1 minute."),
            Reason::TooMany { minutes } => write!(formatter, "Too many attempts. Try again in {minutes} minutes."),
            Reason::SavedMeanwhile => formatter
                .write_str("Another member has saved a newer version. Save again to add yours as the next version."),
            Reason::SampleSets(problem) => problem.fmt(formatter),
            Reason::StorageFull(full) => full.fmt(formatter),
            #[cfg(feature = "ssr")]
            Reason::Page(reason) => reason.fmt(formatter),
        }
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_pages_travel_like_the_others() {
        for (reason, written) in [
            (Reason::Outdated, r#""outdated""#),
            (page::PageReason::KeyEnded.into(), r#""key_ended""#),
            (
                page::PageReason::Payment(refusal::PaymentRefusal::Declined).into(),
                r#"{"payment":"declined"}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&reason).ok().as_deref(), Some(written));
            assert_eq!(serde_json::from_str(written).ok(), Some(reason));
        }
    }

    #[test]
    fn names_lead_back_to_their_fields() {
        for field in Field::VARIANTS {
            assert_eq!(field.into_str().parse(), Ok(*field));
        }
    }
}
