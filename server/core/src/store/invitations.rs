//! Table `invitations`: pending invitations to accounts.

use platen_domain::{
    email::Email,
    ids::{AccountId, InvitationId},
    one_time_token::TokenDigest,
    role::Role,
    team::{Invitation, OpenedInvitation},
};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::store::{error::StoreError, statement::execute};

/// An invitation to be inserted.
pub struct NewInvitation<'a> {
    /// Address of the invited person.
    pub email: &'a Email,
    /// Role after acceptance.
    pub role: Role,
    /// Display name of the inviting member.
    pub invited_by: &'a str,
    pub expires_at: OffsetDateTime,
}

/// Inserts an invitation, or renews the one for this address, whose former link becomes invalid.
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
        new.role.into_str(),
        new.invited_by,
        now,
        new.expires_at,
    );
    Ok(InvitationId(id.fetch_one(db).await?))
}

/// Returns an account's invitations, latest first, including expired ones.
pub async fn list(db: &PgPool, account: AccountId) -> Result<Vec<Invitation>, StoreError> {
    let invitations = sqlx::query_as!(
        Invitation,
        "select id, email, role, invited_by, invited_at, expires_at from invitations
         where account_id = $1
         order by invited_at desc, email",
        account.0,
    );
    Ok(invitations.fetch_all(db).await?)
}

/// Locks an invitation until the transaction ends, and returns its address and role.
pub async fn lock(
    db: &mut PgConnection,
    account: AccountId,
    id: InvitationId,
) -> Result<Option<(String, Role)>, StoreError> {
    let row = sqlx::query!(
        "select email, role from invitations where account_id = $1 and id = $2 for update",
        account.0,
        id.0,
    )
    .map(|row| (row.email, row.role.into()));
    Ok(row.fetch_optional(db).await?)
}

/// Withdraws an invitation. Returns its address, or `None` if it doesn't exist.
pub async fn delete(db: &mut PgConnection, account: AccountId, id: InvitationId) -> Result<Option<String>, StoreError> {
    let email = sqlx::query_scalar!(
        "delete from invitations where account_id = $1 and id = $2 returning email",
        account.0,
        id.0,
    );
    Ok(email.fetch_optional(db).await?)
}

/// Contents of an invitation mail.
pub struct Words {
    /// May be empty.
    pub account_name: String,
    /// Display name of the inviting member.
    pub invited_by: String,
}

/// Sets the token of an invitation's mail, replacing an earlier one. `None` if the invitation was withdrawn, used, or
/// has expired.
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

/// Returns the valid invitation with this token, without using it.
pub async fn find(
    db: &PgPool,
    digest: TokenDigest,
    now: OffsetDateTime,
) -> Result<Option<OpenedInvitation>, StoreError> {
    let invitation = sqlx::query_as!(
        OpenedInvitation,
        "select accounts.id as account, accounts.name as account_name, invitations.email, invitations.role,
             invitations.invited_by
         from invitations join accounts on accounts.id = invitations.account_id
         where invitations.digest = $1 and invitations.expires_at > $2",
        &digest.0[..],
        now,
    );
    Ok(invitation.fetch_optional(db).await?)
}

/// Redeems an invitation. Returns the new member's role, or `None` if the invitation is no longer valid.
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
    Ok(role.fetch_optional(db).await?.map(Role::from))
}

/// Deletes invitations that expired before `before`.
pub async fn delete_expired(db: &PgPool, before: OffsetDateTime) -> Result<(), StoreError> {
    let delete = sqlx::query!("delete from invitations where expires_at < $1", before);
    execute(db, delete).await
}
