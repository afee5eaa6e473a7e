//! Encryption at rest, by envelope encryption: each account has a data key, and the master key wraps the data keys.
//! When the master key changes, only the data keys are rewrapped, not the data that they encrypt. Secrets of users,
//! which belong to no account, are so small that the master key wraps them directly.
//!
//! The cipher is AES-256-GCM-SIV (RFC 8452), which tolerates a repeated nonce. The associated data contains owner and
//! purpose, so that a ciphertext can't be decrypted in another place.

use std::{fmt, sync::Arc};

use aws_lc_rs::{
    aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    hmac,
};
use base64::{
    Engine as _,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use secrecy::{ExposeSecret, SecretBox, SecretString};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{
    ids::{AccountId, BatchId, EndpointId, RenderId, UserId},
    one_time_token::OneTimeToken,
};

const KEY_BYTES: usize = 32;
/// Size of the random part of a signed token, and of its code.
const TOKEN_HALF: usize = 16;
/// The version of the format of associated data and ciphertext.
const VERSION: u8 = 1;

/// Why encryption or decryption failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EncryptionError {
    /// The content is larger than the cipher allows.
    #[error("the content is too large to encrypt")]
    NotEncrypted,
    /// The ciphertext was changed, or encrypted with another key or for another place.
    #[error("decryption failed: the data was changed, or encrypted with another key")]
    NotDecrypted,
}

/// Identifies a master key without revealing it: the first 8 bytes of a digest, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretKeyId(String);

impl SecretKeyId {
    /// Returns the id as it is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SecretKeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The master key. Neither printed nor stored in the database.
#[derive(Debug)]
pub struct SecretKey {
    id: SecretKeyId,
    bytes: SecretBox<[u8; KEY_BYTES]>,
}

impl SecretKey {
    /// Creates a key from 32 random bytes.
    pub fn from_random(random: [u8; KEY_BYTES]) -> Self {
        let digest = Sha256::new_with_prefix(b"platen secret key\0")
            .chain_update(random)
            .finalize();
        Self {
            id: SecretKeyId(HEXLOWER.encode(&digest[..8])),
            bytes: SecretBox::new(Box::new(random)),
        }
    }

    /// Parses 32 bytes as base64 with padding, or as 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = if text.len() == 2 * KEY_BYTES {
            HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()?
        } else {
            BASE64_STANDARD.decode(text).ok()?
        };
        bytes.try_into().ok().map(Self::from_random)
    }

    /// Returns the key in base64, as [`Self::parse`] reads it.
    pub fn to_text(&self) -> SecretString {
        BASE64_STANDARD.encode(self.bytes.expose_secret()).into()
    }

    pub fn id(&self) -> &SecretKeyId {
        &self.id
    }

    /// Encrypts a small secret directly with the master key. The nonce must be random.
    pub fn wrap(&self, place: &Place, nonce: [u8; NONCE_LEN], content: Vec<u8>) -> Result<Wrapped, EncryptionError> {
        Ok(Wrapped {
            secret_key_id: self.id.as_str().to_owned(),
            sealed: encrypt(&self.bytes, place, nonce, content)?,
        })
    }

    /// Returns half of an HMAC-SHA-256 (RFC 2104, 5) of a token's random bytes.
    fn code(&self, random: [u8; TOKEN_HALF]) -> [u8; TOKEN_HALF] {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.bytes.expose_secret());
        let content = [b"platen token\0".as_slice(), &random].concat();
        let code = hmac::sign(&key, &content);
        code.as_ref().first_chunk().copied().unwrap_or_default()
    }
}

/// Data encrypted directly with a master key, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrapped {
    /// The id of the master key that decrypts it.
    pub secret_key_id: String,
    /// Ciphertext, tag and nonce.
    pub sealed: Vec<u8>,
}

/// The master keys of a process.
#[derive(Debug)]
pub struct SecretKeys {
    /// Wraps new data keys.
    pub current: Arc<SecretKey>,
    /// Decrypts data keys that have not been rewrapped yet.
    pub former: Option<Arc<SecretKey>>,
}

impl SecretKeys {
    fn all(&self) -> impl Iterator<Item = &SecretKey> {
        let keys = [Some(&self.current), self.former.as_ref()];
        keys.into_iter().flatten().map(AsRef::as_ref)
    }

