//! `platen accounts …`

use std::io::{self, BufRead, IsTerminal};

use clap::{Args, Subcommand, value_parser};
use platen_core::{
    clock,
    config::Config,
    service::{
        accounts::{self, CreateAccountError, NewOwner, PlanChoice},
        credits,
        operators::{
            self,
            accounts::{Operation, OperationError},
        },
        passwords::Passwords,
        webhook_secrets,
    },
    storage::{default_storage::DefaultStorage, object_stores::ObjectStores},
    store::deletions::DeletionOrder,
};
use platen_domain::{
    account_log::Actor,
    audit_log::{AuditActor, InvalidReason, Reason},
    credits::GrantLasts,
    email::Email,
    password::Password,
};
use secrecy::ExposeSecret;
use sqlx::PgPool;

use crate::{
    boot::{browser, secret_key},
    cli::{
        account_argument::{AccountArguments, select},
        failure::Failure,
        show_time,
    },
};

/// More credits are assumed to be a typing error.
const MOST_CREDITS: i64 = 1_000_000_000_000;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Create an account and its owner, with the password from the first line of standard input. Prints the account's
    /// id.
    Create {
        /// Email address with which the owner logs in.
        #[arg(long)]
        email: Email,
        /// Free, Starter, Growth or Scale.
        #[arg(long, default_value = "Free")]
        plan: String,
        #[command(flatten)]
        credits: CreditsArgument,
        /// Also make the owner an operator of the service, who can open /admin once they have a second factor.
        #[arg(long)]
        admin: bool,
    },
    /// Change an account's plan. Its limits apply from the next request, its credits from the current period on.
    SetPlan {
        #[command(flatten)]
        account: AccountArguments,
        /// Free, Starter, Growth or Scale.
        #[arg(long)]
        plan: String,
        #[command(flatten)]
        credits: CreditsArgument,
        #[command(flatten)]
        reason: ReasonArgument,
    },
    /// Add credits to an account's current period.
    Grant {
        #[command(flatten)]
        account: AccountArguments,
        /// Number of credits.
        #[arg(long, value_name = "N", value_parser = value_parser!(i64).range(1..=MOST_CREDITS))]
        credits: i64,
        #[command(flatten)]
        reason: ReasonArgument,
    },
    /// Suspend an account: its keys receive status 403, queued renders wait, members have read-only access. Renders in
    /// progress end.
    Suspend {
        #[command(flatten)]
        account: AccountArguments,
        #[command(flatten)]
        reason: ReasonArgument,
        /// Notify the owner by mail, with the reason.
        #[arg(long)]
        notify_owner: bool,
    },
    /// Lift the suspension of an account; queued renders continue.
    Restore {
        #[command(flatten)]
        account: AccountArguments,
        #[command(flatten)]
        reason: ReasonArgument,
        /// Notify the owner by mail.
        #[arg(long)]
        notify_owner: bool,
    },
    /// Delete an account immediately, with its keys, templates, renders and documents. This can't be undone.
    Delete {
        #[command(flatten)]
        account: AccountArguments,
        /// Confirm the deletion.
        #[arg(long, required = true)]
        yes: bool,
    },
    /// List deleted accounts: when they were deleted, who requested it and when, and the number of deleted rows of each
    /// kind.
    Deletions,
    /// Print the secret that signs webhooks; it is created when first needed.
    WebhookSecret {
        #[command(flatten)]
        account: AccountArguments,
        /// Create a new secret. For 24 hours webhooks are signed with the previous one as well.
        #[arg(long)]
        replace: bool,
    },
    /// Store the content of requests as long as the plan retains renders, or only until a render has ended.
    ///
    /// `off` also deletes the content stored so far, within minutes, while the service runs.
    KeepContent {
        #[command(flatten)]
        account: AccountArguments,
        /// on or off.
        #[arg(value_parser = ["on", "off"])]
        choice: String,
    },
    /// Show an account's plan, and the credits of its current period.
    Show {
        #[command(flatten)]
        account: AccountArguments,
    },
}

#[derive(Args)]
pub(super) struct CreditsArgument {
    /// Credits of each monthly period. By default, those of the plan.
    #[arg(long, value_name = "N", value_parser = value_parser!(i64).range(0..=MOST_CREDITS))]
    credits: Option<i64>,
}

#[derive(Args)]
pub(super) struct ReasonArgument {
    /// Reason, recorded in the audit log.
    #[arg(long, default_value = "", hide_default_value = true, value_parser = parse_reason)]
    reason: Reason,
}

fn parse_reason(text: &str) -> Result<Reason, InvalidReason> {
    if text.is_empty() {
        return Ok(Reason::default());
    }
    text.parse()
}

impl Command {
    /// Reads the password of a new account's owner. Returns `None` for other commands.
    pub(super) fn read_password(&self) -> Result<Option<Password>, Failure> {
        let Self::Create { .. } = self else { return Ok(None) };
        let password = Password::parse(read_password()?).map_err(|error| Failure::by_caller(&error))?;
        Ok(Some(password))
    }
}

