//! Server functions of the team page.

use leptos::prelude::*;
use platen_domain::{
    ids::{InvitationId, UserId},
    role::Role,
};

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::own_path::OwnPath,
};

fn read_role(word: &str) -> Result<Role, AppError> {
    word.parse()
        .ok()
        .filter(|role| *role != Role::Owner)
        .ok_or(AppError::Malformed)
}

/// Mails invitations to one or more addresses.
#[server(prefix = "/web", endpoint = "invite")]
pub async fn invite(
    /// Addresses, separated by commas.
    emails: String,
    /// Role of the invited users: admin or member.
    role: String,
) -> Result<(), AppError> {
    backend().invite(emails, read_role(&role)?).await?;
    leave_for("/dashboard/team?done=invited")
}

/// Mails an invitation again, with a new link.
#[server(prefix = "/web", endpoint = "invite-again")]
pub async fn invite_again(
    /// Id of the invitation.
    subject: InvitationId,
) -> Result<(), AppError> {
    backend().invite_again(subject).await?;
    leave_for("/dashboard/team?done=invited-again")
}

/// Revokes an invitation.
#[server(prefix = "/web", endpoint = "withdraw-invitation")]
pub async fn withdraw_invitation(
    /// Id of the invitation.
    subject: InvitationId,
) -> Result<(), AppError> {
    backend().withdraw_invitation(subject).await?;
    leave_for("/dashboard/team?done=withdrawn")
}

/// Changes a member's role.
#[server(prefix = "/web", endpoint = "change-role")]
pub async fn change_role(
    /// User id of the member.
    subject: UserId,
    /// New role: admin or member.
    role: String,
) -> Result<(), AppError> {
    backend().change_role(subject, read_role(&role)?).await?;
    leave_for("/dashboard/team?done=role")
}

/// Removes a member from the account.
#[server(prefix = "/web", endpoint = "remove-member")]
pub async fn remove_member(
    /// User id of the member.
    subject: UserId,
) -> Result<(), AppError> {
    backend().remove_member(subject).await?;
    leave_for("/dashboard/team?done=removed")
}

/// Removes the logged-in user from the account.
#[server(prefix = "/web", endpoint = "leave-account")]
pub async fn leave_account() -> Result<(), AppError> {
    backend().leave_account().await?;
    leave_for(OwnPath::after_log_in(None))
}

/// Transfers ownership to another member.
#[server(prefix = "/web", endpoint = "hand-over")]
pub async fn hand_over(
    /// User id of the member.
    subject: UserId,
) -> Result<(), AppError> {
    backend().hand_over(subject).await?;
    leave_for("/dashboard/team?done=handed-over")
}