    /// Returns the key with this id.
    fn named(&self, id: &str) -> Option<&SecretKey> {
        self.all().find(|key| key.id.as_str() == id)
    }

    /// Creates a token that these keys recognize, even if nothing else remains of it.
    pub fn sign_token(&self, random: [u8; TOKEN_HALF]) -> OneTimeToken {
        let mut bytes = [0; 2 * TOKEN_HALF];
        bytes[..TOKEN_HALF].copy_from_slice(&random);
        bytes[TOKEN_HALF..].copy_from_slice(&self.current.code(random));
        OneTimeToken::from_random(bytes)
    }

    /// Returns whether a text from a link is a token of [`Self::sign_token`]. It is no secret, so that the time of the comparison
    /// doesn't matter: tokens grant nothing by themselves.
    pub fn have_signed(&self, text: &str) -> bool {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).unwrap_or_default();
        let Some((&random, code)) = bytes.split_first_chunk::<TOKEN_HALF>() else {
            return false;
        };
        self.all().any(|key| key.code(random) == code)
    }

    /// Decrypts data that was wrapped for this place. Fails if neither key is the one that encrypted it.
    pub fn unwrap(&self, place: &Place, wrapped: Wrapped) -> Result<SecretBox<Vec<u8>>, EncryptionError> {
        let under = self
            .named(&wrapped.secret_key_id)
            .ok_or(EncryptionError::NotDecrypted)?;
        Ok(SecretBox::new(Box::new(decrypt(&under.bytes, place, wrapped.sealed)?)))
    }
}

/// The key that encrypts the data of one account.
#[derive(Debug)]
pub struct DataKey(SecretBox<[u8; KEY_BYTES]>);

impl DataKey {
    /// Creates a key from 32 random bytes.
    pub fn from_random(random: [u8; KEY_BYTES]) -> Self {
        Self(SecretBox::new(Box::new(random)))
    }

    /// Wraps the key for storage with an account.
    pub fn wrap(
        &self,
        under: &SecretKey,
        account: AccountId,
        nonce: [u8; NONCE_LEN],
    ) -> Result<Wrapped, EncryptionError> {
        under.wrap(&Place::data_key(account), nonce, self.0.expose_secret().to_vec())
    }

    /// Unwraps an account's stored key.
    pub fn unwrap(wrapped: Wrapped, keys: &SecretKeys, account: AccountId) -> Result<Self, EncryptionError> {
        let bytes = keys.unwrap(&Place::data_key(account), wrapped)?;
        let key = bytes.expose_secret().as_slice().try_into();
        key.map(Self::from_random).map_err(|_| EncryptionError::NotDecrypted)
    }

    /// Encrypts content for a place. The nonce must be random. The result is 28 bytes longer than the content.
    pub fn encrypt(&self, place: &Place, nonce: [u8; NONCE_LEN], content: Vec<u8>) -> Result<Vec<u8>, EncryptionError> {
        encrypt(&self.0, place, nonce, content)
    }

    /// Decrypts content that was encrypted for this place.
    pub fn decrypt(&self, place: &Place, sealed: Vec<u8>) -> Result<Vec<u8>, EncryptionError> {
        decrypt(&self.0, place, sealed)
    }
}

/// The place for which content is encrypted; it can't be decrypted for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The account or user.
    owner: Uuid,
    purpose: &'static str,
    row: Uuid,
}

impl Place {
    fn new(owner: Uuid, purpose: &'static str, row: Uuid) -> Self {
        Self { owner, purpose, row }
    }

    pub fn idempotent_response(account: AccountId, row: Uuid) -> Self {
        Self::new(account.0, "kept answer", row)
    }

    /// The stored request of a render. Version 0 has its own purpose: releases that know only version 0 can't decrypt
    /// others, and leave such renders to newer releases.
    pub fn stored_request(account: AccountId, render: RenderId, version: i16) -> Self {
        let purpose = if version == 0 {
            "render content"
        } else {
            "stored request"
        };
        Self::new(account.0, purpose, render.0)
    }

    /// The accessibility report of a render.
    pub fn accessibility_report(account: AccountId, render: RenderId) -> Self {
        Self::new(account.0, "accessibility report", render.0)
    }

    /// The content of an asset; each content has an id of its own.
    pub fn asset(account: AccountId, content: Uuid) -> Self {
        Self::new(account.0, "asset", content)
    }

