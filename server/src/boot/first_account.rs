//! The account that the first start makes in a private database, so that there is a key to begin with.
//!
//! Its key and log-in are kept in the data folder, readable by the service's user only, and shown at every start: the
//! database holds nothing but digests.

use secrecy::{ExposeSecret, SecretString};
use sqlx::PgPool;
use url::Url;

use crate::{
    clock,
    database::folder::{DataFolder, FolderError},
    domain::{
        api_key::PlaintextKey,
        email::Email,
        password::{InvalidPassword, Password},
        template::demos::Demo,
    },
    service::{
        accounts::{self, CreateAccountError, NewOwner, PlanChoice},
        api_keys,
        passwords::{HashError, Passwords},
        templates::{TemplateError, demos},
    },
    store::error::StoreError,
};

/// The key alone, so that scripts can read it.
const KEY_FILE: &str = "first-api-key";
/// E-mail address and password, a line each.
const LOG_IN_FILE: &str = "first-log-in";
const KEY_NAME: &str = "First key";
/// The largest: the account is the operator's own.
const PLAN: &str = "Scale";

/// Why there is no first account.
#[derive(Debug, thiserror::Error)]
pub enum FirstAccountError {
    /// It could not be made.
    #[error("the first account could not be made: {0}")]
    Create(#[from] CreateAccountError),
    /// Our own password is not good enough.
    #[error(transparent)]
    Password(#[from] InvalidPassword),
    /// Its password could not be hashed.
    #[error(transparent)]
    Hash(#[from] HashError),
    /// Its templates could not be made.
    #[error("the first templates could not be made: {0}")]
    Templates(#[from] TemplateError),
    /// Its key can't be kept.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a newcomer needs.
pub struct FirstAccount {
    key: PlaintextKey,
    /// Two lines, as in [`LOG_IN_FILE`].
    log_in: SecretString,
}

/// What its owner sees in the place of names, until they choose others.
const NAME: &str = "Owner";
const ACCOUNT_NAME: &str = "First account";

/// The first account: made when there is none at all. `None`: its key was revoked, or its file is gone.
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
    // Kept before the account exists: after a crash in between, the next start makes both anew.
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
    // The newest comes first in lists.
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
    /// Shows on standard output how to begin; not in the log, which may be kept elsewhere.
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
