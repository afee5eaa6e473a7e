//! Sealing what must stay secret at rest, by envelope encryption: each account has a data key, and the data keys are
//! wrapped under the service's one secret key. A change of the secret key wraps the data keys anew and leaves alone what
//! they have sealed. What is a person's, and no account's, is so little that it is wrapped under the secret key itself.
//!
//! The cipher is AES-256-GCM-SIV (RFC 8452), which forgives a nonce that comes twice. What is sealed says, as associated
//! data, whose it is and what for, so that nothing opens in another place.

use std::{fmt, sync::Arc};

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use secrecy::{ExposeSecret, SecretBox, SecretString};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::domain::ids::{AccountId, RenderId, UserId};

const KEY_BYTES: usize = 32;
/// Of the form in which the associated data and the sealed bytes are put together.
const VERSION: u8 = 1;

/// What can't be sealed or opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealingError {
    /// More bytes than the cipher takes.
    #[error("it is too large to be sealed")]
    NotSealed,
    /// Not what was sealed, or not with this key, or not for this place.
    #[error("it can't be opened: it was changed, or sealed with another key")]
    NotOpened,
}

/// Names a secret key without telling anything of it: the first 8 bytes of a digest, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretKeyId(String);

impl SecretKeyId {
    /// The name as it is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SecretKeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The service's secret key. Neither printed nor stored in the database.
#[derive(Debug)]
pub struct SecretKey {
    id: SecretKeyId,
    bytes: SecretBox<[u8; KEY_BYTES]>,
}

impl SecretKey {
    /// The key of 32 random bytes.
    pub fn from_random(random: [u8; KEY_BYTES]) -> Self {
        let digest = Sha256::new_with_prefix(b"platen secret key\0")
            .chain_update(random)
            .finalize();
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        Self {
            id: SecretKeyId(format!("{:016x}", u64::from_be_bytes(first))),
            bytes: SecretBox::new(Box::new(random)),
        }
    }

    /// Reads 32 bytes as base64 with padding, or as 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = if text.len() == 2 * KEY_BYTES {
            from_hexadecimal(text)?
        } else {
            BASE64_STANDARD.decode(text).ok()?
        };
        bytes.try_into().ok().map(Self::from_random)
    }

    /// The key as [`Self::parse`] reads it, in base64.
    pub fn to_text(&self) -> SecretString {
        BASE64_STANDARD.encode(self.bytes.expose_secret()).into()
    }

    /// The key's name.
    pub fn id(&self) -> &SecretKeyId {
        &self.id
    }

    /// Seals something short under the secret key itself; the nonce has to be random.
    pub fn wrap(&self, place: &Place, nonce: [u8; NONCE_LEN], content: Vec<u8>) -> Result<Wrapped, SealingError> {
        Ok(Wrapped {
            secret_key_id: self.id.as_str().to_owned(),
            sealed: seal(&self.bytes, place, nonce, content)?,
        })
    }
}

/// What is sealed under a secret key itself, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrapped {
    /// The secret key that opens it.
    pub secret_key_id: String,
    /// The content, sealed.
    pub sealed: Vec<u8>,
}

/// The secret keys that a process works with.
#[derive(Debug)]
pub struct SecretKeys {
    /// Wraps new data keys.
    pub current: Arc<SecretKey>,
    /// Wrapped the data keys that have not been wrapped anew yet.
    pub former: Option<Arc<SecretKey>>,
}

impl SecretKeys {
    /// The key with this name.
    fn named(&self, id: &str) -> Option<&SecretKey> {
        [Some(&self.current), self.former.as_ref()]
            .into_iter()
            .flatten()
            .map(AsRef::as_ref)
            .find(|key: &&SecretKey| key.id.as_str() == id)
    }

    /// Opens what was wrapped for this place.
    pub fn unwrap(&self, place: &Place, wrapped: Wrapped) -> Result<SecretBox<Vec<u8>>, SealingError> {
        let under = self.named(&wrapped.secret_key_id).ok_or(SealingError::NotOpened)?;
        Ok(SecretBox::new(Box::new(open(&under.bytes, place, wrapped.sealed)?)))
    }
}

fn from_hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    Some(
        digits?
            .chunks_exact(2)
            .map(|pair| (pair[0] * 16 + pair[1]) as u8)
            .collect(),
    )
}

/// The key that seals what belongs to one account.
#[derive(Debug)]
pub struct DataKey(SecretBox<[u8; KEY_BYTES]>);

impl DataKey {
    /// The key of 32 random bytes.
    pub fn from_random(random: [u8; KEY_BYTES]) -> Self {
        Self(SecretBox::new(Box::new(random)))
    }

    /// The key as it is stored for an account.
    pub fn wrap(&self, under: &SecretKey, account: AccountId, nonce: [u8; NONCE_LEN]) -> Result<Wrapped, SealingError> {
        under.wrap(&Place::data_key(account), nonce, self.0.expose_secret().to_vec())
    }

