//! Errors of the database.

use std::{error::Error, io};

/// A failed statement. For logs only; users see a request id.
#[derive(Debug, thiserror::Error)]
#[error("database: {0}")]
pub struct StoreError(#[from] pub sqlx::Error);

impl StoreError {
    /// The database has not responded in time.
    pub fn late() -> Self {
        Self(io::Error::from(io::ErrorKind::TimedOut).into())
    }

    /// Returns whether the statement violated the named constraint. Uniqueness is left to the database, because a
    /// select beforehand would race.
    pub fn violates(&self, constraint: &str) -> bool {
        self.0
            .as_database_error()
            .and_then(sqlx::error::DatabaseError::constraint)
            == Some(constraint)
    }

    /// Returns whether Postgres ended the transaction because others waited for it in a cycle (40P01).
    pub fn is_deadlock(&self) -> bool {
        self.has_code("40P01")
    }

    /// Returns whether the statement waited too long for a lock (55P03).
    pub fn is_lock_timeout(&self) -> bool {
        self.has_code("55P03")
    }

    fn has_code(&self, code: &str) -> bool {
        let refusal = self.0.as_database_error();
        refusal.and_then(sqlx::error::DatabaseError::code).as_deref() == Some(code)
    }
}

/// Returns whether an error, or any of its sources, means that the database is unreachable: it is down, restarting,
/// missing or out of connections. Rejected or failed statements don't count.
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

/// Returns whether a Postgres error code means that connections fail, which no statement causes: connection exceptions,
/// invalid authorization, a missing database, too many connections, and operator intervention except for a cancelled
/// statement (57014).
fn refuses_connections(code: &str) -> bool {
    let class = ["08", "28", "3D"].iter().any(|class| code.starts_with(class));
    class || matches!(code, "53300" | "57P01" | "57P02" | "57P03" | "57P04")
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("no changes were made")]
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
