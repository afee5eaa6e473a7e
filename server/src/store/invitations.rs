//! Table `invitations`: those who are asked into an account and have not come yet.

use platen_app::model::role::Role;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::{
    domain::{
        email::Email,
        ids::{AccountId, InvitationId},
        one_time_token::TokenDigest,
    },
    store::{error::StoreError, members::read_role},
};

/// Somebody to be asked in.
pub struct NewInvitation<'a> {
    /// Who can come.
    pub email: &'a Email,
    /// What they will be.
    pub role: Role,
    /// What whoever asks is called.
    pub invited_by: &'a str,
    /// How long they may take.
    pub expires_at: OffsetDateTime,
}

/// Adds an invitation, or renews the one that the address has: the link that it had is worthless then.
pub async fn upsert(
    db: &mut PgConnection,
    account: AccountId,
    new: NewInvitation<'_>,
    now: OffsetDateTime,
) -> Result<InvitationId, StoreError> {
    let id = sqlx::query_scalar!(
        "insert into invitations (id, account_id, email, role, invited_by, invited_at, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (account_id, email) do update
         set role = excluded.role, invited_by = excluded.invited_by, digest = null, invited_at = excluded.invited_at,
            expires_at = excluded.expires_at
         returning id",
        InvitationId::generate().0,
        account.0,
        new.email.as_str(),
        new.role.as_str(),
        new.invited_by,
        now,
        new.expires_at,
    );
    Ok(InvitationId(id.fetch_one(db).await?))
}

/// Somebody who is asked in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// Identifier.
    pub id: InvitationId,
    /// Who can come.
    pub email: String,
    /// What they will be.
    pub role: Role,
    /// What whoever asked was called then.
    pub invited_by: String,
    /// When the latest mail was caused.
    pub invited_at: OffsetDateTime,
    /// Until when they can come.
    pub expires_at: OffsetDateTime,
}

/// Those who are asked into an account, the latest first; those too whose time is over.
pub async fn list(db: &PgPool, account: AccountId) -> Result<Vec<Invitation>, StoreError> {
    let rows = sqlx::query!(
        "select id, email, role, invited_by, invited_at, expires_at from invitations
         where account_id = $1
         order by invited_at desc, email",
        account.0,
    )
    .fetch_all(db)
    .await?;
    let invitations = rows.into_iter().map(|row| Invitation {
        id: InvitationId(row.id),
        email: row.email,
        role: read_role(&row.role),
        invited_by: row.invited_by,
        invited_at: row.invited_at,
        expires_at: row.expires_at,
    });
    Ok(invitations.collect())
}

/// Who is asked in by an invitation, and as what. It stays until the transaction ends.
pub async fn lock(
    db: &mut PgConnection,
    account: AccountId,
    id: InvitationId,
) -> Result<Option<(String, Role)>, StoreError> {
    let row = sqlx::query!(
        "select email, role from invitations where account_id = $1 and id = $2 for update",
        account.0,
        id.0,
    );
    let row = row.fetch_optional(db).await?;
    Ok(row.map(|row| (row.email, read_role(&row.role))))
}

/// Takes an invitation back. Says whose it was; `None`: there is no such invitation.
pub async fn delete(db: &mut PgConnection, account: AccountId, id: InvitationId) -> Result<Option<String>, StoreError> {
    let email = sqlx::query_scalar!(
        "delete from invitations where account_id = $1 and id = $2 returning email",
        account.0,
        id.0,
    );
    Ok(email.fetch_optional(db).await?)
}

/// What the mail of an invitation says.
pub struct Words {
    /// What the account is called; may be empty.
    pub account_name: String,
    /// What whoever asked is called.
    pub invited_by: String,
}

/// Gives an invitation the token of its mail, in place of an earlier one. `None`: it was taken back or used, or its
/// time is over.
pub async fn update_digest(
    db: &PgPool,
    id: InvitationId,
    digest: TokenDigest,
    now: OffsetDateTime,
) -> Result<Option<Words>, StoreError> {
    let words = sqlx::query_as!(
        Words,
        "update invitations set digest = $2 from accounts
         where invitations.id = $1 and invitations.expires_at > $3 and accounts.id = invitations.account_id
         returning accounts.name as account_name, invitations.invited_by",
        id.0,
        &digest.0[..],
        now,
    );
    Ok(words.fetch_optional(db).await?)
}

/// What a link leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// Into which account.
    pub account: AccountId,
    /// What it is called; may be empty.
    pub account_name: String,
    /// Who can come.
    pub email: String,
    /// What they will be.
    pub role: Role,
    /// What whoever asked was called then.
    pub invited_by: String,
}

/// The invitation with this token, if it is good. It stays good.
pub async fn find(db: &PgPool, digest: TokenDigest, now: OffsetDateTime) -> Result<Option<Opened>, StoreError> {
    let row = sqlx::query!(
        "select accounts.id, accounts.name, invitations.email, invitations.role, invitations.invited_by
         from invitations join accounts on accounts.id = invitations.account_id
         where invitations.digest = $1 and invitations.expires_at > $2",
        &digest.0[..],
        now,
    );
    let row = row.fetch_optional(db).await?;
    Ok(row.map(|row| Opened {
        account: AccountId(row.id),
        account_name: row.name,
        email: row.email,
        role: read_role(&row.role),
        invited_by: row.invited_by,
    }))
}

/// Uses an invitation up. Says what whoever comes is; `None`: it is not good any more.
pub async fn use_up(
    db: &mut PgConnection,
    account: AccountId,
    digest: TokenDigest,
    now: OffsetDateTime,
) -> Result<Option<Role>, StoreError> {
    let role = sqlx::query_scalar!(
        "delete from invitations where account_id = $1 and digest = $2 and expires_at > $3 returning role",
        account.0,
        &digest.0[..],
        now,
    );
    Ok(role.fetch_optional(db).await?.map(|role| read_role(&role)))
}

/// Forgets those whose time was over before.
pub async fn delete_expired(db: &PgPool, before: OffsetDateTime) -> Result<(), StoreError> {
    sqlx::query!("delete from invitations where expires_at < $1", before)
        .execute(db)
        .await?;
    Ok(())
}
