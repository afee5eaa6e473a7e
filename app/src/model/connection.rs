//! Storage connections, as their account sees them.

use std::fmt;

use platen_domain::{
    connection::{Connection, ConnectionTest, TestStep},
    ids::ConnectionId,
};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// A `value` of [`ConnectionForm::provider`].
pub const AMAZON: &str = "aws_s3";
/// A `value` of [`ConnectionForm::provider`].
pub const GOOGLE: &str = "google_cloud_storage";
/// A `value` of [`ConnectionForm::amazon_access`].
pub const ROLE: &str = "role";
/// A `value` of [`ConnectionForm::amazon_access`].
pub const ACCESS_KEY: &str = "access_key";
/// A `value` of [`ConnectionForm::google_access`].
pub const IMPERSONATION: &str = "impersonation";
/// A `value` of [`ConnectionForm::google_access`].
pub const KEY_FILE: &str = "key_file";

/// The form that creates a storage connection. Fields that the provider or the kind of access doesn't need are ignored.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectionForm {
    /// [`AMAZON`] or [`GOOGLE`].
    pub provider: String,
    pub connection_name: String,
    pub bucket: String,
    /// Prefix of the names of its objects.
    pub path_prefix: String,
    /// AWS region of the bucket.
    pub region: String,
    /// Address of an S3-compatible store other than Amazon's.
    pub endpoint: String,
    /// [`ROLE`] or [`ACCESS_KEY`].
    pub amazon_access: String,
    /// ARN of the role to assume.
    pub role_arn: String,
    /// Id of the access key.
    pub access_key_id: String,
    /// Secret of the access key.
    pub secret_access_key: String,
    /// [`IMPERSONATION`] or [`KEY_FILE`].
    pub google_access: String,
    /// Email address of the service account that the service impersonates.
    pub client_email: String,
    /// Key of a service account, as the JSON file that Google creates.
    pub key_file: String,
}

/// Omits the secrets.
impl fmt::Debug for ConnectionForm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ConnectionForm")
            .field("provider", &self.provider)
            .field("bucket", &self.bucket)
            .finish_non_exhaustive()
    }
}

/// The form that changes a storage connection.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectionEdit {
    pub connection_name: String,
    /// See [`ConnectionForm::region`].
    pub region: String,
    /// See [`ConnectionForm::endpoint`].
    pub endpoint: String,
}

/// Everything the storage connections page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connections {
    /// Time of the reading.
    pub now: OffsetDateTime,
    /// Id of the account: the external id for AWS roles, and the content of the marker object in a bucket.
    pub account: String,
    /// Whether AWS roles can be used instead of access keys.
    pub roles: bool,
    /// Whether service accounts can be impersonated without a key.
    pub impersonation: bool,
    /// Connections and their last tests, the newest first.
    pub connections: Vec<(Connection, Option<ConnectionTest>)>,
    /// The connection for which new credentials were just rejected, and the steps of their test. Returned once.
    pub rejected: Option<(ConnectionId, Vec<TestStep>)>,
}

/// Status of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    Untested,
    /// All steps of the test passed.
    Working,
    /// Writing works, but another step failed.
    Delivers,
    /// Documents can't be written.
    Refused,
}

impl ConnectionState {
    /// Returns the status by the last test.
    pub fn of(test: Option<&ConnectionTest>) -> Self {
        match test {
            None => Self::Untested,
            Some(test) if test.passed() => Self::Working,
            Some(test) if test.delivers() => Self::Delivers,
            Some(_) => Self::Refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use platen_domain::connection::{TestAction, TestStep};

    use super::*;

    #[test]
    fn a_connection_that_writes_delivers() {
        for (passed, expected) in [
            (&[][..], ConnectionState::Refused),
            (&[false][..], ConnectionState::Refused),
            (&[true, true, true][..], ConnectionState::Working),
            (&[true, true, false][..], ConnectionState::Delivers),
        ] {
            let steps = passed.iter().map(|passed| TestStep {
                action: TestAction::Write,
                advice: (!passed).then(|| "Allow it.".to_owned()),
                response: None,
            });
            let test = ConnectionTest {
                tested_at: OffsetDateTime::UNIX_EPOCH,
                milliseconds: 1,
                steps: steps.collect(),
            };
            assert_eq!(ConnectionState::of(Some(&test)), expected);
        }
        assert_eq!(ConnectionState::of(None), ConnectionState::Untested);
    }
}
