//! `platen secret-key …`

use clap::Subcommand;
use platen_core::{config::Config, service::secret_keys};
use sqlx::PgPool;

use crate::{boot::secret_key, cli::failure::Failure};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Rewrap data keys and second factors with the new master key. Prints their number.
    ///
    /// To replace the master key, set the new one as `PLATEN_SECRET_KEY` and the old one as `PLATEN_FORMER_SECRET_KEY`,
    /// restart every process, run this command with the same two settings, and then unset the former key.
    Rewrap,
}

pub(super) async fn execute(command: Command, db: &PgPool, config: &Config) -> Result<(), Failure> {
    let Command::Rewrap = command;
    let keys = secret_key::obtain_for_command(db, config).await?;
    println!("{}", secret_keys::rewrap(db, &keys).await?);
    Ok(())
}
