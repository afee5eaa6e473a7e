//! What processes cost, from `/proc`: processor time and memory of a process and all that descend from it.

use std::{collections::HashSet, fs, io};

use serde::Serialize;

/// One line of `/proc/<pid>/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    parent: u32,
    name: String,
    /// Clock ticks.
    ticks: u64,
    /// Clock ticks of ended children that it has waited for.
    children_ticks: u64,
    /// Clock ticks after the machine's start; tells it from a later process with the same number.
    started: u64,
    /// Ended, but nobody has waited for it yet.
    is_zombie: bool,
}

/// Resident memory, bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Memory {
    /// The service's own process; 0 where Chromium is measured by itself.
    pub(crate) service: u64,
    /// All Chromium processes: anonymous memory of each, and files and shared memory once, as the largest has them.
    pub(crate) chromium: u64,
}

/// Resident bytes of one process now.
pub(crate) fn resident(pid: u32) -> io::Result<u64> {
    of_status(pid, "VmRSS:")
}

/// Resident bytes of one process at its highest since [`forget_high_water`].
pub(crate) fn high_water(pid: u32) -> io::Result<u64> {
    of_status(pid, "VmHWM:")
}

/// See `proc_pid_clear_refs(5)`.
pub(crate) fn forget_high_water(pid: u32) -> io::Result<()> {
    fs::write(format!("/proc/{pid}/clear_refs"), "5")
}

fn of_status(pid: u32, field: &str) -> io::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kibibytes: Option<u64> = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    let kibibytes = kibibytes.ok_or_else(|| io::Error::other(format!("/proc/{pid}/status has no {field}")))?;
    Ok(kibibytes * 1024)
}

/// Processor time of a process and its tree, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct ProcessorTime {
    /// The process itself: the service, or Chromium's browser process where it is measured by itself.
    pub(crate) root: f64,
    /// Chromium's renderers.
    pub(crate) renderers: f64,
    /// Its browser processes below the root.
    pub(crate) browsers: f64,
    /// Its GPU processes.
    pub(crate) gpu: f64,
    /// Postgres.
    pub(crate) postgres: f64,
    /// All others that run.
    pub(crate) others: f64,
    /// Children that have ended and were waited for.
    pub(crate) ended: f64,
}

impl ProcessorTime {
    /// All of it.
    pub(crate) fn sum(&self) -> f64 {
        self.root + self.renderers + self.browsers + self.gpu + self.postgres + self.others + self.ended
    }

    /// What was used since `before`, for each of so many renders. A process that ended meanwhile takes its time to its
    /// parent's ended children, if that has waited for it.
    pub(crate) fn since(&self, before: &Self, renders: usize) -> Self {
        let each = |of: fn(&Self) -> f64| (of(self) - of(before)) / renders as f64;
        Self {
            root: each(|time| time.root),
            renderers: each(|time| time.renderers),
            browsers: each(|time| time.browsers),
            gpu: each(|time| time.gpu),
            postgres: each(|time| time.postgres),
            others: each(|time| time.others),
            ended: each(|time| time.ended),
        }
    }
}

#[derive(Default)]
struct Resident {
    anonymous: u64,
    files: u64,
    shared: u64,
}

/// The process and its descendants, as they are now.
pub(crate) fn tree(root: u32) -> io::Result<Vec<Process>> {
    let mut all: Vec<Process> = fs::read_dir("/proc")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        // A process that ends while we look is no longer of interest.
        .filter_map(read_stat)
        .collect();
    let mut known = HashSet::from([root]);
    loop {
        let before = known.len();
        known.extend(
            all.iter()
                .filter(|process| known.contains(&process.parent))
                .map(|process| process.pid)
                .collect::<Vec<_>>(),
        );
        if known.len() == before {
            break;
        }
    }
    all.retain(|process| known.contains(&process.pid));
    Ok(all)
}

/// Those of `processes` that have not ended.
pub(crate) fn still_running(processes: &[Process]) -> Vec<&Process> {
    let is_running =
        |process: &&Process| read_stat(process.pid).is_some_and(|now| now.started == process.started && !now.is_zombie);
    processes.iter().filter(is_running).collect()
}