/// Executes a command. `password` is the result of [`Command::read_password`].
pub(super) async fn execute(
    command: Command,
    password: Option<Password>,
    db: &PgPool,
    config: &Config,
) -> Result<(), Failure> {
    match command {
        Command::Create {
            email,
            plan,
            credits,
            admin,
        } => {
            let password = password.expect("read before the database was opened");
            create(db, &email, password, &credits.of(plan)).await?;
            if admin {
                operators::appoint(db, &email, clock::now()).await?;
            }
            Ok(())
        }
        Command::SetPlan {
            account,
            plan,
            credits,
            reason,
        } => {
            let operation = operation(db, account, &reason).await?;
            let set = operators::accounts::set_plan(db, operation, &credits.of(plan)).await;
            set.map_err(failure)
        }
        Command::Grant {
            account,
            credits,
            reason,
        } => {
            let operation = operation(db, account, &reason).await?;
            let granted = operators::accounts::grant(db, operation, credits, GrantLasts::Period).await;
            granted.map_err(failure)
        }
        Command::Suspend {
            account,
            reason,
            notify_owner,
        } => {
            let operation = operation(db, account, &reason).await?;
            let suspended = operators::accounts::suspend(db, operation, notify_owner).await;
            suspended.map(drop).map_err(failure)
        }
        Command::Restore {
            account,
            reason,
            notify_owner,
        } => {
            let operation = operation(db, account, &reason).await?;
            let restored = operators::accounts::restore(db, operation, notify_owner).await;
            restored.map(drop).map_err(failure)
        }
        Command::Delete { account, yes: _ } => delete(db, config, account).await,
        Command::Deletions => list_deletions(db).await,
        Command::WebhookSecret { account, replace } => webhook_secret(db, config, account, replace).await,
        Command::KeepContent { account, choice } => {
            let account = select(db, account).await?.account;
            let (keep, now) = (choice == "on", clock::now());
            Ok(accounts::keep_content(db, account, &Actor::OPERATOR, keep, now).await?)
        }
        Command::Show { account } => show(db, account).await,
    }
}

impl CreditsArgument {
    fn of(self, plan: String) -> PlanChoice {
        PlanChoice {
            plan,
            credits: self.credits,
        }
    }
}

async fn create(db: &PgPool, email: &Email, password: Password, choice: &PlanChoice) -> Result<(), Failure> {
    let password_hash = Passwords::default().hash(password).await?;
    let owner = NewOwner {
        email,
        name: "",
        account_name: "",
        password_hash: &password_hash,
    };
    match accounts::create(db, &owner, choice, clock::now()).await {
        Ok(created) => {
            println!("{}", created.account);
            Ok(())
        }
        Err(problem @ (CreateAccountError::EmailTaken(_) | CreateAccountError::UnknownPlan(_))) => {
            Err(Failure::by_caller(&problem))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns an operation on an account that is recorded in the audit log.
async fn operation<'a>(
    db: &PgPool,
    account: AccountArguments,
    reason: &'a ReasonArgument,
) -> Result<Operation<'a>, Failure> {
    Ok(Operation {
        actor: &AuditActor::CommandLine,
        account: select(db, account).await?.account,
        reason: &reason.reason,
        now: clock::now(),
    })
}

fn failure(error: OperationError) -> Failure {
    match error {
        OperationError::UnknownPlan(problem) => Failure::by_caller(&problem),
        error => error.into(),
    }
}

async fn delete(db: &PgPool, config: &Config, account: AccountArguments) -> Result<(), Failure> {
    let account = select(db, account).await?;
    let stores = ObjectStores::new(browser::guard(config), &config.storage)?;
    let documents = DefaultStorage::open(&config.data.folder, &config.storage.default, &stores).await?;
    let now = clock::now();
    let order = DeletionOrder {
        asked_by: None,
        asked_at: now,
    };
    Ok(accounts::delete(db, &documents, account, order, now).await?)
}

async fn webhook_secret(db: &PgPool, config: &Config, account: AccountArguments, replace: bool) -> Result<(), Failure> {
    let account = select(db, account).await?.account;
    let key = secret_key::obtain_for_command(db, config).await?;
    let now = clock::now();
    if replace {
        webhook_secrets::replace(db, &key, account, &Actor::OPERATOR, now).await?;
    }
    let secrets = webhook_secrets::in_use(db, &key, account, now).await?;
    if let Some(current) = secrets.first() {
        println!("{}", current.to_text().expose_secret());
    }
    Ok(())
}

async fn list_deletions(db: &PgPool) -> Result<(), Failure> {
    for deletion in accounts::list_deletions(db).await? {
        let asked_by = deletion
            .order
            .asked_by
            .map_or("an operator".to_owned(), |user| format!("user {user}"));
        println!(
            "{}  account {}  asked by {asked_by} {}  {}",
            show_time(deletion.deleted_at),
            deletion.account,
            show_time(deletion.order.asked_at),
            deletion.counts
        );
    }
    Ok(())
}

async fn show(db: &PgPool, account: AccountArguments) -> Result<(), Failure> {
    let account = select(db, account).await?.account;
    let usage = credits::usage(db, account, clock::now()).await?;
    let period = usage.balance.period;
    println!("Account  {account}");
    println!("Plan     {}", usage.plan);
    println!("Credits  {} of {} used", usage.balance.used, usage.balance.total());
    println!(
        "Period   {} to {}",
        show_time(period.starts_at),
        show_time(period.ends_at)
    );
    Ok(())
}

fn read_password() -> io::Result<String> {
    let input = io::stdin().lock();
    if input.is_terminal() {
        eprintln!("Password (visible as you type):");
    }
    Ok(input.lines().next().transpose()?.unwrap_or_default())
}
