//! The pieces in which archives are stored, so that any process can serve them, and none needs a whole one in memory.

use std::{io::Read, sync::Arc};

use platen_domain::{
    encryption::{DataKey, EncryptionError, Place},
    ids::{AccountId, ExportId},
};
use sqlx::PgPool;
use tokio::task::{JoinError, spawn_blocking};
use uuid::Uuid;

use crate::{
    clock,
    service::{
        Services,
        data_keys::{DataKeyError, data_key},
        exports::archive::{ArchiveError, Stop},
    },
    store::{
        error::StoreError,
        exports::{self, QueuedExport, SealedPiece},
        tx,
    },
};

/// Size of all pieces but the last, in bytes.
pub const PIECE: u64 = 1 << 20;

/// Stores an archive in place of what an earlier attempt has stored, as long as the job has this claim. Returns its size in bytes.
/// Blocks the thread while it reads.
pub(super) async fn store(
    app: &Services,
    claim: Uuid,
    export: &QueuedExport,
    mut archive: impl Read,
    stop: impl Fn() -> Option<Stop>,
) -> Result<i64, ArchiveError> {
    let (account, id) = (export.account, export.id);
    let key = data_key(&app.db, &app.secret_keys, account, clock::now()).await?;
    let mut transaction = tx::begin(&app.db).await?;
    if !exports::begin_pieces(&mut transaction, account, id, claim).await? {
        return Err(ArchiveError::Stopped(Stop::Lost));
    }
    let mut bytes = 0;
    for number in 0.. {
        if let Some(stop) = stop() {
            return Err(ArchiveError::Stopped(stop));
        }
        let mut piece = Vec::new();
        archive.by_ref().take(PIECE).read_to_end(&mut piece)?;
        if piece.is_empty() {
            break;
        }
        bytes += i64::try_from(piece.len()).unwrap_or(i64::MAX);
        let piece = seal(&key, account, piece)?;
        exports::insert_piece(&mut transaction, id, number, &piece).await?;
    }
    tx::commit(transaction).await?;
    Ok(bytes)
}

fn seal(key: &DataKey, account: AccountId, piece: Vec<u8>) -> Result<SealedPiece, ArchiveError> {
    let id = Uuid::now_v7();
    let sealed = key.encrypt(&Place::export_piece(account, id), rand::random(), piece)?;
    Ok(SealedPiece { id, sealed })
}

/// Error of reading a piece.
#[derive(Debug, thiserror::Error)]
pub enum PieceError {
    /// The account's data key is unavailable.
    #[error(transparent)]
    DataKey(#[from] DataKeyError),
    #[error("a piece of the archive: {0}")]
    Encryption(#[from] EncryptionError),
    /// The archive has been deleted meanwhile.
    #[error("a piece of the archive is gone")]
    Gone,
    /// The thread panicked.
    #[error("{0}")]
    Interrupted(#[from] JoinError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The stored pieces of an archive.
pub struct Pieces {
    db: PgPool,
    key: Arc<DataKey>,
    account: AccountId,
    export: ExportId,
}

impl Pieces {
    /// Loads the key of the account, with which all pieces are decrypted.
    pub async fn open(app: &Services, account: AccountId, export: ExportId) -> Result<Self, PieceError> {
        let key = data_key(&app.db, &app.secret_keys, account, clock::now()).await?;
        Ok(Self {
            db: app.db.clone(),
            key: Arc::new(key),
            account,
            export,
        })
    }

    /// Returns a piece. They are numbered from 0.
    pub async fn read(&self, number: i32) -> Result<Vec<u8>, PieceError> {
        let piece = exports::find_piece(&self.db, self.account, self.export, number).await?;
        let piece = piece.ok_or(PieceError::Gone)?;
        let (key, place) = (Arc::clone(&self.key), Place::export_piece(self.account, piece.id));
        Ok(spawn_blocking(move || key.decrypt(&place, piece.sealed)).await??)
    }
}
