//! The part of [`Backend`](super::Backend) for operators.

use async_trait::async_trait;
use platen_domain::{
    account_directory::{DirectoryPage, DirectorySearch},
    announcement::{Announcement, AnnouncementForm},
    audit_log::{AuditFilter, AuditRow},
    failed_jobs::Done,
    ids::{AccountId, AnnouncementId, InstanceId},
    page::Page,
};
use time::OffsetDateTime;

use crate::{
    error::AppError,
    model::admin::{
        OperatorStanding,
        accounts::AccountFile,
        failed_jobs::{ChosenWork, FailedWorkPage, FailedWorkSearch},
        health::Health,
    },
};

/// Operators. For other users, the methods return [`AppError::NotFound`]. Each change is recorded with its reason.
#[async_trait]
pub trait OperatorBackend: Send + Sync {
    /// Returns the logged-in operator and a summary of the service's health.
    async fn operator_standing(&self) -> Result<OperatorStanding, AppError>;

    /// Returns a page of accounts, and the names of all plans.
    async fn accounts(&self, search: DirectorySearch) -> Result<(DirectoryPage, Vec<String>), AppError>;

    /// Returns the details of one account.
    async fn account_file(&self, id: AccountId) -> Result<AccountFile, AppError>;

    /// Suspends an account.
    async fn suspend_account(&self, id: AccountId, reason: String, notify_owner: bool) -> Result<(), AppError>;

    /// Ends a suspension.
    async fn restore_account(&self, id: AccountId, reason: String, notify_owner: bool) -> Result<(), AppError>;

    /// Grants an account credits. `credits` and `lasts` are the raw form values.
    async fn grant_credits(
        &self,
        id: AccountId,
        credits: String,
        lasts: String,
        reason: String,
    ) -> Result<(), AppError>;

    /// Moves an account to another plan. `credits`, if not empty, replaces the plan's credits for each period.
    async fn set_plan(&self, id: AccountId, plan: String, credits: String, reason: String) -> Result<(), AppError>;

    /// Overrides an account's limits, given as raw form values: concurrent renders, requests per minute, MiB per
    /// request, seconds per render, and lines of storage limits. For an empty value the plan's limit applies.
    async fn set_limits(&self, id: AccountId, limits: [String; 5], reason: String) -> Result<(), AppError>;

    /// Starts impersonation: the operator views the account as its owner.
    async fn impersonate(&self, id: AccountId, reason: String) -> Result<(), AppError>;

    /// Ends impersonation. Returns the id of the account that was viewed.
    async fn stop_impersonation(&self) -> Result<Option<AccountId>, AppError>;

    /// Lists failed jobs, the latest failure first.
    async fn failed_jobs(&self, search: FailedWorkSearch) -> Result<FailedWorkPage, AppError>;

    /// Retries the chosen jobs at once.
    async fn retry_failed_work(&self, chosen: ChosenWork, reason: String) -> Result<Done, AppError>;

    /// Discards the chosen jobs.
    async fn discard_failed_work(&self, chosen: ChosenWork, reason: String) -> Result<Done, AppError>;

    /// Returns the health of all parts. With the id of a known process, activity is limited to that process.
    async fn health(&self, process: Option<InstanceId>) -> Result<Health, AppError>;

    /// Returns a page of audit events, the latest first, and the end of the chain: number of the last event and its
    /// digest in hexadecimal, or `None` if the log is empty.
    async fn audit_log(
        &self,
        filter: AuditFilter,
        after: Option<i64>,
    ) -> Result<(Page<AuditRow, i64>, Option<(i64, String)>), AppError>;

    /// Lists all announcements for operators, ordered by start, the latest first. Also returns the current time.
    async fn announcements(&self) -> Result<(Vec<Announcement>, OffsetDateTime), AppError>;

    /// Creates an announcement.
    async fn announce(&self, form: AnnouncementForm) -> Result<(), AppError>;

    /// Ends a current announcement, or cancels a scheduled one.
    async fn end_announcement(&self, id: AnnouncementId) -> Result<(), AppError>;
}
