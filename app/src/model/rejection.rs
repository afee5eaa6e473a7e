//! What is wrong with a form. Without JavaScript it travels in the address of the page, which anybody can make up: so it
//! holds no words, but what words are found for.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::{payment::PaymentRefusal, render::RenderRefusal, storage::StorageFull};

/// A field of a form of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// What a person calls themselves.
    Name,
    /// Log-in name.
    Email,
    /// Log-in name to be, in place of another one.
    NewEmail,
    /// What they call their account.
    AccountName,
    /// A password that is chosen.
    Password,
    /// The code that an authenticator app shows.
    Code,
    /// A code that stands in for the app.
    RecoveryCode,
    /// What a passkey is called.
    PasskeyName,
    /// From when on everybody needs a second factor.
    SecondFactorFrom,
    /// Hidden: the id of what the form is about.
    Subject,
    /// The name of something, typed once more by whoever wants it gone.
    Confirmation,
    /// What a key is called.
    KeyName,
    /// Whether a key is live or for tests.
    KeyMode,
    /// What a key may do.
    Scopes,
    /// When a key expires.
    Expiry,
    /// On which day it does, where one is chosen.
    ExpiryDay,
    /// Where a key may be used from.
    Networks,
    /// Which templates a key may use.
    Templates,
    /// For how long a key that is replaced goes on.
    Overlap,
    /// A kind of store.
    Provider,
    /// How a store that speaks S3 knows who writes.
    AmazonAccess,
    /// How Google’s store does.
    GoogleAccess,
    /// What a connection is called.
    ConnectionName,
    /// Name of a bucket.
    Bucket,
    /// What the names of a connection’s objects begin with.
    PathPrefix,
    /// Where a bucket lies.
    Region,
    /// Address of a store that is not Amazon’s.
    Endpoint,
    /// A role at Amazon.
    RoleArn,
    /// Names an access key.
    AccessKeyId,
    /// An access key.
    SecretAccessKey,
    /// A service account at Google.
    ClientEmail,
    /// The key of a service account.
    KeyFile,
    /// Who is to be asked in.
    Emails,
    /// What somebody is in an account.
    Role,
    /// What a template is called.
    TemplateName,
    /// What it says.
    TemplateContent,
    /// What fills it in previews.
    TemplateData,
    /// Why an operator does something.
    OperatorsReason,
    /// How many credits an operator gives.
    CreditAmount,
    /// Until when those can be used.
    GrantLasts,
    /// Which plan an operator gives an account.
    Plan,
    /// Credits of each period, where they are not the plan’s.
    PeriodCredits,
    /// Credits that may be used beyond those of a period.
    OverageLimit,
    /// Renders of an account at a time.
    Concurrency,
    /// Requests of an account a minute.
    RatePerMinute,
    /// Largest request of an account.
    BodyMib,
    /// What a synchronous render of an account may take.
    DeadlineSeconds,
    /// What an account may store, where it is not the plan’s to say.
    StorageLimits,
    /// What operators tell everybody.
    AnnouncementWords,
    /// Where there is more to read.
    LinkAddress,
    /// What a link says.
    LinkWords,
    /// How much it matters.
    Level,
    /// From when on.
    StartsAt,
    /// Until when.
    EndsAt,
    /// Hidden or ticked: which of several things are meant.
    Chosen,
}

