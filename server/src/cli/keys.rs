//! `platen keys …`

use clap::Subcommand;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    cli::{
        account::{AccountArguments, select},
        failure::Failure,
        show_time,
    },
    clock,
    config::Config,
    database::{self, Database},
    domain::{api_key::Scope, ids::ApiKeyId},
    service::api_keys::{self, CreateKeyError, KeyRequest},
    store::api_keys::ApiKey,
};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Make a key. Prints the key on standard output, this once, and its id on standard error.
    Create {
        #[command(flatten)]
        account: AccountArguments,
        /// Name of the key, for people.
        #[arg(long)]
        name: String,
        /// What the key may do; may be given several times. Without it: everything.
        #[arg(long = "scope", value_name = "SCOPE", value_parser = parse_scope)]
        scopes: Vec<Scope>,
        /// The key is valid until then, for instance 2026-11-21T12:00:00Z. Without it: until it is revoked.
        #[arg(long, value_name = "TIME", value_parser = parse_time)]
        expires: Option<OffsetDateTime>,
    },
    /// List the keys of an account, newest first.
    List {
        #[command(flatten)]
        account: AccountArguments,
    },
    /// End a key's validity at once.
    Revoke {
        /// The key's id, as `keys list` shows it.
        id: ApiKeyId,
    },
}

pub(super) async fn execute(command: Command, config: &Config) -> Result<(), Failure> {
    let database = database::open_for_command(config).await?;
    let outcome = match command {
        Command::Create {
            account,
            name,
            scopes,
            expires,
        } => create(&database, account, &name, scopes, expires).await,
        Command::List { account } => list(&database, account).await,
        Command::Revoke { id } => revoke(&database, id).await,
    };
    database.close().await?;
    outcome
}

async fn create(
    database: &Database,
    account: AccountArguments,
    name: &str,
    scopes: Vec<Scope>,
    expires_at: Option<OffsetDateTime>,
) -> Result<(), Failure> {
    let account = select(database, account).await?;
    let all = if scopes.is_empty() { Scope::ALL.to_vec() } else { scopes };
    let request = KeyRequest {
        name,
        scopes: all.into_iter().collect(),
        expires_at,
    };
    match api_keys::create(&database.pool, account, request, clock::now()).await {
        Ok(created) => {
            eprintln!("{}", created.id);
            println!("{}", created.key.expose());
            Ok(())
        }
        Err(CreateKeyError::Store(error)) => Err(error.into()),
        Err(fault) => Err(Failure::by_caller(&fault)),
    }
}

async fn list(database: &Database, account: AccountArguments) -> Result<(), Failure> {
    let account = select(database, account).await?;
    let keys = api_keys::list(&database.pool, account).await?;
    println!(
        "{:36}  {:12}  {:20}  {:20}  {:20}  NAME (SCOPES)",
        "ID", "KEY", "CREATED", "LAST USED", "VALID UNTIL"
    );
    for key in keys {
        println!("{}", row(&key));
    }
    Ok(())
}

fn row(key: &ApiKey) -> String {
    let until = match (key.revoked_at, key.expires_at) {
        (Some(_), _) => "revoked".to_owned(),
        (None, Some(expiry)) => show_time(expiry),
        (None, None) => "no end".to_owned(),
    };
    let used = key.last_used_at.map_or_else(|| "never".to_owned(), show_time);
    let scopes: Vec<&str> = key.scopes.iter().map(Scope::as_str).collect();
    let created = show_time(key.inserted_at);
    format!(
        "{}  {}  {created:20}  {used:20}  {until:20}  {} ({})",
        key.id,
        key.hint,
        key.name,
        scopes.join(" ")
    )
}

async fn revoke(database: &Database, id: ApiKeyId) -> Result<(), Failure> {
    if api_keys::revoke(&database.pool, id, clock::now()).await? {
        Ok(())
    } else {
        Err(Failure::by_caller(&format!(
            "there is no key {id}; `platen keys list` shows them"
        )))
    }
}

fn parse_scope(text: &str) -> Result<Scope, crate::domain::api_key::UnknownScope> {
    text.parse()
}

fn parse_time(text: &str) -> Result<OffsetDateTime, String> {
    OffsetDateTime::parse(text, &Rfc3339).map_err(|_| "a time looks like 2026-11-21T12:00:00Z".to_owned())
}
