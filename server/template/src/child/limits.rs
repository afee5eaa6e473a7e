//! Limits of a child that the system counts. See setrlimit(2).

use std::{fs, io};

use rustix::{
    process::{Resource, Rlimit, setrlimit},
    time::{ClockId, clock_gettime},
};

/// Memory that one child may have beyond what the program itself is mapped into when it starts, in bytes.
const MEMORY: u64 = 256 << 20;

/// Processor time for one piece of work, in seconds.
const PROCESSOR_SECONDS: u64 = 1;

/// Sets everything but the processor time, for good.
pub(super) fn set() -> io::Result<()> {
    for (resource, most) in [
        (Resource::As, mapped_bytes()? + MEMORY),
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

/// Allows one further piece of work. The system counts the whole life of a process in whole seconds, so that a piece of
/// work has between one and two seconds before the process is ended by `SIGXCPU`.
pub(super) fn grant_processor_time() -> io::Result<()> {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    let limit = Rlimit {
        current: Some(used.tv_sec.unsigned_abs() + 1 + PROCESSOR_SECONDS),
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
