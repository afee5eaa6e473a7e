//! `platen keys …`

use clap::{Args, Subcommand};
use platen_core::{
    clock,
    service::api_keys::{self, CreatedKey, EndKeyError, KeySettingsError, NewKeyRequest},
    store::api_keys::KeySettings,
};
use platen_domain::{
    account_log::Actor,
    api_key::{ApiKey, Scope, Scopes},
    ids::{AccountId, ApiKeyId, TemplateId},
    network::Network,
    template::channels::ChannelName,
};
use sqlx::PgPool;
use strum::VariantNames;
use time::{Duration, OffsetDateTime, format_description::well_known::Rfc3339};

use crate::cli::{
    account_argument::{AccountArguments, select},
    failure::Failure,
    show_time,
};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Create an API key. Prints the key on standard output, only this once, and its id on standard error.
    Create(CreateArguments),
    /// Rotate a key: prints a new one, as `create` does, with the same name, scopes and limits.
    Rotate {
        /// Id of the key, as `keys list` shows it.
        id: ApiKeyId,
        /// How long the previous key remains valid: a number with s, m, h or d.
        #[arg(long, default_value = "24h", value_parser = parse_duration)]
        overlap: Duration,
    },
    /// List the keys of an account, newest first.
    List {
        #[command(flatten)]
        account: AccountArguments,
    },
    /// Revoke a key immediately.
    Revoke {
        /// Id of the key, as `keys list` shows it.
        id: ApiKeyId,
    },
}

#[derive(Args)]
pub(super) struct CreateArguments {
    #[command(flatten)]
    account: AccountArguments,
    /// Display name of the key.
    #[arg(long)]
    name: String,
    /// Scope of the key; may be repeated. By default, all scopes.
    #[arg(long = "scope", value_name = "SCOPE", value_parser = parse_scope)]
    scopes: Vec<Scope>,
    /// Time until which the key is valid, for instance 2026-11-21T12:00:00Z. By default, until it is revoked.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    expires: Option<OffsetDateTime>,
    /// Create a test key: its documents are stamped TEST and cost nothing.
    #[arg(long)]
    test: bool,
    /// Address or network from which the key may be used; may be repeated. By default, from anywhere.
    #[arg(long = "allow-ip", value_name = "NETWORK")]
    networks: Vec<Network>,
    /// Credits that the key may use in each month of its account. By default, as many as the account has.
    #[arg(long, value_name = "CREDITS", conflicts_with = "test")]
    credit_limit: Option<i64>,
    /// Id of a template that the key may use, rendering nothing else; may be repeated. By default, no restriction.
    #[arg(long = "allow-template", value_name = "ID")]
    templates: Vec<TemplateId>,
    /// Channel of templates that the key may use; may be repeated. By default, all channels of its account.
    #[arg(long = "allow-channel", value_name = "CHANNEL")]
    channels: Vec<ChannelName>,
}

pub(super) async fn execute(command: Command, db: &PgPool) -> Result<(), Failure> {
    match command {
        Command::Create(arguments) => create(db, arguments).await,
        Command::Rotate { id, overlap } => rotate(db, id, overlap).await,
        Command::List { account } => list(db, account).await,
        Command::Revoke { id } => revoke(db, id).await,
    }
}

async fn create(db: &PgPool, arguments: CreateArguments) -> Result<(), Failure> {
    let account = select(db, arguments.account).await?;
    let settings = KeySettings {
        name: &arguments.name,
        scopes: if arguments.scopes.is_empty() {
            Scopes::all()
        } else {
            arguments.scopes.into_iter().collect()
        },
        expires_at: arguments.expires,
        allowed_networks: arguments.networks,
        allowed_templates: arguments.templates.into_iter().collect(),
        allowed_channels: arguments.channels.into_iter().collect(),
        credit_limit: arguments.credit_limit,
    };
    let request = NewKeyRequest {
        livemode: !arguments.test,
        settings,
    };
    match api_keys::create(db, account, &Actor::OPERATOR, request, clock::now()).await {
        Ok(created) => {
            show(&created);
            Ok(())
        }
        Err(KeySettingsError::Store(error)) => Err(error.into()),
        Err(problem) => Err(Failure::by_caller(&problem)),
    }
}

async fn rotate(db: &PgPool, id: ApiKeyId, overlap: Duration) -> Result<(), Failure> {
    let account = account_of(db, id).await?;
    let created = api_keys::rotate(db, account, &Actor::OPERATOR, id, overlap, clock::now()).await;
    show(&created.map_err(failure)?);
    Ok(())
}

async fn account_of(db: &PgPool, id: ApiKeyId) -> Result<AccountId, Failure> {
    let account = api_keys::account_of(db, id).await?;
    account.ok_or_else(|| failure(EndKeyError::NoSuchKey(id)))
}

fn failure(error: EndKeyError) -> Failure {
    match error {
        EndKeyError::Store(error) => error.into(),
        problem => Failure::by_caller(&problem),
    }
}

fn show(created: &CreatedKey) {
    eprintln!("{}", created.id);
    println!("{}", created.key.expose());
}

async fn list(db: &PgPool, account: AccountArguments) -> Result<(), Failure> {
    let account = select(db, account).await?;
    let keys = api_keys::list(db, account, clock::now()).await?;
    println!(
        "{:36}  {:12}  {:20}  {:20}  {:20}  NAME (SCOPES) LIMITS",
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
    let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.into_str()).collect();
    let created = show_time(key.inserted_at);
    let credits = key.credit_limit.map_or_else(String::new, |limit| {
        format!(" credits {} of {} this month", limit.used, limit.credits)
    });
    let limits = [
        limit("from", key.allowed_networks.iter()),
        limit("templates", key.allowed_templates.iter()),
        limit("channels", key.allowed_channels.iter()),
        credits,
    ];
    format!(
        "{}  {}  {created:20}  {used:20}  {until:20}  {} ({}){}",
        key.id,
        key.hint,
        key.name,
        scopes.join(" "),
        limits.concat()
    )
}

fn limit(name: &str, allowed: impl Iterator<Item = impl ToString>) -> String {
    let allowed: Vec<String> = allowed.map(|one| one.to_string()).collect();
    if allowed.is_empty() {
        String::new()
    } else {
        format!(" {name} {}", allowed.join(" "))
    }
}

async fn revoke(db: &PgPool, id: ApiKeyId) -> Result<(), Failure> {
    let account = account_of(db, id).await?;
    let revoked = api_keys::revoke(db, account, &Actor::OPERATOR, id, None, clock::now()).await;
    revoked.map_err(failure)
}

fn parse_scope(text: &str) -> Result<Scope, String> {
    text.parse()
        .map_err(|_| format!("no such scope; allowed are {}", Scope::VARIANTS.join(", ")))
}

fn parse_time(text: &str) -> Result<OffsetDateTime, String> {
    OffsetDateTime::parse(text, &Rfc3339).map_err(|_| "must be a time such as 2026-11-21T12:00:00Z".to_owned())
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.split_at(text.len() - text.chars().next_back().map_or(0, char::len_utf8));
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => 0,
    };
    match number.parse::<u16>() {
        Ok(number) if seconds > 0 => Ok(Duration::seconds(i64::from(number) * seconds)),
        _ => Err("must be a number up to 65535 with s, m, h or d, for instance 24h".to_owned()),
    }
}
