//! Encryption of content that is stored in the background, after its render: requests and accessibility reports.

use std::io;

use platen_domain::{
    encryption::{DataKey, EncryptionError},
    ids::AccountId,
};
use tokio::task::{JoinError, spawn_blocking};

use crate::{
    clock,
    service::{
        Services,
        data_keys::{DataKeyError, data_key},
    },
    store::{accounts, error::StoreError},
};

/// Error of storing content.
#[derive(Debug, thiserror::Error)]
pub(super) enum RetainError {
    #[error(transparent)]
    DataKey(#[from] DataKeyError),
    #[error(transparent)]
    Compression(#[from] io::Error),
    #[error(transparent)]
    Encryption(#[from] EncryptionError),
    #[error(transparent)]
    Interrupted(#[from] JoinError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Encrypts content of an account's renders with `encrypt`, on a blocking thread. Returns `None` if the account doesn't
/// store content.
pub(super) async fn encrypted<T: Send + 'static, E: Send + 'static>(
    app: &Services,
    account: AccountId,
    content: Vec<T>,
    encrypt: impl Fn(&DataKey, T) -> Result<E, RetainError> + Send + 'static,
) -> Result<Option<Vec<E>>, RetainError> {
    if !accounts::keeps_content(&app.db, account).await? {
        return Ok(None);
    }
    let key = data_key(&app.db, &app.secret_keys, account, clock::now()).await?;
    let encrypting = spawn_blocking(move || {
        let encrypted = content.into_iter().map(|content| encrypt(&key, content));
        encrypted.collect::<Result<Vec<_>, _>>()
    });
    encrypting.await?.map(Some)
}
