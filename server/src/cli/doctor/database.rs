//! Checks Postgres, and whether its clock agrees with this machine's.

use platen_core::{
    clock,
    config::Config,
    store::{instances, pool},
};

use crate::{
    cli::doctor::Finding,
    database::{self, Database, DatabaseError, binaries},
    system_user::{self, DATABASE_USER},
};

/// Keys and idempotency expire by this machine's clock; rows written by several machines are compared.
const CLOCK_TOLERANCE: time::Duration = time::Duration::seconds(5);

const SUBJECT: &str = "Postgres";

pub(super) async fn look(config: &Config) -> Vec<Finding> {
    if config.database.url.is_none() && !config.data.folder.join("postgres").is_dir() {
        return vec![installed()];
    }
    match ask(config).await {
        Ok(findings) => findings,
        Err(error) => vec![Finding::broken(SUBJECT, error, remedy(config))],
    }
}

/// Checks the installation of a private Postgres that does not exist yet, without creating it.
fn installed() -> Finding {
    if let Err(error) = system_user::unprivileged(DATABASE_USER) {
        return Finding::broken(SUBJECT, error, "deploy/setup.sh creates the user");
    }
    match binaries::find(None) {
        Ok(folder) => {
            let version = binaries::version_of(&folder).unwrap_or_default();
            let fact = format!(
                "version {version} in {}; the first start creates a private database",
                folder.display()
            );
            Finding::fine(SUBJECT, fact)
        }
        Err(error) => Finding::broken(SUBJECT, error, "deploy/setup.sh installs it"),
    }
}

async fn ask(config: &Config) -> Result<Vec<Finding>, DatabaseError> {
    let database = database::open_for_command(config).await?;
    let findings = ask_server(config, &database).await;
    database.close().await?;
    findings
}

async fn ask_server(config: &Config, database: &Database) -> Result<Vec<Finding>, DatabaseError> {
    let server = pool::server(&database.pool).await?;
    let whose = if config.database.url.is_some() {
        "DATABASE_URL"
    } else {
        "private"
    };
    let mut findings = vec![Finding::fine(
        SUBJECT,
        format!("version {} ({whose}), schema up to date", server.version),
    )];
    let difference = (server.time - clock::now()).abs();
    if difference > CLOCK_TOLERANCE {
        let fact = format!(
            "the database's clock and this machine's differ by {} s",
            difference.whole_seconds()
        );
        findings.push(Finding::warning("Clock", fact, "set both (timedatectl set-ntp true)"));
    }
    let processes = instances::count_live(&database.pool).await?;
    if processes > 1 && config.storage.default.bucket.is_none() {
        let fact = format!("{processes} processes use this database, and documents are stored in the data folder");
        findings.push(Finding::warning(
            "Storage",
            fact,
            "unless they share this folder, set PLATEN_DEFAULT_BUCKET: each process serves only the documents in its folder",
        ));
    }
    let elsewhere =
        instances::count_with_other_documents(&database.pool, &config.storage.default.fingerprint()).await?;
    if elsewhere > 0 {
        let fact =
            format!("{elsewhere} of {processes} processes store documents in another place than these settings say");
        findings.push(Finding::warning(
            "Storage",
            fact,
            "set PLATEN_DEFAULT_STORAGE, PLATEN_DEFAULT_BUCKET and its related settings alike for all processes and commands, or \
             documents of some are not found by the others",
        ));
    }
    Ok(findings)
}

fn remedy(config: &Config) -> &'static str {
    if config.database.url.is_some() {
        "check DATABASE_URL, and that the server runs and accepts connections of this machine"
    } else {
        "see postgres.log in the data folder"
    }
}