impl Field {
    /// All of them.
    pub const ALL: [Self; 55] = [
        Self::Name,
        Self::Email,
        Self::NewEmail,
        Self::AccountName,
        Self::Password,
        Self::Code,
        Self::RecoveryCode,
        Self::PasskeyName,
        Self::SecondFactorFrom,
        Self::Subject,
        Self::Confirmation,
        Self::KeyName,
        Self::KeyMode,
        Self::Scopes,
        Self::Expiry,
        Self::ExpiryDay,
        Self::Networks,
        Self::Templates,
        Self::Overlap,
        Self::Provider,
        Self::AmazonAccess,
        Self::GoogleAccess,
        Self::ConnectionName,
        Self::Bucket,
        Self::PathPrefix,
        Self::Region,
        Self::Endpoint,
        Self::RoleArn,
        Self::AccessKeyId,
        Self::SecretAccessKey,
        Self::ClientEmail,
        Self::KeyFile,
        Self::Emails,
        Self::Role,
        Self::TemplateName,
        Self::TemplateContent,
        Self::TemplateData,
        Self::OperatorsReason,
        Self::CreditAmount,
        Self::GrantLasts,
        Self::Plan,
        Self::PeriodCredits,
        Self::OverageLimit,
        Self::Concurrency,
        Self::RatePerMinute,
        Self::BodyMib,
        Self::DeadlineSeconds,
        Self::StorageLimits,
        Self::AnnouncementWords,
        Self::LinkAddress,
        Self::LinkWords,
        Self::Level,
        Self::StartsAt,
        Self::EndsAt,
        Self::Chosen,
    ];

