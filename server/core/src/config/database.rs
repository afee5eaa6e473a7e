//! The Postgres server that stores the data.

use std::str::FromStr;

use secrecy::SecretString;
use sqlx::postgres::PgConnectOptions;

use crate::config::reader::{Reader, Setting};

const DATABASE_URL: Setting = Setting::new("DATABASE_URL", "postgres:// address")
    .default("a private Postgres in the data folder")
    .purpose("Postgres server that stores the data, for instance postgres://user:password@host/platen.");
const CONNECTIONS: Setting = Setting::new("PLATEN_DATABASE_CONNECTIONS", "2 to 200")
    .default("10")
    .purpose("Maximum number of connections to Postgres per process.");

pub(super) const SETTINGS: &[&Setting] = &[&DATABASE_URL, &CONNECTIONS];

#[derive(Debug)]
pub struct DatabaseConfig {
    /// `None`: a private Postgres in the data folder.
    pub url: Option<SecretString>,
    /// Size of the connection pool.
    pub connections: u32,
}

impl DatabaseConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Self {
        let url = reader.text(&DATABASE_URL);
        if let Some(url) = &url {
            let known_scheme = url.starts_with("postgres://") || url.starts_with("postgresql://");
            if !known_scheme || PgConnectOptions::from_str(url).is_err() {
                reader.refuse_secret(&DATABASE_URL);
            }
        }
        Self {
            url: url.map(Into::into),
            connections: reader.number(&CONNECTIONS, 2..=200),
        }
    }
}
