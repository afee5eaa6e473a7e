//! `platen accounts …`

use std::io::{self, BufRead, IsTerminal};

use clap::Subcommand;

use crate::{
    cli::failure::Failure,
    clock,
    config::Config,
    database::{self, Database},
    domain::{email::Email, password::Password},
    service::accounts::{self, CreateAccountError},
};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Make an account and its owner; the password is the first line of standard input. Prints the account's id.
    Create {
        /// E-mail address of the owner, who logs in with it.
        #[arg(long)]
        email: Email,
    },
}

pub(super) async fn execute(command: Command, config: &Config) -> Result<(), Failure> {
    let Command::Create { email } = command;
    let password = Password::parse(read_password()?).map_err(|error| Failure::by_caller(&error))?;
    let database = database::open_for_command(config).await?;
    let outcome = create(&database, &email, password).await;
    database.close().await?;
    outcome
}

async fn create(database: &Database, email: &Email, password: Password) -> Result<(), Failure> {
    match accounts::create(&database.pool, email, password, clock::now()).await {
        Ok(created) => {
            println!("{}", created.account);
            Ok(())
        }
        Err(taken @ CreateAccountError::EmailTaken(_)) => Err(Failure::by_caller(&taken)),
        Err(error) => Err(error.into()),
    }
}

fn read_password() -> io::Result<String> {
    let input = io::stdin().lock();
    if input.is_terminal() {
        eprintln!("Password (is shown while you type):");
    }
    Ok(input.lines().next().transpose()?.unwrap_or_default())
}