    /// A piece of an account's archive.
    pub fn export_piece(account: AccountId, row: Uuid) -> Self {
        Self::new(account.0, "export piece", row)
    }

    /// The request that each row of a batch completes.
    pub fn batch_request(account: AccountId, batch: BatchId) -> Self {
        Self::new(account.0, "batch request", batch.0)
    }

    /// The webhook of each row of a batch.
    pub fn batch_callback(account: AccountId, batch: BatchId) -> Self {
        Self::new(account.0, "batch callback", batch.0)
    }

    /// The webhook of a batch itself.
    pub fn batch_webhook(account: AccountId, batch: BatchId) -> Self {
        Self::new(account.0, "batch webhook", batch.0)
    }

    /// A piece of the rows of a batch.
    pub fn batch_piece(account: AccountId, row: Uuid) -> Self {
        Self::new(account.0, "batch piece", row)
    }

    pub fn thumbnail(account: AccountId, row: Uuid) -> Self {
        Self::new(account.0, "thumbnail", row)
    }

    /// The webhook of a render.
    pub fn callback_target(account: AccountId, render: RenderId) -> Self {
        Self::new(account.0, "callback target", render.0)
    }

    /// The URL of a webhook endpoint.
    pub fn webhook_endpoint(account: AccountId, endpoint: EndpointId) -> Self {
        Self::new(account.0, "webhook endpoint", endpoint.0)
    }

    pub fn webhook_secret(account: AccountId, row: Uuid) -> Self {
        Self::new(account.0, "webhook secret", row)
    }

    /// The credentials of a storage connection.
    pub fn connection(account: AccountId, row: Uuid) -> Self {
        Self::new(account.0, "connection", row)
    }

    /// An API key that has not been shown yet.
    pub fn new_key(account: AccountId, row: Uuid) -> Self {
        Self::new(account.0, "new key", row)
    }

    /// The secret shared with a user's authenticator app.
    pub fn app_secret(user: UserId) -> Self {
        Self::new(user.0, "app secret", user.0)
    }

    /// A form that was refused until its user has confirmed their identity.
    pub fn refused_form(user: UserId, row: Uuid) -> Self {
        Self::new(user.0, "refused form", row)
    }

    /// A user's recovery codes that have not been shown yet.
    pub fn recovery_codes(user: UserId) -> Self {
        Self::new(user.0, "recovery codes", user.0)
    }

    fn data_key(account: AccountId) -> Self {
        Self::new(account.0, "data key", account.0)
    }

    fn associated_data(&self) -> Aad<String> {
        let Self { owner, purpose, row } = self;
        Aad::from(format!("{owner}|{purpose}|{row}|{VERSION}"))
    }
}

/// Returns ciphertext, tag and nonce.
fn encrypt(
    key: &SecretBox<[u8; KEY_BYTES]>,
    place: &Place,
    nonce: [u8; NONCE_LEN],
    mut content: Vec<u8>,
) -> Result<Vec<u8>, EncryptionError> {
    cipher(key)
        .and_then(|cipher| cipher.seal_in_place_append_tag(Nonce::from(&nonce), place.associated_data(), &mut content))
        .map_err(|_| EncryptionError::NotEncrypted)?;
    content.extend_from_slice(&nonce);
    Ok(content)
}

fn decrypt(key: &SecretBox<[u8; KEY_BYTES]>, place: &Place, mut sealed: Vec<u8>) -> Result<Vec<u8>, EncryptionError> {
    let (rest, nonce) = sealed
        .split_last_chunk_mut::<NONCE_LEN>()
        .ok_or(EncryptionError::NotDecrypted)?;
    let length = cipher(key)
        .and_then(|cipher| {
            let opened = cipher.open_in_place(Nonce::from(&*nonce), place.associated_data(), rest)?;
            Ok(opened.len())
        })
        .map_err(|_| EncryptionError::NotDecrypted)?;
    sealed.truncate(length);
    Ok(sealed)
}

fn cipher(key: &SecretBox<[u8; KEY_BYTES]>) -> Result<LessSafeKey, aws_lc_rs::error::Unspecified> {
    UnboundKey::new(&AES_256_GCM_SIV, key.expose_secret()).map(LessSafeKey::new)
}

#[cfg(test)]
mod tests;