/// Processor time used so far.
pub(crate) fn processor_time(root: u32) -> io::Result<ProcessorTime> {
    let per_millisecond = rustix::param::clock_ticks_per_second() as f64 / 1e3;
    let milliseconds = |ticks: u64| ticks as f64 / per_millisecond;
    let mut used = ProcessorTime::default();
    for process in tree(root)? {
        let share = match process.name.as_str() {
            _ if process.pid == root => &mut used.root,
            name if name.starts_with("postgres") => &mut used.postgres,
            name if name.starts_with("chrom") => match chromium_kind(process.pid).as_deref() {
                None => &mut used.browsers,
                Some("renderer") => &mut used.renderers,
                Some("gpu-process") => &mut used.gpu,
                Some(_) => &mut used.others,
            },
            _ => &mut used.others,
        };
        *share += milliseconds(process.ticks);
        used.ended += milliseconds(process.children_ticks);
    }
    Ok(used)
}

/// What Chromium calls the kind of one of its processes; `None` for the browser process.
fn chromium_kind(pid: u32) -> Option<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    // A forked process writes its title over its arguments, parted by blanks.
    let mut arguments = line.split(|&byte| byte == 0 || byte == b' ');
    let kind = arguments.find_map(|argument| argument.strip_prefix(b"--type="))?;
    Some(String::from_utf8_lossy(kind).into_owned())
}

/// Memory of the process and of the Chromium processes in its tree.
pub(crate) fn memory(root: u32) -> io::Result<Memory> {
    let mut service = 0;
    let mut chromium = Resident::default();
    for process in tree(root)? {
        let Ok(status) = fs::read_to_string(format!("/proc/{}/status", process.pid)) else {
            continue;
        };
        let resident = parse_status(&status);
        if process.name.starts_with("chrom") {
            chromium.anonymous += resident.anonymous;
            chromium.files = chromium.files.max(resident.files);
            chromium.shared = chromium.shared.max(resident.shared);
        } else if process.pid == root {
            service = resident.anonymous + resident.files + resident.shared;
        }
    }
    Ok(Memory {
        service,
        chromium: chromium.anonymous + chromium.files + chromium.shared,
    })
}

fn read_stat(pid: u32) -> Option<Process> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn parse_stat(stat: &str) -> Option<Process> {
    // The name stands in brackets and may hold brackets and blanks itself; proc_pid_stat(5).
    let (head, rest) = stat.rsplit_once(") ")?;
    let (pid, name) = head.split_once(" (")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let sum = |fields: &[&str]| {
        fields
            .iter()
            .map(|field| field.parse::<u64>().ok())
            .sum::<Option<u64>>()
    };
    Some(Process {
        pid: pid.parse().ok()?,
        parent: fields.get(1)?.parse().ok()?,
        name: name.to_owned(),
        ticks: sum(fields.get(11..13)?)?,
        children_ticks: sum(fields.get(13..15)?)?,
        started: fields.get(19)?.parse().ok()?,
        is_zombie: fields.first() == Some(&"Z"),
    })
}

fn parse_status(status: &str) -> Resident {
    let bytes = |name: &str| {
        status
            .lines()
            .find_map(|line| {
                line.strip_prefix(name)?
                    .strip_prefix(':')?
                    .split_whitespace()
                    .next()?
                    .parse::<u64>()
                    .ok()
            })
            .unwrap_or(0)
            * 1024
    };
    Resident {
        anonymous: bytes("RssAnon"),
        files: bytes("RssFile"),
        shared: bytes("RssShmem"),
    }
}

#[cfg(test)]
mod tests {
    use super::{parse_stat, parse_status, still_running, tree};

    #[test]
    fn stat_is_read_past_a_name_with_brackets() {
        let stat = "42 (a) b (c) S 7 42 42 0 -1 4194560 100 200 0 0 11 22 33 44 20 0 1 0 5678 6 7";
        let process = parse_stat(stat).expect("a process");
        assert_eq!((process.pid, process.parent), (42, 7));
        assert_eq!((process.ticks, process.children_ticks), (33, 77));
        assert_eq!((process.name.as_str(), process.started), ("a) b (c", 5678));
    }

    #[test]
    fn status_gives_bytes() {
        let resident = parse_status("Name:\tx\nRssAnon:\t    10 kB\nRssFile:\t     5 kB\nRssShmem:\t     1 kB\n");
        assert_eq!(
            (resident.anonymous, resident.files, resident.shared),
            (10_240, 5_120, 1_024)
        );
    }

    #[test]
    fn a_child_belongs_to_the_tree_until_it_has_ended() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("sleep");
        let children = tree(std::process::id()).expect("/proc");
        let children: Vec<_> = children
            .into_iter()
            .filter(|process| process.pid == child.id())
            .collect();
        assert_eq!(still_running(&children).len(), 1);
        child.kill().expect("kill");
        child.wait().expect("wait");
        assert!(still_running(&children).is_empty());
    }
}
