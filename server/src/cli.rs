//! The command line. Exit codes: 0 for success, 2 for a caller's error, 1 for an error of Platen or its environment.

mod account_argument;
mod accounts;
mod admin;
mod batch;
mod billing;
mod client;
mod connections;
mod doctor;
mod failure;
mod inspect;
mod keys;
mod progress_line;
mod render;
mod secret_key;
mod templates;
mod users;

use std::process::ExitCode;
#[cfg(feature = "simulation")]
use std::time::Duration;

use clap::{Parser, Subcommand};
use platen_core::{
    config::{
        Config,
        jobs::Role,
        log::{LogConfig, LogFormat},
    },
    drawing::{
        self,
        child::{AssetFile, Documents, Drawings, Size},
    },
    telemetry,
};
#[cfg(feature = "simulation")]
use platen_engine::simulation::Simulation;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    allocator,
    boot::{self, ServeError, secret_key::ObtainKeyError},
    cli::failure::Failure,
    database,
};

/// Turns HTML, web addresses and stored templates into archival PDF.
#[derive(Parser)]
#[command(name = "platen", version, arg_required_else_help = true, after_long_help = platen_core::config::help())]
struct Arguments {
    #[command(subcommand)]
    invocation: Invocation,
}

#[derive(Subcommand)]
enum Invocation {
    /// Fill templates in a sandboxed worker process; started by `serve`.
    #[command(hide = true)]
    FillTemplates,
    /// Draw pages of a PDF in a sandboxed worker process; started by `serve`.
    #[command(hide = true)]
    DrawPages {
        /// Resolution in pixels per inch.
        size: u16,
        /// Number of pages to draw.
        pages: usize,
        /// Page to draw before the others.
        first: usize,
        /// Maximum number of words to find.
        words: usize,
        /// Interpret the size as pixels along the longer side of a page.
        #[arg(long)]
        small: bool,
    },
    /// Compare pages of two PDFs in a sandboxed worker process; started by `serve`.
    #[command(hide = true)]
    ComparePages {
        /// Size of the first PDF in bytes.
        older_bytes: usize,
        /// Number of pages of the first PDF to compare.
        older_pages: usize,
        /// Number of pages of the second PDF to compare.
        newer_pages: usize,
    },
    /// Read the structure of a PDF in a sandboxed worker process; started by `serve`.
    #[command(hide = true)]
    ReadStructure,
    /// Examine assets in a sandboxed worker process; started by `serve`.
    #[command(hide = true)]
    ExamineAssets {
        /// The files: media type and size in bytes, separated by a colon.
        files: Vec<AssetFile>,
    },
    #[command(flatten)]
    Command(Box<Command>),
}

#[derive(Subcommand)]
enum Command {
    /// Run the service.
    ///
    /// Without `DATABASE_URL` it runs a private Postgres in the data folder; the first start creates an account and
    /// prints an API key. On SIGTERM or Ctrl-C running renders finish; a second signal exits immediately.
    #[command(after_long_help = platen_core::config::help())]
    Serve {
        /// What this process does: `web` serves requests, `worker` does background work, `all` does both.
        #[arg(long)]
        role: Option<Role>,
    },
    /// Run the service without browsers: each render takes the given time and returns a file of zeros.
    #[cfg(feature = "simulation")]
    #[command(hide = true)]
    ServeSimulated {
        /// Duration of a render in milliseconds.
        #[arg(long, default_value_t = 30)]
        render_ms: u64,
        /// Size of each document.
        #[arg(long, default_value_t = 30_000)]
        document_bytes: usize,
    },
    /// Render one PDF without service or database, with the same engine and options.
    Render(render::Arguments),
    /// Show the contents of a PDF, and the standards that it conforms to.
    ///
    /// Reads files as Platen and Chromium write them: one revision, without incremental updates.
    Inspect(inspect::Arguments),
    /// Keep the templates of an account in a folder: pull, push, compare and preview them.
    #[command(subcommand)]
    Templates(templates::Command),
    /// Render a document for each row of a file.
    #[command(subcommand)]
    Batch(batch::Command),
    #[command(flatten)]
    OnDatabase(DatabaseCommand),
    /// Check everything that the service depends on, and suggest fixes.
    Doctor,
}

