//! What pages ask about people who share an account.

use async_trait::async_trait;

use crate::{
    error::AppError,
    model::{
        role::Role,
        team::{LogPage, LogSearch, OpenedInvitation, OwnAccount, Team},
    },
};

/// The account's members, those who are asked in, and what they did.
#[async_trait]
pub trait TeamBackend: Send + Sync {
    /// All who belong to it.
    async fn team(&self) -> Result<Team, AppError>;

    /// Asks people in by mail: one or more addresses, separated by commas.
    async fn invite(&self, emails: String, role: Role) -> Result<(), AppError>;

    /// Mails an invitation again, with another link.
    async fn invite_again(&self, id: String) -> Result<(), AppError>;

    /// Takes an invitation back.
    async fn withdraw_invitation(&self, id: String) -> Result<(), AppError>;

    /// Makes somebody an admin or a member.
    async fn change_role(&self, user: String, role: Role) -> Result<(), AppError>;

    /// Takes somebody out of the account.
    async fn remove_member(&self, user: String) -> Result<(), AppError>;

    /// Lets whoever is logged in leave the account.
    async fn leave_account(&self) -> Result<(), AppError>;

    /// Makes another member the owner.
    async fn hand_over(&self, user: String) -> Result<(), AppError>;

    /// What the link of an invitation leads to.
    async fn invitation(&self, token: String) -> Result<OpenedInvitation, AppError>;

    /// Lets whoever is logged in follow an invitation.
    async fn accept_invitation(&self, token: String) -> Result<(), AppError>;

    /// Makes a user who follows an invitation, and logs them in.
    async fn join_as_new(&self, token: String, name: String, password: String) -> Result<(), AppError>;

    /// The accounts that whoever is logged in belongs to.
    async fn own_accounts(&self) -> Result<Vec<OwnAccount>, AppError>;

    /// Acts for another one of them from now on.
    async fn switch_account(&self, id: String) -> Result<(), AppError>;

    /// What was done in the account.
    async fn account_log(&self, search: LogSearch) -> Result<LogPage, AppError>;
}
