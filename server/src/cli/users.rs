//! `platen users …`

use clap::Subcommand;
use platen_core::{
    clock,
    config::Config,
    service::people::{People, PeopleError, second_factor},
};
use platen_domain::email::Email;
use sqlx::PgPool;

use crate::{boot::secret_key, cli::failure::Failure};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Remove the second factor of a user who has lost their app and their recovery codes.
    ///
    /// Verify the identity of the requester first, and not by mail alone: they may be an attacker. The user is notified
    /// by mail, and the removal is recorded in the activity of their accounts.
    RemoveSecondFactor {
        /// Email address of the user.
        #[arg(long)]
        email: Email,
    },
}

pub(super) async fn execute(command: Command, db: &PgPool, config: &Config) -> Result<(), Failure> {
    let Command::RemoveSecondFactor { email } = command;
    let keys = secret_key::obtain_for_command(db, config).await?;
    let people = People::new(db.clone(), keys, &config.http.base_url);
    let removed = second_factor::remove(&people, &email, clock::now()).await;
    removed.map_err(|error| match error {
        PeopleError::NotFound => Failure::by_caller(&format!("{email} has no second factor")),
        other => other.into(),
    })
}
