//! Starts the processes that fill templates: this program, under its hidden command.

use std::{io, num::NonZeroUsize, thread::available_parallelism};

use platen_confined::parent::OWN_PROGRAM;
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
        program: OWN_PROGRAM.into(),
        arguments: vec![COMMAND.into()],
    };
    Pool::start(child, processes).await
}
