//! What can go wrong between us and Postgres.

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
