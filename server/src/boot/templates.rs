//! Starts the processes that fill templates: this program, under its hidden command.

use std::{io, num::NonZeroUsize, path::PathBuf, thread::available_parallelism};

use platen_template::pool::{ChildCommand, Pool};

/// The hidden command of [`crate::cli`].
const COMMAND: &str = "fill-templates";
/// With one process, a template that runs into its limits would hold up every other account's.
const FEWEST: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);

/// Starts one process for each core, and at least two.
pub async fn start() -> io::Result<Pool> {
    let cores = available_parallelism().unwrap_or(FEWEST);
    start_some(cores.max(FEWEST)).await
}

/// Starts as many processes as are asked for.
pub async fn start_some(processes: NonZeroUsize) -> io::Result<Pool> {
    let child = ChildCommand {
        // The very file that runs, even if another one has taken its place since.
        program: PathBuf::from("/proc/self/exe"),
        arguments: vec![COMMAND.into()],
    };
    Pool::start(child, processes).await
}
