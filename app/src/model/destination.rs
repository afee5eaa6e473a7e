//! Storage connections.

use time::OffsetDateTime;

/// All that the page of destinations shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destinations {
    /// The moment of the answer.
    pub now: OffsetDateTime,
    /// The account's id: what roles ask for as external id, and what a marker in a bucket holds.
    pub account: String,
    /// Whether roles at Amazon may be named, instead of keys.
    pub roles: bool,
    /// Whether service accounts may be named without a key.
    pub impersonation: bool,
    /// The newest first.
    pub connections: Vec<Connection>,
}

/// Kinds of stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// Amazon S3, or a store that speaks its protocol.
    Amazon,
    /// Google Cloud Storage.
    Google,
}

/// A connection as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// Identifier.
    pub id: String,
    /// For people.
    pub name: String,
    /// Kind of store.
    pub provider: Provider,
    /// Name of the bucket.
    pub bucket: String,
    /// What the names of its objects begin with.
    pub path_prefix: String,
    /// Where the bucket lies.
    pub region: Option<String>,
    /// Address of a store that speaks S3 and is not Amazon's.
    pub endpoint: Option<String>,
    /// Whose credentials it has; no secret.
    pub identity: String,
    /// Whether that is a role.
    pub in_role: bool,
    /// When it was made.
    pub inserted_at: OffsetDateTime,
    /// What came of its last test.
    pub last_test: Option<ConnectionTest>,
}

/// What came of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionTest {
    /// When it ended.
    pub at: OffsetDateTime,
    /// How long it took.
    pub milliseconds: i32,
    /// What was tried, in this order.
    pub steps: Vec<TestStep>,
}

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestStep {
    /// What: `write`, `read` or `delete`.
    pub action: &'static str,
    /// What is wrong and what to do about it; `None`: nothing is.
    pub advice: Option<String>,
}

/// What can be said of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    /// Nobody has tried it.
    Untested,
    /// It did all that was tried.
    Working,
    /// Documents are delivered, and something else is not right.
    Delivers,
    /// Documents are not delivered.
    Refused,
}

impl Connection {
    /// How it stands, by its last test.
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

    /// What it covers, as tools of the store write it.
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
