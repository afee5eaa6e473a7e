//! What pages ask about the account of the person who is logged in.

use async_trait::async_trait;

use crate::{
    error::AppError,
    model::{
        overview::{Activity, Span},
        role::Role,
        standing::Standing,
        usage::Usage,
    },
};

/// The account as a whole.
#[async_trait]
pub trait AccountBackend: Send + Sync {
    /// Who is logged in, for which account, and what it has.
    async fn standing(&self) -> Result<Standing, AppError>;

    /// What the person who is logged in is in the account.
    async fn role(&self) -> Result<Role, AppError>;

    /// What the account was doing.
    async fn activity(&self, span: Span) -> Result<Activity, AppError>;

    /// What it has used in this period, by day.
    async fn usage(&self) -> Result<Usage, AppError>;
}