    /// What it is called in its form, and in the faults that the services find.
    pub fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Email => "email",
            Self::NewEmail => "new_email",
            Self::AccountName => "account_name",
            Self::Password => "password",
            Self::Code => "code",
            Self::RecoveryCode => "recovery_code",
            Self::PasskeyName => "passkey_name",
            Self::SecondFactorFrom => "second_factor_from",
            Self::Subject => "subject",
            Self::Confirmation => "confirmation",
            Self::KeyName => "key_name",
            Self::KeyMode => "key_mode",
            Self::Scopes => "scopes",
            Self::Expiry => "expiry",
            Self::ExpiryDay => "expiry_day",
            Self::Networks => "networks",
            Self::Templates => "templates",
            Self::Overlap => "overlap",
            Self::Provider => "provider",
            Self::AmazonAccess => "amazon_access",
            Self::GoogleAccess => "google_access",
            Self::ConnectionName => "connection_name",
            Self::Bucket => "bucket",
            Self::PathPrefix => "path_prefix",
            Self::Region => "region",
            Self::Endpoint => "endpoint",
            Self::RoleArn => "role_arn",
            Self::AccessKeyId => "access_key_id",
            Self::SecretAccessKey => "secret_access_key",
            Self::ClientEmail => "client_email",
            Self::KeyFile => "key_file",
            Self::Emails => "emails",
            Self::Role => "role",
            Self::TemplateName => "template_name",
            Self::TemplateContent => "content",
            Self::TemplateData => "data",
            Self::OperatorsReason => "reason",
            Self::CreditAmount => "credits",
            Self::GrantLasts => "lasts",
            Self::Plan => "plan",
            Self::PeriodCredits => "period_credits",
            Self::OverageLimit => "overage_limit",
            Self::Concurrency => "concurrency",
            Self::RatePerMinute => "rate_per_minute",
            Self::BodyMib => "body_mib",
            Self::DeadlineSeconds => "deadline_seconds",
            Self::StorageLimits => "storage_limits",
            Self::AnnouncementWords => "words",
            Self::LinkAddress => "link",
            Self::LinkWords => "link_words",
            Self::Level => "level",
            Self::StartsAt => "starts_at",
            Self::EndsAt => "ends_at",
            Self::Chosen => "chosen",
        }
    }

    /// What may be in it.
    pub fn rule(self) -> &'static str {
        match self {
            Self::Name => "Your name has 1 to 200 characters.",
            Self::Email => "An email address has one @, something on both sides of it, and no blanks.",
            Self::NewEmail => "Another address than yours, with one @, something on both sides of it, and no blanks.",
            Self::AccountName => "An account name has 1 to 200 characters.",
            Self::Password => "A password has at least 12 characters.",
            Self::Code => "Enter the six digits that the app shows now. Each code works once.",
            Self::RecoveryCode => "This is none of your recovery codes, or it was used before.",
            Self::PasskeyName => "A passkey’s name has 1 to 200 characters.",
            Self::SecondFactorFrom => "A day from today on, such as 2027-01-31.",
            Self::Subject => "This page is older than the service. Load it again.",
            Self::Confirmation => "This is not the name. Type it as it is written above.",
            Self::KeyName => "A key’s name has 1 to 200 characters.",
            Self::Role
            | Self::KeyMode
            | Self::Expiry
            | Self::Overlap
            | Self::Provider
            | Self::Level
            | Self::AmazonAccess
            | Self::GoogleAccess
            | Self::GrantLasts
            | Self::Plan => "Choose one of these.",
            Self::Scopes => "Choose at least one scope.",
            Self::ExpiryDay => "Choose a day, today at the earliest.",
            Self::Networks => "One per line: an address such as 203.0.113.7, or a network such as 203.0.113.0/24.",
            Self::Templates => "Choose templates of this account.",
            Self::ConnectionName => "A connection’s name has 1 to 200 characters, and no other connection has it.",
            Self::Bucket => "A bucket’s name has 3 to 222 letters, digits, dots, hyphens and underscores.",
            Self::PathPrefix => "A prefix ends with a slash. There may be one connection to each bucket and prefix.",
            Self::Region => "The name of a region, such as eu-central-1; Amazon’s buckets need it.",
            Self::Endpoint => {
                "A public address that ends with the host or the port, such as https://minio.example.com."
            }
            Self::RoleArn => "The ARN of a role, such as arn:aws:iam::123456789012:role/platen.",
            Self::AccessKeyId => "The id of an access key, without blanks.",
            Self::SecretAccessKey => "The secret of the access key.",
            Self::ClientEmail => "The address of a service account, such as platen@acme.iam.gserviceaccount.com.",
            Self::KeyFile => "The JSON that Google has made for the key of a service account, all of it.",
            Self::Emails => "One to twenty addresses, separated by commas, of people who are not members yet.",
            Self::TemplateName => "Enter a name of 1 to 200 characters.",
            Self::TemplateContent => "The template has a fault, is empty, or has more than 2 MiB.",
            Self::TemplateData => "Sample data is a JSON object of at most 256 KiB.",
            Self::OperatorsReason => "Say why, in 1 to 500 characters: it is written down.",
            Self::CreditAmount => "A number of credits, from 1 to 1,000,000,000.",
            Self::PeriodCredits => {
                "A number of credits, from 0 to 1,000,000,000, or nothing: as many as the plan brings."
            }
            Self::OverageLimit => "A whole number of credits, not more than the plan allows. 0: none.",
            Self::Concurrency => "A number from 1 to 1,000, or nothing: as many as the plan allows.",
            Self::RatePerMinute => "A number from 1 to 1,000,000, or nothing: as many as the plan allows.",
            Self::BodyMib => "A number of MiB from 1 to 1,000, or nothing: as the plan says.",
            Self::StorageLimits => "One limit a line: a name from the list, a blank, and a whole number.",
            Self::DeadlineSeconds => "A number of seconds from 1 to 3,600, or nothing: as the plan says.",
            Self::AnnouncementWords => "An announcement has 1 to 500 characters.",
            Self::LinkAddress => "The whole address of a page, such as https://status.example.com/.",
            Self::LinkWords => "A link says something, in at most 100 characters.",
            Self::StartsAt => "A day and a time in UTC, such as 2027-01-31T18:00.",
            Self::EndsAt => "A day and a time in UTC, later than now and later than its beginning.",
            Self::Chosen => "Choose at least one line, or all that are found.",
        }
    }
}

