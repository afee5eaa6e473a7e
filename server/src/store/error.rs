//! What can go wrong between us and Postgres.

use std::error::Error;

/// A statement failed. For the log; users see a request id only.
#[derive(Debug, thiserror::Error)]
#[error("database: {0}")]
pub struct StoreError(#[from] pub sqlx::Error);

impl StoreError {
    /// Whether a named constraint refused the statement. Uniqueness is left to the database: a select beforehand
    /// would only race.
    pub fn violates(&self, constraint: &str) -> bool {
        self.0
            .as_database_error()
            .and_then(sqlx::error::DatabaseError::constraint)
            == Some(constraint)
    }
}

/// Whether the reason of an error, or of what caused it, is that the database can't be reached: it is down, restarts, is
/// not there or takes no more connections. What it refuses or can't do is something else.
pub fn is_away(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let away = match error.downcast_ref() {
            Some(
                sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed,
            ) => true,
            Some(sqlx::Error::Database(refusal)) => refusal.code().is_some_and(|code| refuses_connections(&code)),
            _ => false,
        };
        if away {
            return true;
        }
        cause = error.source();
    }
    false
}

/// By Postgres's code for an error, none of which comes of a statement: connection exceptions, invalid authorisation, no
/// such database, too many connections, and operator intervention, but not that a statement was cancelled (57014).
fn refuses_connections(code: &str) -> bool {
    let class = ["08", "28", "3D"].iter().any(|class| code.starts_with(class));
    class || matches!(code, "53300" | "57P01" | "57P02" | "57P03" | "57P04")
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("nothing was done")]
    struct Outer(#[source] StoreError);

    #[derive(Debug, thiserror::Error)]
    #[error(transparent)]
    struct Passed(#[from] StoreError);

    #[test]
    fn that_the_database_is_away_is_seen_through_other_errors() {
        let away = || StoreError(sqlx::Error::Io(io::ErrorKind::ConnectionRefused.into()));
        assert!(is_away(&away()) && is_away(&Outer(away())) && is_away(&Passed(away())));
        assert!(!is_away(&StoreError(sqlx::Error::RowNotFound)));
        assert!(!is_away(&io::Error::from(io::ErrorKind::ConnectionRefused)));
    }

    #[test]
    fn what_a_statement_does_wrong_is_no_lost_connection() {
        for code in ["08006", "28P01", "3D000", "53300", "57P01", "57P03"] {
            assert!(refuses_connections(code), "{code}");
        }
        for code in ["23505", "40001", "42P01", "53100", "57014"] {
            assert!(!refuses_connections(code), "{code}");
        }
    }
}
