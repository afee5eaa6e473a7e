//! Limits of a child that the system counts. See setrlimit(2).

use std::{fs, io};

use rustix::{
    process::{Resource, Rlimit, setrlimit},
    time::{ClockId, clock_gettime},
};

/// Sets everything but the processor time, for good. `memory`: in bytes, beyond what the program itself is mapped into.
pub(super) fn set(memory: u64) -> io::Result<()> {
    for (resource, most) in [
        (Resource::As, mapped_bytes()? + memory),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
        (Resource::Nproc, 0),
        (Resource::Nofile, 0),
    ] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit)?;
    }
    Ok(())
}

/// Allows one further piece of work so much processor time. The system counts the whole life of a process in whole seconds,
/// so that a piece of work has up to one second more before the process is ended by `SIGXCPU`. The system also counts by
/// clock ticks, which were measured to run a quarter ahead of the processor time of a process that works in short bursts on
/// a busy machine. Half of the time used before is allowed for that; the parent bounds each piece of work by wall clock.
///
/// # Errors
/// When the system refuses.
pub fn grant_processor_time(seconds: u64) -> io::Result<()> {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    let used = used.tv_sec.unsigned_abs();
    let limit = Rlimit {
        current: Some(used + used / 2 + 1 + seconds),
        maximum: None,
    };
    Ok(setrlimit(Resource::Cpu, limit)?)
}

fn mapped_bytes() -> io::Result<u64> {
    let statm = fs::read_to_string("/proc/self/statm")?;
    let pages: Option<u64> = statm.split(' ').next().and_then(|pages| pages.parse().ok());
    pages
        .map(|pages| pages * rustix::param::page_size() as u64)
        .ok_or_else(|| io::Error::other("/proc/self/statm cannot be read"))
}
