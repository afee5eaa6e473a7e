//! `platen admin …`

use clap::{Args, Subcommand};
use platen_core::{
    clock,
    service::operators::{
        self,
        audit::{self, ChainEnd},
    },
};
use platen_domain::email::Email;
use sqlx::PgPool;

use crate::cli::{failure::Failure, show_time};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Make a user an operator of the service, who can open /admin once they have a second factor.
    Appoint {
        /// Email address of the user.
        #[arg(long)]
        email: Email,
    },
    /// Revoke a user's operator access, and end all their sessions.
    Dismiss {
        /// Email address of the user.
        #[arg(long)]
        email: Email,
    },
    /// List the operators, and whether they have a second factor.
    List,
    /// Verify that the operator audit log is unchanged, from its first entry to its last. Prints the end of the chain.
    ///
    /// Store the output elsewhere: only with it can a later check detect that the log was rewritten or truncated.
    VerifyAudit(Noted),
}

#[derive(Args)]
pub(super) struct Noted {
    /// An entry that must exist, as printed by an earlier check.
    #[arg(long, value_name = "NUMBER:DIGEST", value_parser = parse_noted)]
    noted: Option<ChainEnd>,
}

fn parse_noted(text: &str) -> Result<ChainEnd, String> {
    let wrong =
        || format!("must be a number, a colon and 64 hexadecimal digits, as an earlier check printed; got {text:?}");
    let (number, digest) = text.split_once(':').ok_or_else(wrong)?;
    let number = number.parse().map_err(|_| wrong())?;
    let digest = digest.to_ascii_lowercase();
    let is_digest = digest.len() == 64 && digest.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_digest.then_some(ChainEnd { number, digest }).ok_or_else(wrong)
}

pub(super) async fn execute(command: Command, db: &PgPool) -> Result<(), Failure> {
    match command {
        Command::Appoint { email } => appoint(db, &email).await,
        Command::Dismiss { email } => dismiss(db, &email).await,
        Command::List => list(db).await,
        Command::VerifyAudit(arguments) => verify(db, arguments.noted.as_ref()).await,
    }
}

async fn appoint(db: &PgPool, email: &Email) -> Result<(), Failure> {
    if operators::appoint(db, email, clock::now()).await? {
        return Ok(());
    }
    let known = operators::list(db).await?;
    if known.iter().any(|operator| operator.email == email.as_str()) {
        return Ok(());
    }
    Err(Failure::by_caller(&format!(
        "there is no user {email}; `platen accounts create --email {email} --admin` creates one"
    )))
}

async fn dismiss(db: &PgPool, email: &Email) -> Result<(), Failure> {
    if operators::dismiss(db, email, clock::now()).await? {
        return Ok(());
    }
    Err(Failure::by_caller(&format!(
        "{email} is not an operator; `platen admin list` lists the operators"
    )))
}

async fn list(db: &PgPool) -> Result<(), Failure> {
    for operator in operators::list(db).await? {
        let factor = if operator.has_second_factor {
            "second factor on"
        } else {
            "no second factor: can't open /admin yet"
        };
        println!("{}  since {}  {factor}", operator.email, show_time(operator.since));
    }
    Ok(())
}

async fn verify(db: &PgPool, noted: Option<&ChainEnd>) -> Result<(), Failure> {
    match audit::verify(db, noted).await {
        Ok(end) => {
            println!("{}:{}", end.number, end.digest);
            Ok(())
        }
        Err(problem) => Err(problem.into()),
    }
}
