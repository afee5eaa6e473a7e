//! The part of [`Backend`](super::Backend) for members, invitations and activity.

use async_trait::async_trait;
use platen_domain::{
    account_log::ActivityFilter,
    ids::{AccountId, EventId, InvitationId, UserId},
    role::Role,
    team::{Guest, OpenedInvitation},
};

use crate::{
    error::AppError,
    model::team::{LogPage, OwnAccount, Team},
};

/// Members, invitations and activity. Each method authorizes itself, as those of [`Backend`](super::Backend),
/// except [`Self::invitation`] and [`Self::join_as_new`], which are public.
#[async_trait]
pub trait TeamBackend: Send + Sync {
    /// Returns members and invitations.
    async fn team(&self) -> Result<Team, AppError>;

    /// Mails invitations to one or more addresses, separated by commas.
    async fn invite(&self, emails: String, role: Role) -> Result<(), AppError>;

    /// Mails an invitation again, with a new link.
    async fn invite_again(&self, id: InvitationId) -> Result<(), AppError>;

    /// Revokes an invitation.
    async fn withdraw_invitation(&self, id: InvitationId) -> Result<(), AppError>;

    /// Changes a member's role to admin or member.
    async fn change_role(&self, user: UserId, role: Role) -> Result<(), AppError>;

    /// Removes a member from the account.
    async fn remove_member(&self, user: UserId) -> Result<(), AppError>;

    /// Removes the logged-in user from the account.
    async fn leave_account(&self) -> Result<(), AppError>;

    /// Transfers ownership to another member.
    async fn hand_over(&self, user: UserId) -> Result<(), AppError>;

    /// Returns the invitation to which a link leads, and who has opened it.
    async fn invitation(&self, token: String) -> Result<(OpenedInvitation, Guest), AppError>;

    /// Accepts an invitation for the logged-in user.
    async fn accept_invitation(&self, token: String) -> Result<(), AppError>;

    /// Accepts an invitation as a new user, and logs them in.
    async fn join_as_new(&self, token: String, name: String, password: String) -> Result<(), AppError>;

    /// Lists the accounts of the logged-in user.
    async fn own_accounts(&self) -> Result<Vec<OwnAccount>, AppError>;

    /// Switches the session to another of the user's accounts.
    async fn switch_account(&self, id: AccountId) -> Result<(), AppError>;

    /// Returns a page of the account's activity.
    async fn account_log(&self, filter: ActivityFilter, after: Option<EventId>) -> Result<LogPage, AppError>;
}