/// Why a form is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// These fields break their rules.
    Invalid(Vec<Field>),
    /// Nobody has this address and this password.
    WrongCredentials,
    /// It is another password than the person's.
    WrongPassword,
    /// It needs more than a session: the person has to show first that it is they.
    Unconfirmed,
    /// Too many tries.
    TooMany {
        /// Until the next one.
        minutes: u64,
    },
    /// A passkey was shown too late, or to another page than the last that asked.
    PasskeyTooLate,
    /// It is none of the person's passkeys, or not what was asked.
    PasskeyRefused,
    /// The person has as many passkeys as they may.
    TooManyPasskeys,
    /// A link of a mail is worthless.
    WorthlessLink,
    /// Somebody has the address.
    EmailTaken,
    /// A key that is revoked or has expired can't be replaced.
    KeyEnded,
    /// An invitation is for another address.
    OthersInvitation,
    /// An account has sent as many invitations as it may in a day.
    TooManyInvitations,
    /// The owner of an account stays that until they hand it over.
    OwnerStays,
    /// Of a render or its callback.
    Render(RenderRefusal),
    /// Somebody has saved a newer version.
    SavedMeanwhile,
    /// An export of the account is being made.
    ExportUnderWay,
    /// There were enough exports for a day.
    ExportsSpent,
    /// Of a plan or a payment.
    Payment(PaymentRefusal),
    /// The account stores as much as it may.
    StorageFull(StorageFull),
}

/// A form that is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// Why.
    pub reason: Reason,
    /// What was typed; never a password.
    pub typed: Vec<(Field, String)>,
}

impl Rejection {
    /// The fields that break their rules.
    pub fn faulty(&self) -> &[Field] {
        match &self.reason {
            Reason::Invalid(fields) => fields,
            _ => &[],
        }
    }

    /// What was typed into a field.
    pub fn typed(&self, field: Field) -> Option<&str> {
        let mut typed = self.typed.iter();
        typed.find(|(name, _)| *name == field).map(|(_, typed)| typed.as_str())
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Reason::Invalid(fields) if fields.len() == 1 => formatter.write_str("One field is not right yet."),
            Reason::Invalid(fields) => write!(formatter, "{} fields are not right yet.", fields.len()),
            Reason::WrongCredentials => formatter.write_str("Email or password is wrong."),
            Reason::WrongPassword => formatter.write_str("This is not the password that you chose."),
            Reason::Unconfirmed => formatter.write_str(
                "Nothing has changed yet: you had to confirm first that it is you. Send this form once more.",
            ),
            Reason::TooMany { minutes: 1 } => formatter.write_str("Too many tries. Try again in 1 minute."),
            Reason::TooMany { minutes } => write!(formatter, "Too many tries. Try again in {minutes} minutes."),
            Reason::PasskeyTooLate => formatter
                .write_str("This page was open for more than ten minutes, or once more in another tab. Try again."),
            Reason::PasskeyRefused => {
                formatter.write_str("This passkey was not accepted. Try again, or use another way.")
            }
            Reason::TooManyPasskeys => formatter.write_str("You have ten passkeys, and that is all. Remove one first."),
            Reason::WorthlessLink => {
                formatter.write_str("This link has been used, replaced, or is too old. Ask for a new one.")
            }
            Reason::KeyEnded => formatter.write_str("This key is revoked or has expired. Make a new one."),
            Reason::SavedMeanwhile => formatter
                .write_str("Somebody has saved a newer version meanwhile. Save once more to keep yours as well."),
            Reason::ExportUnderWay => formatter.write_str("An export is being made. You get a mail when it is ready."),
            Reason::ExportsSpent => formatter.write_str("There were three exports within a day. Ask again tomorrow."),
            Reason::EmailTaken => formatter.write_str("This address belongs to another account by now."),
            Reason::OthersInvitation => formatter
                .write_str("This invitation is for another address than yours. Log out, and open its link again."),
            Reason::TooManyInvitations => {
                formatter.write_str("An account sends 50 invitations a day at most. Try again tomorrow.")
            }
            Reason::OwnerStays => formatter
                .write_str("The owner stays the owner. To change that, hand the account over to somebody else."),
            Reason::Payment(refusal) => formatter.write_str(refusal.sentence()),
            Reason::Render(refusal) => formatter.write_str(refusal.sentence()),
            Reason::StorageFull(full) => full.fmt(formatter),
        }
    }
}
