//! The limit of open files, connections included. See getrlimit(2).

use std::io;

use platen_core::config::{Config, connections::RESERVED_FILES};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Enough for the default maximum of connections. Child processes inherit the limit, and some programs close every
/// possible descriptor at start: a hard limit of a thousand million would slow them down.
const ENOUGH: u64 = 65_536;

/// Returns how many files the service will be able to open: the hard limit, or as much of it as is useful.
pub fn attainable(config: &Config) -> u64 {
    let needed = config
        .connections
        .total
        .map_or(0, |total| total as u64 + RESERVED_FILES);
    let hard = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    hard.min(ENOUGH.max(needed))
}

/// Raises the soft limit to [`attainable`], unless it is higher already, and returns the new limit.
///
/// # Errors
/// If the system refuses.
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
