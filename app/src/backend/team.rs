//! Members of an account.

use async_trait::async_trait;
use platen_domain::{
    role::Role,
    team::{Guest, OpenedInvitation},
};

use crate::{
    error::AppError,
    model::team::{LogPage, LogSearch, OwnAccount, Team},
};

/// The account's members, invitations and activity.
#[async_trait]
pub trait TeamBackend: Send + Sync {
    /// Returns members and invitations.
    async fn team(&self) -> Result<Team, AppError>;

    /// Mails invitations to one or more addresses, separated by commas.
    async fn invite(&self, emails: String, role: Role) -> Result<(), AppError>;

    /// Mails an invitation again, with a new link.
    async fn invite_again(&self, id: String) -> Result<(), AppError>;

    /// Revokes an invitation.
    async fn withdraw_invitation(&self, id: String) -> Result<(), AppError>;

    /// Changes a member's role to admin or member.
    async fn change_role(&self, user: String, role: Role) -> Result<(), AppError>;

    /// Removes a member from the account.
    async fn remove_member(&self, user: String) -> Result<(), AppError>;

    /// Removes the logged-in user from the account.
    async fn leave_account(&self) -> Result<(), AppError>;

    /// Transfers ownership to another member.
    async fn hand_over(&self, user: String) -> Result<(), AppError>;

    /// Returns the invitation to which a link leads, and who has opened it.
    async fn invitation(&self, token: String) -> Result<(OpenedInvitation, Guest), AppError>;

    /// Accepts an invitation for the logged-in user.
    async fn accept_invitation(&self, token: String) -> Result<(), AppError>;

    /// Accepts an invitation as a new user, and logs them in.
    async fn join_as_new(&self, token: String, name: String, password: String) -> Result<(), AppError>;

    /// Lists the accounts of the logged-in user.
    async fn own_accounts(&self) -> Result<Vec<OwnAccount>, AppError>;

    /// Switches the session to another of the user's accounts.
    async fn switch_account(&self, id: String) -> Result<(), AppError>;

    /// Returns a page of the account's activity.
    async fn account_log(&self, search: LogSearch) -> Result<LogPage, AppError>;
}