/// Commands that work on the database of the service.
#[derive(Subcommand)]
enum DatabaseCommand {
    /// Migrate the database's schema to this version. `serve` does this too.
    Migrate,
    /// Create accounts, and change their plans and credits.
    #[command(subcommand)]
    Accounts(accounts::Command),
    /// Grant and revoke operator access, and verify the operator audit log.
    #[command(subcommand)]
    Admin(admin::Command),
    /// Restore access for users who are locked out.
    #[command(subcommand)]
    Users(users::Command),
    /// Create, list, rotate and revoke API keys.
    #[command(subcommand)]
    Keys(keys::Command),
    /// Create, list, test and remove the storage connections through which documents are delivered.
    #[command(subcommand)]
    Connections(connections::Command),
    /// Sell plans and credits through Stripe: list prices, and compare Stripe with the database.
    #[command(subcommand)]
    Billing(billing::Command),
    /// Replace the master key that encrypts secrets at rest.
    #[command(subcommand)]
    SecretKey(secret_key::Command),
}

/// Runs the command given by the arguments.
pub fn run() -> ExitCode {
    let done = match Arguments::parse().invocation {
        // First of all: worker processes have no settings, no log and one thread.
        Invocation::FillTemplates => platen_template::child::run().map_err(Failure::from),
        Invocation::DrawPages {
            size,
            pages,
            first,
            words,
            small,
        } => {
            let size = if small {
                Size::LongerSide(size)
            } else {
                Size::DotsPerInch(size)
            };
            let wanted = Drawings {
                size,
                pages,
                first,
                words,
            };
            drawing::child::run(wanted).map_err(Failure::from)
        }
        Invocation::ComparePages {
            older_bytes,
            older_pages,
            newer_pages,
        } => {
            let documents = Documents {
                older_bytes,
                older_pages,
                newer_pages,
            };
            drawing::child::compare(documents).map_err(Failure::from)
        }
        Invocation::ReadStructure => drawing::child::structure().map_err(Failure::from),
        Invocation::ExamineAssets { files } => drawing::child::examine(&files).map_err(Failure::from),
        Invocation::Command(command) => execute(*command),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn execute(command: Command) -> Result<(), Failure> {
    let serves = match command {
        Command::Serve { .. } => true,
        #[cfg(feature = "simulation")]
        Command::ServeSimulated { .. } => true,
        _ => false,
    };
    if serves {
        allocator::return_freed_memory();
    }
    let mut config = Config::from_env().map_err(|error| Failure::by_caller(&error))?;
    if matches!(&command, Command::Render(arguments) if !arguments.log) {
        config.log = LogConfig {
            filter: "warn".to_owned(),
            format: LogFormat::Text,
        };
    }
    let traces = serves.then_some(&config.traces);
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
                #[cfg(feature = "simulation")]
                Command::ServeSimulated {
                    render_ms,
                    document_bytes,
                } => {
                    let simulation = Simulation {
                        time: Duration::from_millis(render_ms),
                        pdf: vec![0; document_bytes],
                    };
                    Ok(boot::serve_simulated(config, simulation).await?)
                }
                Command::Render(arguments) => render::execute(arguments, config).await,
                Command::Inspect(arguments) => inspect::execute(&arguments),
                Command::Templates(command) => templates::execute(command).await,
                Command::Batch(command) => batch::execute(command).await,
                Command::Doctor => doctor::execute(&config).await,
                Command::OnDatabase(command) => with_database(&config, command).await,
            }
        });
    telemetry.end();
    done
}

/// Opens the database, executes the command, and closes the database.
async fn with_database(config: &Config, command: DatabaseCommand) -> Result<(), Failure> {
    // Read first: a prompt would hold the private database, and Ctrl-C would leave it running.
    let password = match &command {
        DatabaseCommand::Accounts(command) => command.read_password()?,
        _ => None,
    };
    let database = database::open_for_command(config).await?;
    let db = &database.pool;
    let outcome = match command {
        DatabaseCommand::Migrate => Ok(()),
        DatabaseCommand::Accounts(command) => accounts::execute(command, password, db, config).await,
        DatabaseCommand::Admin(command) => admin::execute(command, db).await,
        DatabaseCommand::Users(command) => users::execute(command, db, config).await,
        DatabaseCommand::Keys(command) => keys::execute(command, db).await,
        DatabaseCommand::Connections(command) => connections::execute(command, db, config).await,
        DatabaseCommand::Billing(command) => billing::execute(command, db, config).await,
        DatabaseCommand::SecretKey(command) => secret_key::execute(command, db, config).await,
    };
    database.close().await?;
    outcome
}

/// Formats a time in UTC, without fractions of a second.
fn show_time(time: OffsetDateTime) -> String {
    let seconds = time.replace_nanosecond(0).unwrap_or(time);
    seconds.format(&Rfc3339).unwrap_or_default()
}
