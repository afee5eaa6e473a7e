//! The command line: arguments in, exit code out. 0 is success, 2 the caller's fault, 1 ours.

mod account;
mod accounts;
mod admin;
mod billing;
mod connections;
mod doctor;
mod failure;
mod inspect;
mod keys;
mod render;
mod secret_key;
mod users;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    allocator,
    boot::{self, ServeError, secret_key::ObtainKeyError},
    cli::failure::Failure,
    config::{Config, jobs::Role},
    database,
    drawing::{
        self,
        child::{Drawings, Size},
    },
    telemetry,
};

/// Turns HTML, web addresses and stored templates into archival PDF.
#[derive(Parser)]
#[command(name = "platen", version, arg_required_else_help = true, after_long_help = crate::config::help())]
struct Arguments {
    #[command(subcommand)]
    invocation: Invocation,
}

#[derive(Subcommand)]
enum Invocation {
    /// Fill templates, and be able to do nothing else. `serve` starts these.
    #[command(hide = true)]
    FillTemplates,
    /// Draw pages of a PDF, and be able to do nothing else. `serve` starts these.
    #[command(hide = true)]
    DrawPages {
        /// Pixels an inch.
        size: u16,
        /// How many pages.
        pages: usize,
        /// The one to draw before the others.
        first: usize,
        /// The size is in pixels along the longer side of a page.
        #[arg(long)]
        small: bool,
    },
    #[command(flatten)]
    Command(Command),
}

#[derive(Subcommand)]
enum Command {
    /// Run the service.
    ///
    /// Without `DATABASE_URL` it keeps a private Postgres in the data folder, and its first start makes an account and
    /// prints a key. SIGTERM or Ctrl-C lets running renders finish; a second one leaves at once.
    #[command(after_long_help = crate::config::help())]
    Serve {
        /// What this process does: web answers requests, worker does background work, all does both.
        #[arg(long)]
        role: Option<Role>,
    },
    /// Make one PDF: no service, no database, the same engine and options.
    Render(render::Arguments),
    /// Tell what a PDF holds, and whether it conforms to PDF/A-2b.
    ///
    /// It reads files as Platen and Chromium write them: one revision, without later changes.
    Inspect(inspect::Arguments),
    /// Bring the database's schema up to date. `serve` does it too.
    Migrate,
    /// Make accounts, and decide about their plans and credits.
    #[command(subcommand)]
    Accounts(accounts::Command),
    /// Decide who operates the service, and check the log of what they did.
    #[command(subcommand)]
    Admin(admin::Command),
    /// Help people who are locked out.
    #[command(subcommand)]
    Users(users::Command),
    /// Make, list, replace and revoke API keys.
    #[command(subcommand)]
    Keys(keys::Command),
    /// Make, list, try and remove the storage connections that documents are delivered through.
    #[command(subcommand)]
    Connections(connections::Command),
    /// Sell plans and credits by Stripe: prices, and whether Stripe and the database say the same.
    #[command(subcommand)]
    Billing(billing::Command),
    /// Replace the secret key that seals what must stay secret at rest.
    #[command(subcommand)]
    SecretKey(secret_key::Command),
    /// Check all that the service depends on, and say what to do where something is wrong.
    Doctor,
}

/// Runs the command that the arguments name.
pub fn run() -> ExitCode {
    let done = match Arguments::parse().invocation {
        // Before anything else: they have no settings, no log and one thread.
        Invocation::FillTemplates => platen_template::child::run().map_err(Failure::from),
        Invocation::DrawPages {
            size,
            pages,
            first,
            small,
        } => {
            let size = if small {
                Size::LongerSide(size)
            } else {
                Size::DotsPerInch(size)
            };
            let wanted = Drawings { size, pages, first };
            drawing::child::run(wanted).map_err(Failure::from)
        }
        Invocation::Command(command) => execute(command),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn execute(command: Command) -> Result<(), Failure> {
    if matches!(command, Command::Serve { .. }) {
        allocator::return_freed_memory();
    }
    let config = Config::from_env().map_err(|error| Failure::by_caller(&error))?;
    let traces = matches!(command, Command::Serve { .. }).then_some(&config.traces);
    let telemetry = telemetry::start(&config.log, traces).map_err(|error| Failure::by_caller(&error))?;
    let done = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(async {
            match command {
                Command::Serve { role } => boot::serve(config.with_role(role)).await.map_err(|error| match error {
                    ServeError::SecretKey(ObtainKeyError::NotSet) => Failure::by_caller(&error),
                    other => other.into(),
                }),
                Command::Render(arguments) => render::execute(arguments, config).await,
                Command::Inspect(arguments) => inspect::execute(&arguments),
                Command::Migrate => Ok(database::open_for_command(&config).await?.close().await?),
                Command::Accounts(command) => accounts::execute(command, &config).await,
                Command::Admin(command) => admin::execute(command, &config).await,
                Command::Users(command) => users::execute(command, &config).await,
                Command::Keys(command) => keys::execute(command, &config).await,
                Command::Connections(command) => connections::execute(command, &config).await,
                Command::Billing(command) => billing::execute(command, &config).await,
                Command::SecretKey(command) => secret_key::execute(command, &config).await,
                Command::Doctor => doctor::execute(&config).await,
            }
        });
    telemetry.end();
    done
}

/// Whole seconds, UTC.
fn show_time(time: OffsetDateTime) -> String {
    let seconds = time.replace_nanosecond(0).unwrap_or(time);
    seconds.format(&Rfc3339).unwrap_or_default()
}
