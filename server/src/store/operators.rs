//! Who runs the service: users with `operator_since`.

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::{
    domain::{email::Email, ids::UserId},
    store::error::StoreError,
};

/// An operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredOperator {
    /// Log-in name.
    pub email: String,
    /// What they call themselves; may be empty.
    pub name: String,
    /// Since when they are one.
    pub since: OffsetDateTime,
    /// Whether they have a second factor.
    pub has_second_factor: bool,
}

/// What a user is as an operator; `None`: they are none.
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

/// All of them, those who have been it the longest first.
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

/// Makes the user with this address an operator. `false`: there is none, or they are it already.
pub async fn appoint(db: &mut PgConnection, email: &Email, now: OffsetDateTime) -> Result<bool, StoreError> {
    let done = sqlx::query!(
        "update users set operator_since = $2 where email = $1 and operator_since is null",
        email.as_str(),
        now,
    );
    Ok(done.execute(db).await?.rows_affected() == 1)
}

/// Takes the user with this address out of the operators, and ends their sessions: one may be looking into an account.
/// `false`: they are none.
pub async fn dismiss(db: &mut PgConnection, email: &Email) -> Result<bool, StoreError> {
    let done = sqlx::query!(
        "update users set operator_since = null, session_epoch = session_epoch + 1
         where email = $1 and operator_since is not null",
        email.as_str(),
    );
    Ok(done.execute(db).await?.rows_affected() == 1)
}
