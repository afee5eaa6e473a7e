//! Known keys: API keys with which a render was accepted seconds ago. The next render begins without a lookup; the
//! statement that accepts it confirms that nothing about the key has changed.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use platen_domain::{api_key::KeyDigest, caller::Caller, client::Client};

use super::{AuthenticationError, accept, digest, look_up};

use crate::{
    clock,
    service::Services,
    store::api_keys::{Credentials, CredentialsVersion},
};

/// Time for which a key is known.
const KNOWN_FOR: Duration = Duration::from_secs(5);
/// Maximum number of known keys; others are looked up for each render.
const MOST: usize = 10_000;

/// Known keys, by digest. Cheap to clone.
#[derive(Clone, Default)]
pub struct KnownKeys(Arc<Mutex<HashMap<KeyDigest, KnownKey>>>);

struct KnownKey {
    credentials: Arc<Credentials>,
    since: Instant,
}

/// Caller of a render, with the key that authenticated it.
pub struct RenderCaller {
    pub caller: Caller,
    /// `None` for a user without a key.
    key: Option<RecognisedKey>,
}

struct RecognisedKey {
    digest: KeyDigest,
    credentials: Arc<Credentials>,
    /// Whether the key was not looked up for this request.
    is_known: bool,
}

impl RenderCaller {
    /// Wraps a caller that was authenticated without a key.
    pub fn without_key(caller: Caller) -> Self {
        Self { caller, key: None }
    }

    /// Authenticates a caller by an API key, without a lookup if it is known. See [`super::authenticate`].
    pub async fn recognise(app: &Services, token: &str, client: Option<Client>) -> Result<Self, AuthenticationError> {
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

    fn with_key(app: &Services, key: RecognisedKey, client: Option<Client>) -> Result<Self, AuthenticationError> {
        let (usage, limits) = (&app.key_usage, &app.config.limits);
        let caller = accept(&key.credentials, usage, limits, client, clock::now())?;
        Ok(Self { caller, key: Some(key) })
    }

    /// Returns the version of the credentials that is still to be confirmed; `None` if the key was looked up.
    pub fn unconfirmed(&self) -> Option<&CredentialsVersion> {
        let key = self.key.as_ref().filter(|key| key.is_known)?;
        Some(&key.credentials.version)
    }

    /// Looks up the key unless that was done for this request.
    pub async fn confirm(self, app: &Services) -> Result<Self, AuthenticationError> {
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

    /// Remembers the key if the caller's render was accepted, and forgets it otherwise.
    pub fn note(&self, app: &Services, is_accepted: bool) {
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
