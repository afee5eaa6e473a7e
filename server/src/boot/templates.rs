//! Starts the worker processes that fill templates: this program, under a hidden command.

use std::{io, num::NonZeroUsize, thread::available_parallelism};

use platen_confined::parent::OWN_PROGRAM;
use platen_template::pool::{ChildCommand, Pool};

/// The hidden command of [`crate::cli`].
const COMMAND: &str = "fill-templates";
/// With a single process, a template that runs into its limits would delay those of all other accounts.
const FEWEST: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);

/// Starts one worker process per core, and at least two.
pub async fn start() -> io::Result<Pool> {
    let cores = available_parallelism().unwrap_or(FEWEST);
    start_some(cores.max(FEWEST)).await
}

/// Starts the given number of worker processes.
pub async fn start_some(processes: NonZeroUsize) -> io::Result<Pool> {
    let child = ChildCommand {
        program: OWN_PROGRAM.into(),
        arguments: vec![COMMAND.into()],
    };
    Pool::start(child, processes).await
}
