//! Selects the account that a command applies to.

use clap::Args;
use platen_core::{
    service::accounts::{self, SelectError, Selection},
    store::accounts::OwnedAccount,
};
use platen_domain::{email::Email, ids::AccountId};
use sqlx::PgPool;

use crate::cli::failure::Failure;

#[derive(Args)]
#[group(required = true, multiple = true)]
pub(super) struct AccountArguments {
    /// The account that the user with this email address owns.
    #[arg(long)]
    email: Option<Email>,
    /// The account with this id.
    #[arg(long, value_name = "ID")]
    account: Option<AccountId>,
}

/// `--account` takes precedence over `--email`. An unknown account is the caller's error.
pub(super) async fn select(db: &PgPool, arguments: AccountArguments) -> Result<OwnedAccount, Failure> {
    let selection = match (arguments.account, arguments.email) {
        (Some(id), _) => Selection::Id(id),
        (None, Some(email)) => Selection::OwnedBy(email),
        (None, None) => return Err(Failure::by_caller(&"specify the account with --email or --account")),
    };
    accounts::select(db, selection).await.map_err(|error| match error {
        SelectError::Store(error) => error.into(),
        problem => Failure::by_caller(&problem),
    })
}
