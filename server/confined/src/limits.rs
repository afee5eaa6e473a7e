//! Resource limits of a worker process. See setrlimit(2).

use std::{fs, io};

use rustix::{
    process::{Resource, Rlimit, setrlimit},
    time::{ClockId, clock_gettime},
};

/// Irrevocably sets all limits except processor time. `memory` is in bytes, in addition to what the program itself
/// maps.
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

/// Grants `seconds` of processor time for one further task. Fails if the system refuses the limit.
///
/// The system counts the whole life of a process in whole seconds, so a task can use up to one second more before
/// `SIGXCPU` ends the process. It also counts by clock ticks, which were measured to run a quarter ahead of the
/// processor time of a process that works in short bursts on a busy machine; half of the time used so far is added to
/// allow for that. The parent bounds each task by wall clock.
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
