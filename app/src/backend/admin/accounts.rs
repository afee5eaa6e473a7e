//! Accounts, as operators read and change them.

use async_trait::async_trait;

use crate::{
    error::AppError,
    model::admin::accounts::{AccountFile, AccountPage, AccountSearch},
};

/// All accounts. Each change is recorded in the account's activity and in the operator audit log, with its reason.
#[async_trait]
pub trait AdminAccountsBackend: Send + Sync {
    /// Searches accounts.
    async fn accounts(&self, search: AccountSearch) -> Result<AccountPage, AppError>;

    /// Returns the details of one account.
    async fn account_file(&self, id: String) -> Result<AccountFile, AppError>;

    /// Suspends an account.
    async fn suspend_account(&self, id: String, reason: String, tell_owner: bool) -> Result<(), AppError>;

    /// Ends a suspension.
    async fn restore_account(&self, id: String, reason: String, tell_owner: bool) -> Result<(), AppError>;

    /// Grants an account credits. `credits` and `lasts` are the raw form values.
    async fn grant_credits(&self, id: String, credits: String, lasts: String, reason: String) -> Result<(), AppError>;

    /// Moves an account to another plan. `credits`, if not empty, replaces the plan's credits for each period.
    async fn set_plan(&self, id: String, plan: String, credits: String, reason: String) -> Result<(), AppError>;

    /// Overrides an account's limits, given as raw form values: concurrent renders, requests per minute, MiB per
    /// request, seconds per render, and lines of storage limits. For an empty value the plan's limit applies.
    async fn set_limits(&self, id: String, limits: [String; 5], reason: String) -> Result<(), AppError>;

    /// Starts impersonation: the operator views the account as its owner.
    async fn impersonate(&self, id: String, reason: String) -> Result<(), AppError>;

    /// Ends impersonation. Returns the id of the account that was viewed.
    async fn stop_impersonation(&self) -> Result<Option<String>, AppError>;
}
