//! The account that a command is about.

use clap::Args;

use crate::{
    cli::failure::Failure,
    database::Database,
    domain::{email::Email, ids::AccountId},
    service::accounts::{self, SelectError, Selection},
    store::accounts::OwnedAccount,
};

#[derive(Args)]
#[group(required = true, multiple = true)]
pub(super) struct AccountArguments {
    /// The account that the user with this e-mail address owns.
    #[arg(long)]
    email: Option<Email>,
    /// The account with this id.
    #[arg(long, value_name = "ID")]
    account: Option<AccountId>,
}

/// `--account` wins over `--email`.
pub(super) async fn select(database: &Database, arguments: AccountArguments) -> Result<OwnedAccount, Failure> {
    let selection = match (arguments.account, arguments.email) {
        (Some(id), _) => Selection::Id(id),
        (None, Some(email)) => Selection::OwnedBy(email),
        (None, None) => return Err(Failure::by_caller(&"name the account by --email or --account")),
    };
    accounts::select(&database.pool, selection)
        .await
        .map_err(|error| match error {
            SelectError::Store(error) => error.into(),
            fault => Failure::by_caller(&fault),
        })
}