    /// The key that was stored for an account.
    pub fn unwrap(wrapped: Wrapped, keys: &SecretKeys, account: AccountId) -> Result<Self, SealingError> {
        let bytes = keys.unwrap(&Place::data_key(account), wrapped)?;
        let key = bytes.expose_secret().as_slice().try_into();
        key.map(Self::from_random).map_err(|_| SealingError::NotOpened)
    }

    /// Seals for one place; the nonce has to be random. The result is 28 bytes longer.
    pub fn seal(&self, place: &Place, nonce: [u8; NONCE_LEN], content: Vec<u8>) -> Result<Vec<u8>, SealingError> {
        seal(&self.0, place, nonce, content)
    }

    /// Opens what was sealed for this place.
    pub fn open(&self, place: &Place, sealed: Vec<u8>) -> Result<Vec<u8>, SealingError> {
        open(&self.0, place, sealed)
    }
}

/// The one place that something is sealed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The account, or the user.
    owner: Uuid,
    purpose: &'static str,
    row: Uuid,
}

impl Place {
    /// The kept answer with this id.
    pub fn kept_answer(account: AccountId, row: Uuid) -> Self {
        Self {
            owner: account.0,
            purpose: "kept answer",
            row,
        }
    }

    /// The stored request for this render. Version 0 has a place of its own: releases that know no other take nothing else
    /// for it, and leave the render to those that do.
    pub fn stored_request(account: AccountId, render: RenderId, version: i16) -> Self {
        Self {
            owner: account.0,
            purpose: if version == 0 {
                "render content"
            } else {
                "stored request"
            },
            row: render.0,
        }
    }

    /// The thumbnail with this id.
    pub fn thumbnail(account: AccountId, row: Uuid) -> Self {
        Self {
            owner: account.0,
            purpose: "thumbnail",
            row,
        }
    }

    /// Where the callback of this render goes.
    pub fn callback_target(account: AccountId, render: RenderId) -> Self {
        Self {
            owner: account.0,
            purpose: "callback target",
            row: render.0,
        }
    }

    /// The webhook secret with this id.
    pub fn webhook_secret(account: AccountId, row: Uuid) -> Self {
        Self {
            owner: account.0,
            purpose: "webhook secret",
            row,
        }
    }

    /// The credentials of the storage connection with this id.
    pub fn connection(account: AccountId, row: Uuid) -> Self {
        Self {
            owner: account.0,
            purpose: "connection",
            row,
        }
    }

    /// The API key with this id, until it is shown.
    pub fn new_key(account: AccountId, row: Uuid) -> Self {
        Self {
            owner: account.0,
            purpose: "new key",
            row,
        }
    }

    /// What a user's app shares with us.
    pub fn app_secret(user: UserId) -> Self {
        Self {
            owner: user.0,
            purpose: "app secret",
            row: user.0,
        }
    }

    /// A user's recovery codes, until they are shown.
    pub fn recovery_codes(user: UserId) -> Self {
        Self {
            owner: user.0,
            purpose: "recovery codes",
            row: user.0,
        }
    }

    fn data_key(account: AccountId) -> Self {
        Self {
            owner: account.0,
            purpose: "data key",
            row: account.0,
        }
    }

    fn associated_data(&self) -> Aad<String> {
        let Self { owner, purpose, row } = self;
        Aad::from(format!("{owner}|{purpose}|{row}|{VERSION}"))
    }
}

/// Ciphertext, tag, nonce.
fn seal(
    key: &SecretBox<[u8; KEY_BYTES]>,
    place: &Place,
    nonce: [u8; NONCE_LEN],
    mut content: Vec<u8>,
) -> Result<Vec<u8>, SealingError> {
    cipher(key)
        .and_then(|cipher| cipher.seal_in_place_append_tag(Nonce::from(&nonce), place.associated_data(), &mut content))
        .map_err(|_| SealingError::NotSealed)?;
    content.extend_from_slice(&nonce);
    Ok(content)
}

fn open(key: &SecretBox<[u8; KEY_BYTES]>, place: &Place, mut sealed: Vec<u8>) -> Result<Vec<u8>, SealingError> {
    let (rest, nonce) = sealed
        .split_last_chunk_mut::<NONCE_LEN>()
        .ok_or(SealingError::NotOpened)?;
    let length = cipher(key)
        .and_then(|cipher| {
            let opened = cipher.open_in_place(Nonce::from(&*nonce), place.associated_data(), rest)?;
            Ok(opened.len())
        })
        .map_err(|_| SealingError::NotOpened)?;
    sealed.truncate(length);
    Ok(sealed)
}

fn cipher(key: &SecretBox<[u8; KEY_BYTES]>) -> Result<LessSafeKey, aws_lc_rs::error::Unspecified> {
    UnboundKey::new(&AES_256_GCM_SIV, key.expose_secret()).map(LessSafeKey::new)
}

#[cfg(test)]
mod tests;
