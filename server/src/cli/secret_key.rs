//! `platen secret-key …`

use clap::Subcommand;
use platen_core::{config::Config, service::secret_keys};

use crate::{
    boot::secret_key,
    cli::{failure::Failure, with_database},
    database::Database,
};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Rewrap data keys and second factors with the new master key. Prints their number.
    ///
    /// To replace the master key, set the new one as `PLATEN_SECRET_KEY` and the old one as `PLATEN_FORMER_SECRET_KEY`,
    /// restart every process, run this command with the same two settings, and then unset the former key.
    Rewrap,
}

pub(super) async fn execute(command: Command, config: &Config) -> Result<(), Failure> {
    let Command::Rewrap = command;
    with_database(config, async |database| rewrap(database, config).await).await
}

async fn rewrap(database: &Database, config: &Config) -> Result<(), Failure> {
    let keys = secret_key::obtain_for_command(&database.pool, config).await?;
    println!("{}", secret_keys::rewrap(&database.pool, &keys).await?);
    Ok(())
}
