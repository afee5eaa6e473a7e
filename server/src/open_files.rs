//! How many files the process may have open, connections among them. See getrlimit(2).

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::{Config, connections::RESERVED_FILES};

/// Enough for the most connections there are by default. Children inherit the limit, and some programs visit every number
/// below it when they start: a hard limit of a thousand million is not worth that.
const ENOUGH: u64 = 65_536;

/// Files that the service will be able to have open: the hard limit, as far as it is of use.
pub fn attainable(config: &Config) -> u64 {
    let needed = config
        .connections
        .total
        .map_or(0, |total| total as u64 + RESERVED_FILES);
    let hard = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    hard.min(ENOUGH.max(needed))
}

/// Raises the soft limit to [`attainable`], unless it is higher, and returns what holds then.
///
/// # Errors
/// When the system refuses.
pub fn raise(config: &Config) -> io::Result<u64> {
    let wanted = attainable(config);
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= wanted) {
        return Ok(current.unwrap_or(u64::MAX));
    }
    let raised = Rlimit {
        current: Some(wanted),
        maximum,
    };
    setrlimit(Resource::Nofile, raised)?;
    Ok(wanted)
}
