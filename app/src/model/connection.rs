//! Storage connections, as their account sees them.

use platen_domain::connection::Connection;
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
    /// Connections and their last tests, the newest first.
    pub connections: Vec<(Connection, Option<ConnectionTest>)>,
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

impl ConnectionState {
    /// Returns the status by the last test.
    pub fn of(test: Option<&ConnectionTest>) -> Self {
        let Some(test) = test else {
            return Self::Untested;
        };
        let mut steps = test.steps.iter().map(|step| step.advice.is_none());
        match (steps.next(), steps.all(|passed| passed)) {
            (Some(true), true) => Self::Working,
            (Some(true), false) => Self::Delivers,
            _ => Self::Refused,
        }
    }
}

#[cfg(test)]
mod tests {
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
                action: "write",
                advice: (!passed).then(|| "Allow it.".to_owned()),
            });
            let test = ConnectionTest {
                at: OffsetDateTime::UNIX_EPOCH,
                milliseconds: 1,
                steps: steps.collect(),
            };
            assert_eq!(ConnectionState::of(Some(&test)), expected);
        }
        assert_eq!(ConnectionState::of(None), ConnectionState::Untested);
    }
}
