//! Work that is divided between two threads.

use std::{panic::resume_unwind, thread};

/// Runs both functions concurrently. If the system has no more threads, `here` runs first, so the other one may wait for it.
pub(crate) fn concurrently<A: Send, B>(on_other_thread: impl Fn() -> A + Sync, here: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, &on_other_thread);
        let result = here();
        let other = match other {
            Ok(other) => other.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => on_other_thread(),
        };
        (other, result)
    })
}
