//! Hashing of passwords. Each hash takes 19 MiB and 20 ms of a core, so the number of concurrent ones is limited.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::available_parallelism,
    time::Duration,
};

use platen_domain::password::{self, Check, HashingFailed, Password};
use secrecy::SecretString;
use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout};

/// Time to wait for a place, after which hashing fails with [`HashError::Busy`].
const PATIENCE: Duration = Duration::from_secs(5);

/// Computes and compares hashes. Cheap to clone.
#[derive(Clone)]
pub struct Passwords {
    places: Arc<Semaphore>,
    computed: Arc<AtomicU64>,
}

/// Error of hashing a password.
#[derive(Debug, thiserror::Error)]
pub enum HashError {
    /// No place became free in time.
    #[error("too many passwords are being checked")]
    Busy,
    /// Hashing failed.
    #[error(transparent)]
    Failed(#[from] HashingFailed),
    /// The thread panicked.
    #[error("password hashing was interrupted")]
    Interrupted,
}

impl Default for Passwords {
    /// Allows as many concurrent hashes as there are cores.
    fn default() -> Self {
        Self {
            places: Arc::new(Semaphore::new(available_parallelism().map_or(1, usize::from))),
            computed: Arc::default(),
        }
    }
}

impl Passwords {
    /// Returns the hash of a password, for storage.
    pub async fn hash(&self, password: Password) -> Result<String, HashError> {
        Ok(self.compute(move || password.hash()).await??)
    }

    /// Compares a typed password with a stored hash. Without a hash, takes the same time and returns [`Check::Wrong`].
    pub async fn check(&self, typed: SecretString, stored: Option<String>) -> Result<Check, HashError> {
        self.compute(move || password::check(&typed, stored.as_deref())).await
    }

    /// Returns the number of hashes computed since the start.
    pub fn computed(&self) -> u64 {
        self.computed.load(Ordering::Relaxed)
    }

    async fn compute<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, HashError> {
        let place = timeout(PATIENCE, Arc::clone(&self.places).acquire_owned()).await;
        // The semaphore is never closed.
        let place = place
            .map_err(|_| HashError::Busy)?
            .map_err(|_| HashError::Interrupted)?;
        self.computed.fetch_add(1, Ordering::Relaxed);
        let computing = spawn_blocking(move || {
            // A disconnecting client doesn't stop the thread, so the place is released only when the thread ends.
            let _place = place;
            work()
        });
        computing.await.map_err(|_| HashError::Interrupted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn callers_without_a_place_wait_for_one() {
        let passwords = Passwords::default();
        let places = u32::try_from(passwords.places.available_permits()).expect("not so many");
        assert!(places >= 1);
        let taken = Arc::clone(&passwords.places)
            .acquire_many_owned(places)
            .await
            .expect("free");
        let mut checking = Box::pin(passwords.check("a long password".into(), None));
        assert!(futures::poll!(&mut checking).is_pending());
        assert_eq!(passwords.computed(), 0);
        drop(taken);
        assert_eq!(checking.await.expect("computed"), Check::Wrong);
        assert_eq!(passwords.computed(), 1);
        assert_eq!(passwords.places.available_permits(), places as usize);
    }
}
