//! The account that the first start creates in a private database, so that there is an API key to begin with.
//!
//! Its key and password are stored in the data folder, readable only by the service's user, and printed at every start:
//! the database contains only digests.

use platen_core::{
    clock,
    service::{
        accounts::{self, CreateAccountError, NewOwner, PlanChoice},
        api_keys,
        passwords::{HashError, Passwords},
        templates::{TemplateError, demos},
    },
    store::error::StoreError,
};
use platen_domain::{
    api_key::PlaintextKey,
    email::Email,
    password::{InvalidPassword, Password},
    template::demos::Demo,
};
use secrecy::{ExposeSecret, SecretString};
use sqlx::PgPool;
use url::Url;

use crate::database::folder::{DataFolder, FolderError};

/// The key alone, so that scripts can read it.
const KEY_FILE: &str = "first-api-key";
/// Email address and password, one per line.
const LOG_IN_FILE: &str = "first-log-in";
const KEY_NAME: &str = "First key";
/// The largest plan, because the account belongs to the operator.
const PLAN: &str = "Scale";

/// Why the first account could not be created.
#[derive(Debug, thiserror::Error)]
pub enum FirstAccountError {
    #[error("the first account could not be created: {0}")]
    Create(#[from] CreateAccountError),
    /// The generated password violates the password rules.
    #[error(transparent)]
    Password(#[from] InvalidPassword),
    #[error(transparent)]
    Hash(#[from] HashError),
    #[error("the first templates could not be created: {0}")]
    Templates(#[from] TemplateError),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Credentials of the first account, to be printed.
pub struct FirstAccount {
    key: PlaintextKey,
    /// Two lines, as in [`LOG_IN_FILE`].
    log_in: SecretString,
}

/// Shown in place of the owner's name until it is changed.
const NAME: &str = "Owner";
const ACCOUNT_NAME: &str = "First account";

/// Returns the credentials of the first account, which is created if there are no accounts. Returns `None` if its key
/// was revoked, or the file with its credentials was removed.
pub async fn ensure(
    db: &PgPool,
    folder: &DataFolder,
    email: &Email,
) -> Result<Option<FirstAccount>, FirstAccountError> {
    if !accounts::none_exist(db).await? {
        return read(db, folder).await;
    }
    let password = PlaintextKey::from_random(rand::random(), true);
    let password = &password.expose()[8..28]; // 20 random base62 digits: 119 bits
    let key = PlaintextKey::from_random(rand::random(), true);
    let log_in = format!("{email}\n{password}\n");
    // Stored before the account exists: after a crash in between, the next start creates both again.
    folder.write_secret(KEY_FILE, &format!("{}\n", key.expose()))?;
    folder.write_secret(LOG_IN_FILE, &log_in)?;
    let password_hash = Passwords::default().hash(Password::parse(password)?).await?;
    let owner = NewOwner {
        email,
        name: NAME,
        account_name: ACCOUNT_NAME,
        password_hash: &password_hash,
    };
    let now = clock::now();
    let created = accounts::create_with_key(
        db,
        &owner,
        &PlanChoice {
            plan: PLAN.to_owned(),
            credits: None,
        },
        KEY_NAME,
        &key,
        now,
    )
    .await?;
    // Lists show the newest first.
    for demo in Demo::FIRST.into_iter().rev() {
        demos::create(db, created.account, created.owner, demo, demo.name().to_owned(), now).await?;
    }
    Ok(Some(FirstAccount {
        key,
        log_in: log_in.into(),
    }))
}

async fn read(db: &PgPool, folder: &DataFolder) -> Result<Option<FirstAccount>, FirstAccountError> {
    let (Some(key), Some(log_in)) = (folder.read_secret(KEY_FILE)?, folder.read_secret(LOG_IN_FILE)?) else {
        return Ok(None);
    };
    let Ok(key) = PlaintextKey::parse(key.trim()) else {
        return Ok(None);
    };
    let log_in = log_in.into();
    let valid = api_keys::is_valid(db, &key, clock::now()).await?;
    Ok(valid.then_some(FirstAccount { key, log_in }))
}

impl FirstAccount {
    /// Prints credentials and an example on standard output; not to the log, which may be stored elsewhere.
    pub fn print(&self, base_url: &Url) {
        let base_url = base_url.as_str().trim_end_matches('/');
        let key = self.key.expose();
        let mut log_in = self.log_in.expose_secret().lines();
        println!("\nPlaten is ready at {base_url}\n");
        println!("  Log-in    {}", log_in.next().unwrap_or_default());
        println!("  Password  {}", log_in.next().unwrap_or_default());
        println!("  API key   {key}\n");
        println!("A first document:\n");
        println!(
            "  curl -fsS {base_url}/api/v1/renderers/pdf -H 'Authorization: Bearer {key}' -H 'Content-Type: \
             application/json' -d '{{\"parts\":[\"<h1>Hello</h1>\"],\"output_encoding\":\"binary\"}}' -o hello.pdf\n"
        );
    }
}
