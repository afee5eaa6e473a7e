//! The memory of the service, and its division into disjoint parts.

use std::fs;

use platen_engine::config::{BROWSER_MEMORY, SECOND_BROWSER_MEMORY};

use crate::config::reader::{Reader, Setting};

const MIB: u64 = 1 << 20;
/// Memory of the private Postgres: its shared buffers and connections.
const DATABASE: u64 = 320 * MIB;
/// With less, no sizable document can be rendered.
const LEAST: u64 = 1536 * MIB;
/// The maximum number of copies of a document in memory during a render: filled templates, printed parts, the assembled
/// document, and its compressed form.
pub const COPIES: u64 = 4;
/// The fraction (one sixteenth) of the memory for requests that the largest document may take, so that several
/// documents fit.
const SHARE_OF_A_DOCUMENT: u64 = 16;

const MEMORY_MB: Setting = Setting::new("PLATEN_MEMORY_MB", "1536 to 16777216")
    .default("80 % of the control group's limit, else of the machine's memory")
    .purpose("Megabytes that the service may use in total, with its browsers, their pages and its private Postgres.");

pub(super) const SETTINGS: &[&Setting] = &[&MEMORY_MB];

/// The memory of the service and of all processes that it starts, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryConfig {
    /// The sum of all parts.
    pub total: u64,
    pub source: MemorySource,
    /// Memory of the machine or its control group.
    pub available: u64,
    /// The private Postgres; 0 if the operator provides the database.
    pub database: u64,
    /// Browsers without their pages.
    pub browsers: u64,
    /// Pages, in use or kept ready, and the data that they store in their browsers' own processes.
    pub pages: u64,
    /// The service itself and its worker processes.
    pub service: u64,
}

/// The source of the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemorySource {
    /// `PLATEN_MEMORY_MB`.
    Setting,
    /// The limit of the control group, in bytes.
    ControlGroup(u64),
    /// The machine's memory, in bytes.
    Machine(u64),
}

impl MemoryConfig {
    pub(super) fn from_env(reader: &mut Reader, browsers: usize, private_database: bool) -> Self {
        let (available, source) = available();
        let (total, source) = match reader.number_if_set::<u64>(&MEMORY_MB, LEAST / MIB..=16_777_216) {
            Some(megabytes) => (megabytes * MIB, MemorySource::Setting),
            None => ((available / 5 * 4).max(LEAST), source),
        };
        let divided = Self::split(total, source, browsers, private_database).unwrap_or_else(|| {
            reader.contradiction(format_args!(
                "PLATEN_BROWSERS ({browsers}) need {} MB each, without their pages and with the browser for frames \
                 beside it, which leaves too little of the {} MB that the service may use in total (PLATEN_MEMORY_MB)",
                (BROWSER_MEMORY + SECOND_BROWSER_MEMORY) / MIB,
                total / MIB
            ));
            Self::undivided(total, source)
        });
        Self { available, ..divided }
    }

    /// Assigns all memory to pages.
    fn undivided(total: u64, source: MemorySource) -> Self {
        Self {
            total,
            source,
            available: total,
            database: 0,
            browsers: 0,
            pages: total,
            service: 0,
        }
    }

    /// Divides what Postgres and the browsers leave: two thirds for pages, one third for the service.
    fn split(total: u64, source: MemorySource, browsers: usize, private_database: bool) -> Option<Self> {
        let database = if private_database { DATABASE } else { 0 };
        let browsers = browsers as u64 * (BROWSER_MEMORY + SECOND_BROWSER_MEMORY);
        let rest = total.checked_sub(database + browsers)?;
        let service = rest / 3;
        (service > 128 * MIB).then_some(Self {
            database,
            browsers,
            pages: rest - service,
            service,
            ..Self::undivided(total, source)
        })
    }

    /// Returns the memory that all requests together may reserve, in bytes: half of the service's share. The other half
    /// is for the process itself and its worker processes.
    pub fn requests(&self) -> u64 {
        self.service / 2
    }

    /// Returns the size limit of a document, and of the HTML that templates yield for one, in bytes. It follows from
    /// the plan's largest body and from the available memory. The service holds up to [`COPIES`] copies of a document
    /// during a render, so one request takes at most 64 MiB plus three times the largest body, its own body and the
    /// parsed request included.
    pub fn largest_document(&self, body_bytes: usize) -> u64 {
        ((64 * MIB + body_bytes as u64) / COPIES).min(self.requests() / SHARE_OF_A_DOCUMENT)
    }
}

/// Returns how many bytes this process may use: the limit of its control group, or the machine's memory if that is
/// less.
fn available() -> (u64, MemorySource) {
    let machine = machine().unwrap_or(LEAST);
    match control_group() {
        Some(limit) if limit < machine => (limit, MemorySource::ControlGroup(limit)),
        _ => (machine, MemorySource::Machine(machine)),
    }
}

/// See `proc_meminfo(5)`.
fn machine() -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Returns the lowest limit of the process's control group and its ancestors (cgroups(7); version 2, else 1). In a
/// container the group itself is the root of the mounted hierarchy.
fn control_group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let limits = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (root, file) = match fields.next()? {
            "" => ("/sys/fs/cgroup", "memory.max"),
            controllers if controllers.split(',').any(|name| name == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let group = fields.next()?.to_owned();
        let above = group.match_indices('/').map(|(at, _)| group[..at].to_owned());
        let folders: Vec<_> = above.chain([group.clone()]).collect();
        let limit = |folder: &String| -> Option<u64> {
            let limit = fs::read_to_string(format!("{root}{folder}/{file}")).ok()?;
            limit.trim().parse().ok()
        };
        folders.iter().filter_map(limit).min()
    });
    limits.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn split(total: u64, browsers: usize, private_database: bool) -> Option<MemoryConfig> {
        MemoryConfig::split(total, MemorySource::Setting, browsers, private_database)
    }

    #[test]
    fn the_parts_are_the_whole() {
        for (total, browsers, private) in [(LEAST, 1, true), (16 * GIB, 4, false), (19 * GIB + 1, 1, true)] {
            let memory = split(total, browsers, private).expect("it suffices");
            let parts = memory.database + memory.browsers + memory.pages + memory.service;
            assert_eq!(parts, total);
            assert_eq!(memory.database > 0, private);
        }
        assert_eq!(split(4 * GIB, 14, true), None);
    }

    #[test]
    fn a_document_is_bounded_by_the_plan_and_by_what_there_is() {
        let large = split(24 * GIB, 1, true).expect("it suffices");
        assert_eq!(large.largest_document(10 << 20), (74 << 20) / 4);
        let small = split(LEAST, 1, true).expect("it suffices");
        assert_eq!(small.largest_document(10 << 20), small.requests() / 16);
    }

    #[test]
    fn the_machine_says_what_it_has() {
        let (bytes, source) = available();
        assert!(bytes > 64 * MIB, "{bytes}");
        assert_ne!(source, MemorySource::Setting);
    }
}
