//! Operators of the service: users with `operator_since`.

use platen_domain::{email::Email, ids::UserId};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::store::{error::StoreError, statement::changes_one};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredOperator {
    pub email: String,
    /// May be empty.
    pub name: String,
    /// When they were appointed.
    pub since: OffsetDateTime,
    pub has_second_factor: bool,
}

/// Returns a user as an operator. `None` if the user isn't one.
pub async fn find(db: &PgPool, user: UserId) -> Result<Option<StoredOperator>, StoreError> {
    let operator = sqlx::query_as!(
        StoredOperator,
        r#"select email, name, operator_since as "since!", exists (
               select from users_with_second_factor where user_id = users.id
           ) as "has_second_factor!"
           from users where id = $1 and operator_since is not null"#,
        user.0,
    );
    Ok(operator.fetch_optional(db).await?)
}

/// Returns all operators, longest-serving first.
pub async fn list(db: &PgPool) -> Result<Vec<StoredOperator>, StoreError> {
    let operators = sqlx::query_as!(
        StoredOperator,
        r#"select email, name, operator_since as "since!", exists (
               select from users_with_second_factor where user_id = users.id
           ) as "has_second_factor!"
           from users where operator_since is not null order by operator_since, id"#,
    );
    Ok(operators.fetch_all(db).await?)
}

/// Makes the user with this email address an operator. Returns `false` if there is no such user, or if they are an
/// operator already.
pub async fn appoint(db: &mut PgConnection, email: &Email, now: OffsetDateTime) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update users set operator_since = $2 where email = $1 and operator_since is null",
        email.as_str(),
        now,
    );
    changes_one(db, update).await
}

/// Removes the operator rights of the user with this email address, and ends their sessions, one of which may be
/// viewing an account. Returns `false` if they aren't an operator.
pub async fn dismiss(db: &mut PgConnection, email: &Email) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update users set operator_since = null, session_epoch = session_epoch + 1
         where email = $1 and operator_since is not null",
        email.as_str(),
    );
    changes_one(db, update).await
}
