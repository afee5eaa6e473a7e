//! Families of counters and histograms. Recording is a lookup in a small map under a short lock.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// One instrument for each set of labels. Label types have few values, and never values that clients choose.
pub(super) struct Family<L, I>(Mutex<BTreeMap<L, I>>);

impl<L: Ord, I: Default> Family<L, I> {
    /// Creates a family with instruments for these labels, so that series exist before their first event and can be
    /// distinguished from missing ones.
    pub(super) fn of(known: impl IntoIterator<Item = L>) -> Self {
        Self(Mutex::new(
            known.into_iter().map(|labels| (labels, I::default())).collect(),
        ))
    }

    /// Changes the instrument of these labels, and creates it if it is missing.
    pub(super) fn record(&self, labels: L, change: impl FnOnce(&mut I)) {
        change(self.all().entry(labels).or_default());
    }

    /// Locks and returns all instruments.
    pub(super) fn all(&self) -> MutexGuard<'_, BTreeMap<L, I>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
