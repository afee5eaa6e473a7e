//! `platen connections …`

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use platen_core::{
    config::Config,
    service::connections::{self, ConnectionError, buckets::Buckets, probe},
    storage::object_stores::ObjectStores,
};
use platen_domain::{
    account_log::Actor,
    connection::{Connection, NewConnection},
    ids::{AccountId, ConnectionId},
    page::PageRequest,
    validation::Problem,
};
use serde_json::{Value, json};
use sqlx::PgPool;
use url::Url;

use crate::{
    boot::{browser, secret_key},
    cli::{
        account_argument::{AccountArguments, select},
        failure::Failure,
        show_time,
    },
};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Create a storage connection. Prints its id.
    ///
    /// Credentials are JSON: for `aws_s3` `{"access_key_id": "…", "secret_access_key": "…"}`, for
    /// `google_cloud_storage` the key file of a service account as Google creates it. They are never shown again.
    /// docs/connections.md describes credentials that need no key.
    Add(Box<AddArguments>),
    /// List the storage connections of an account, newest first.
    List {
        #[command(flatten)]
        account: AccountArguments,
    },
    /// Write, read and delete an object through a storage connection, and suggest fixes for failed steps.
    Test {
        /// Id of the connection, as `connections list` shows it.
        id: ConnectionId,
    },
    /// Delete a storage connection and its credentials. Documents are no longer delivered through it.
    Remove {
        /// Id of the connection, as `connections list` shows it.
        id: ConnectionId,
    },
}

#[derive(Args)]
pub(super) struct AddArguments {
    #[command(flatten)]
    account: AccountArguments,
    /// Type of store: `aws_s3` or `google_cloud_storage`.
    #[arg(long)]
    provider: String,
    /// Display name of the connection.
    #[arg(long)]
    name: String,
    /// Name of the bucket.
    #[arg(long)]
    bucket: String,
    /// Prefix of the objects' names, up to a slash. By default, the connection applies to the whole bucket.
    #[arg(long, value_name = "PREFIX")]
    path_prefix: Option<String>,
    /// Region of the bucket, for instance eu-central-1. Required for Amazon's buckets.
    #[arg(long)]
    region: Option<String>,
    /// Address of an S3-compatible store other than Amazon's.
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    /// File with the credentials. By default, standard input.
    #[arg(long, value_name = "FILE")]
    credentials: Option<PathBuf>,
}

pub(super) async fn execute(command: Command, db: &PgPool, config: &Config) -> Result<(), Failure> {
    match command {
        Command::Add(arguments) => add(db, config, *arguments).await,
        Command::List { account } => list(db, account).await,
        Command::Test { id } => test(db, config, id).await,
        Command::Remove { id } => remove(db, id).await,
    }
}

async fn add(db: &PgPool, config: &Config, arguments: AddArguments) -> Result<(), Failure> {
    let body = body(&arguments, read_credentials(arguments.credentials.as_deref())?);
    let account = select(db, arguments.account).await?.account;
    let buckets = buckets(db, config).await?;
    let new = NewConnection::parse(body.to_string().as_bytes(), |url| buckets.stores().check_endpoint(url));
    let new = new.map_err(|problems| refused(&problems))?;
    match connections::create(&buckets, account, &Actor::OPERATOR, new).await {
        Ok(connection) => {
            println!("{}", connection.id);
            Ok(())
        }
        Err(ConnectionError::Invalid(problems)) => Err(refused(&problems)),
        Err(error) => Err(error.into()),
    }
}

/// Returns the body of the equivalent API request.
fn body(arguments: &AddArguments, credentials: Value) -> Value {
    let mut connection = json!({
        "provider": arguments.provider,
        "name": arguments.name,
        "bucket": arguments.bucket,
    });
    let optional = [
        ("path_prefix", &arguments.path_prefix),
        ("region", &arguments.region),
        ("endpoint", &arguments.endpoint),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            connection[name] = value.as_str().into();
        }
    }
    connection["credentials"] = credentials;
    json!({"connection": connection})
}

/// Errors omit the content, which may be a secret.
fn read_credentials(file: Option<&Path>) -> Result<Value, Failure> {
    let text = if let Some(file) = file {
        fs::read_to_string(file)
            .map_err(|error| Failure::by_caller(&format!("{} can't be read: {error}", file.display())))?
    } else {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text)?;
        text
    };
    serde_json::from_str(&text).map_err(|_| Failure::by_caller(&"the credentials are not JSON"))
}

fn refused(problems: &[Problem]) -> Failure {
    let lines: Vec<_> = problems
        .iter()
        .map(|problem| {
            format!(
                "{}: {}",
                problem.pointer.replacen("/connection/", "", 1),
                problem.detail
            )
        })
        .collect();
    Failure::by_caller(&lines.join("\n"))
}

async fn list(db: &PgPool, account: AccountArguments) -> Result<(), Failure> {
    let account = select(db, account).await?.account;
    let found = connections::list(db, account, PageRequest::ALL).await?;
    println!(
        "{:36}  {:20}  {:20}  {:30}  NAME (IDENTITY)",
        "ID", "PROVIDER", "CREATED", "BUCKET/PREFIX"
    );
    for connection in found.items {
        println!("{}", row(&connection));
    }
    Ok(())
}

fn row(connection: &Connection) -> String {
    let settings = &connection.settings;
    let place = format!("{}/{}", settings.bucket, settings.path_prefix);
    let at = settings
        .endpoint
        .as_ref()
        .map_or_else(String::new, |url| format!(" at {}", shown(url)));
    format!(
        "{}  {:20}  {:20}  {place:30}  {} ({}){at}",
        connection.id,
        settings.provider.into_str(),
        show_time(connection.inserted_at),
        settings.name,
        connection.identity
    )
}

fn shown(url: &Url) -> String {
    url.origin().ascii_serialization()
}

async fn test(db: &PgPool, config: &Config, id: ConnectionId) -> Result<(), Failure> {
    let account = account_of(db, id).await?;
    let test = probe::test(&buckets(db, config).await?, account, id).await?;
    for step in &test.steps {
        println!(
            "{:7} {}",
            step.action.into_str(),
            step.message().as_deref().unwrap_or("ok")
        );
    }
    if test.passed() {
        Ok(())
    } else {
        Err(Failure::by_machine(
            "the connection failed at least one step of the test".to_owned(),
        ))
    }
}

async fn remove(db: &PgPool, id: ConnectionId) -> Result<(), Failure> {
    let account = account_of(db, id).await?;
    Ok(connections::delete(db, account, &Actor::OPERATOR, id).await?)
}

async fn account_of(db: &PgPool, id: ConnectionId) -> Result<AccountId, Failure> {
    let account = connections::account_of(db, id).await?;
    account.ok_or_else(|| {
        Failure::by_caller(&format!(
            "there is no connection {id}; `platen connections list` lists connections"
        ))
    })
}

async fn buckets(db: &PgPool, config: &Config) -> Result<Buckets, Failure> {
    let secret_keys = secret_key::obtain_for_command(db, config).await?;
    let stores = ObjectStores::new(browser::guard(config), &config.storage)?;
    Ok(Buckets::new(db.clone(), secret_keys, stores))
}
