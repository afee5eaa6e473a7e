//! Keys with which a render was accepted a moment ago. The next one begins without a look-up; the statement that accepts it
//! makes sure that nothing about the key has changed.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::{AuthenticationError, accept, digest, look_up};
use crate::{
    clock,
    domain::{api_key::KeyDigest, caller::Caller, client::Client},
    state::AppState,
    store::api_keys::{Credentials, CredentialsVersion},
};

/// How long a key is known.
const KNOWN_FOR: Duration = Duration::from_secs(5);
/// Keys that are known at once; further ones are looked up for each render.
const MOST: usize = 10_000;

/// Cheap to clone.
#[derive(Clone, Default)]
pub struct KnownKeys(Arc<Mutex<HashMap<KeyDigest, KnownKey>>>);

struct KnownKey {
    credentials: Arc<Credentials>,
    since: Instant,
}

/// Who asks for a render.
pub struct RenderCaller {
    /// The caller.
    pub caller: Caller,
    /// `None`: a person without a key.
    key: Option<RecognisedKey>,
}

struct RecognisedKey {
    digest: KeyDigest,
    credentials: Arc<Credentials>,
    /// It was not looked up for this request.
    is_known: bool,
}

impl RenderCaller {
    /// A caller who was authenticated without a key.
    pub fn without_key(caller: Caller) -> Self {
        Self { caller, key: None }
    }

    /// Recognises the holder of a key, without a look-up if it is known. See [`super::authenticate`].
    pub async fn recognise(app: &AppState, token: &str, client: Option<Client>) -> Result<Self, AuthenticationError> {
        let digest = digest(token)?;
        let (credentials, is_known) = match app.known_keys.find(&digest) {
            Some(known) => (known, true),
            None => (Arc::new(look_up(&app.db, &digest).await?), false),
        };
        let key = RecognisedKey {
            digest,
            credentials,
            is_known,
        };
        Self::with_key(app, key, client)
    }

    fn with_key(app: &AppState, key: RecognisedKey, client: Option<Client>) -> Result<Self, AuthenticationError> {
        let (usage, limits) = (&app.key_usage, &app.config.limits);
        let caller = accept(&key.credentials, usage, limits, client, clock::now())?;
        Ok(Self { caller, key: Some(key) })
    }

    /// As what the key was taken, if that is still to be confirmed.
    pub fn unconfirmed(&self) -> Option<&CredentialsVersion> {
        let key = self.key.as_ref().filter(|key| key.is_known)?;
        Some(&key.credentials.version)
    }

    /// Looks the key up unless that was done for this request.
    pub async fn confirm(self, app: &AppState) -> Result<Self, AuthenticationError> {
        let Some(RecognisedKey {
            digest, is_known: true, ..
        }) = self.key
        else {
            return Ok(self);
        };
        app.known_keys.lock().remove(&digest);
        let key = RecognisedKey {
            digest,
            credentials: Arc::new(look_up(&app.db, &digest).await?),
            is_known: false,
        };
        Self::with_key(app, key, self.caller.client)
    }

    /// Notes whether a render of theirs was accepted.
    pub fn note(&self, app: &AppState, is_accepted: bool) {
        let Some(key) = &self.key else { return };
        if !is_accepted {
            app.known_keys.lock().remove(&key.digest);
        } else if !key.is_known {
            app.known_keys.remember(key);
        }
    }
}

impl KnownKeys {
    fn find(&self, digest: &KeyDigest) -> Option<Arc<Credentials>> {
        let keys = self.lock();
        let known = keys.get(digest).filter(|known| known.since.elapsed() < KNOWN_FOR)?;
        Some(Arc::clone(&known.credentials))
    }

    fn remember(&self, key: &RecognisedKey) {
        let mut keys = self.lock();
        if keys.len() >= MOST {
            keys.retain(|_, known| known.since.elapsed() < KNOWN_FOR);
        }
        if keys.len() < MOST {
            let credentials = Arc::clone(&key.credentials);
            let since = Instant::now();
            keys.insert(key.digest, KnownKey { credentials, since });
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<KeyDigest, KnownKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
