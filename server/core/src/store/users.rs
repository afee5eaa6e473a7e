//! Table `users`.

use platen_domain::{display_name::DisplayName, email::Email, ids::UserId};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::store::{
    error::StoreError,
    statement::{changes_one, execute},
};

/// Email addresses of users are unique.
pub const EMAIL_KEY: &str = "users_email_key";

/// A user to be inserted.
pub struct NewUser<'a> {
    pub id: UserId,
    pub email: &'a Email,
    /// May be empty.
    pub name: &'a str,
    /// PHC string.
    pub password_hash: &'a str,
}

/// Inserts a user. Violates [`EMAIL_KEY`] if the email address is taken.
pub async fn insert(db: &mut PgConnection, user: NewUser<'_>, now: OffsetDateTime) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into users (id, email, name, password_hash, inserted_at) values ($1, $2, $3, $4, $5)",
        user.id.0,
        user.email.as_str(),
        user.name,
        user.password_hash,
        now,
    );
    execute(db, insert).await
}

/// Deletes a user who belongs to no account, unless they are an operator.
pub async fn delete_without_account(db: &mut PgConnection, id: UserId) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from users
         where id = $1 and operator_since is null and not exists (select from members where user_id = $1)",
        id.0,
    );
    execute(db, delete).await
}

/// What a log-in is verified against.
pub struct Credentials {
    pub id: UserId,
    pub email: String,
    /// PHC string.
    pub password_hash: String,
    /// Epoch of new sessions; a change ends all earlier ones.
    pub session_epoch: i32,
}

/// Returns the user with this email address.
pub async fn find_by_email(db: &PgPool, email: &Email) -> Result<Option<Credentials>, StoreError> {
    let user = sqlx::query_as!(
        Credentials,
        "select id, email, password_hash, session_epoch from users where email = $1",
        email.as_str(),
    );
    Ok(user.fetch_optional(db).await?)
}

pub async fn find(db: &PgPool, id: UserId) -> Result<Option<Credentials>, StoreError> {
    let user = sqlx::query_as!(
        Credentials,
        "select id, email, password_hash, session_epoch from users where id = $1",
        id.0,
    );
    Ok(user.fetch_optional(db).await?)
}

/// A user's own profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    pub id: UserId,
    pub email: String,
    /// May be empty.
    pub name: String,
    /// `None` if the first password is still in use.
    pub password_changed_at: Option<OffsetDateTime>,
}

/// Returns a user's own profile.
pub async fn find_person(db: &PgPool, id: UserId) -> Result<Option<Person>, StoreError> {
    let person = sqlx::query_as!(
        Person,
        "select id, email, name, password_changed_at from users where id = $1",
        id.0
    );
    Ok(person.fetch_optional(db).await?)
}

pub async fn update_name(db: &PgPool, id: UserId, name: &DisplayName) -> Result<(), StoreError> {
    let update = sqlx::query!("update users set name = $2 where id = $1", id.0, name.as_str());
    execute(db, update).await
}

/// Replaces a password hash with a stronger one of the same password, unless the password was changed after it was
/// verified.
pub async fn update_hash(db: &PgPool, user: &Credentials, password_hash: &str) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update users set password_hash = $3 where id = $1 and password_hash = $2",
        user.id.0,
        user.password_hash,
        password_hash,
    );
    execute(db, update).await
}

/// Changes a user's password, which ends all sessions. Returns the `session_epoch` of new sessions, or `None` if the
/// user no longer has this email address.
pub async fn update_password(
    db: &mut PgConnection,
    id: UserId,
    email: &Email,
    password_hash: &str,
    now: OffsetDateTime,
) -> Result<Option<i32>, StoreError> {
    let epoch = sqlx::query_scalar!(
        "update users set password_hash = $3, password_changed_at = $4, session_epoch = session_epoch + 1
         where id = $1 and email = $2
         returning session_epoch",
        id.0,
        email.as_str(),
        password_hash,
        now,
    );
    Ok(epoch.fetch_optional(db).await?)
}

/// Changes a user's email address from `former`. Violates [`EMAIL_KEY`] if the new one is taken. Returns `false` if the
/// user no longer has the former address.
pub async fn update_email(db: &mut PgConnection, id: UserId, former: &str, email: &Email) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update users set email = $3 where id = $1 and email = $2",
        id.0,
        former,
        email.as_str()
    );
    changes_one(db, update).await
}
