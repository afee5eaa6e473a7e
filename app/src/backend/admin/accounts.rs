//! What operators ask about accounts, and do to them.

use async_trait::async_trait;

use crate::{
    error::AppError,
    model::admin::accounts::{AccountFile, AccountPage, AccountSearch},
};

/// All accounts. What is done to one is written to its own log and to the audit log, with the reason.
#[async_trait]
pub trait AdminAccountsBackend: Send + Sync {
    /// Looks for accounts.
    async fn accounts(&self, search: AccountSearch) -> Result<AccountPage, AppError>;

    /// One account.
    async fn account_file(&self, id: String) -> Result<AccountFile, AppError>;

    /// Suspends an account.
    async fn suspend_account(&self, id: String, reason: String, tell_owner: bool) -> Result<(), AppError>;

    /// Lifts a suspension.
    async fn restore_account(&self, id: String, reason: String, tell_owner: bool) -> Result<(), AppError>;

    /// Gives an account credits. `credits` and `lasts` are as they were typed and chosen.
    async fn grant_credits(&self, id: String, credits: String, lasts: String, reason: String) -> Result<(), AppError>;

    /// Gives an account another plan; `credits`, if there are any, are those of each period instead of the plan's.
    async fn set_plan(&self, id: String, plan: String, credits: String, reason: String) -> Result<(), AppError>;

    /// Gives an account limits of its own, as they were typed: renders at a time, requests a minute, MiB a request,
    /// seconds a render, and lines of what it may store. An empty one is the plan's to decide.
    async fn set_limits(&self, id: String, limits: [String; 5], reason: String) -> Result<(), AppError>;

    /// Begins to look into an account as its owner.
    async fn look_into_account(&self, id: String, reason: String) -> Result<(), AppError>;

    /// Stops looking. Returns the account.
    async fn stop_looking(&self) -> Result<Option<String>, AppError>;
}
