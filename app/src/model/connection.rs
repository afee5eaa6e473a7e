//! Storage connections, as their account sees them.

use time::OffsetDateTime;

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
    /// The newest first.
    pub connections: Vec<Connection>,
}

/// Kind of storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// Amazon S3 or an S3-compatible store.
    Amazon,
    Google,
}

/// A connection in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    pub id: String,
    pub name: String,
    pub provider: Provider,
    pub bucket: String,
    /// Prefix of the names of its objects.
    pub path_prefix: String,
    /// Region of the bucket.
    pub region: Option<String>,
    /// Address of an S3-compatible store other than Amazon's.
    pub endpoint: Option<String>,
    /// Role, access key id or service account that the connection uses. Not secret.
    pub identity: String,
    /// Whether [`Self::identity`] is a role.
    pub in_role: bool,
    /// Time of creation.
    pub inserted_at: OffsetDateTime,
    /// Result of the last test.
    pub last_test: Option<ConnectionTest>,
}

/// Result of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionTest {
    /// End of the test.
    pub at: OffsetDateTime,
    /// Duration.
    pub milliseconds: i32,
    /// Steps, in the order in which they ran.
    pub steps: Vec<TestStep>,
}

/// One step of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestStep {
    /// `write`, `read` or `delete`.
    pub action: &'static str,
    /// What failed and what to do about it. `None` if the step passed.
    pub advice: Option<String>,
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

impl Connection {
    /// Returns the status, by the last test.
    pub fn state(&self) -> ConnectionState {
        let Some(test) = &self.last_test else {
            return ConnectionState::Untested;
        };
        let mut steps = test.steps.iter().map(|step| step.advice.is_none());
        match (steps.next(), steps.all(|passed| passed)) {
            (Some(true), true) => ConnectionState::Working,
            (Some(true), false) => ConnectionState::Delivers,
            _ => ConnectionState::Refused,
        }
    }

    /// Returns the URI of bucket and prefix, as the store's tools write it.
    pub fn covers(&self) -> String {
        let scheme = match self.provider {
            Provider::Amazon => "s3",
            Provider::Google => "gs",
        };
        format!("{scheme}://{}/{}", self.bucket, self.path_prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_writes_delivers() {
        for (passed, expected) in [
            (None, ConnectionState::Untested),
            (Some(&[][..]), ConnectionState::Refused),
            (Some(&[false][..]), ConnectionState::Refused),
            (Some(&[true, true, true][..]), ConnectionState::Working),
            (Some(&[true, true, false][..]), ConnectionState::Delivers),
        ] {
            let steps = passed.map(|passed| {
                let steps = passed.iter().map(|passed| TestStep {
                    action: "write",
                    advice: (!passed).then(|| "Allow it.".to_owned()),
                });
                steps.collect()
            });
            let connection = Connection {
                id: String::new(),
                name: String::new(),
                provider: Provider::Google,
                bucket: "documents".to_owned(),
                path_prefix: "invoices/".to_owned(),
                region: None,
                endpoint: None,
                identity: String::new(),
                in_role: false,
                inserted_at: OffsetDateTime::UNIX_EPOCH,
                last_test: steps.map(|steps| ConnectionTest {
                    at: OffsetDateTime::UNIX_EPOCH,
                    milliseconds: 1,
                    steps,
                }),
            };
            assert_eq!(connection.state(), expected);
            assert_eq!(connection.covers(), "gs://documents/invoices/");
        }
    }
}
