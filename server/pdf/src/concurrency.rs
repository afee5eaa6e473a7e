//! Work that is divided between two threads.

use std::{
    panic::resume_unwind,
    sync::{Mutex, PoisonError},
    thread,
};

/// Runs both functions concurrently. If the system has no more threads, `here` runs first, so the other one may wait for it.
pub(crate) fn concurrently<A: Send, B>(on_other_thread: impl FnOnce() -> A + Send, here: impl FnOnce() -> B) -> (A, B) {
    // A thread that can't be started would drop its function.
    let waiting = Mutex::new(Some(on_other_thread));
    let run = || {
        let function = waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        function.map(|function| function())
    };
    thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, run);
        let result = here();
        let other = match other {
            Ok(other) => other.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => run(),
        };
        (other.unwrap_or_else(|| unreachable!("the function runs once")), result)
    })
}
