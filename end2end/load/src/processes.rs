//! CPU time and memory of a process and its descendants, from `/proc`.

use std::{collections::HashSet, fs, io};

use serde::Serialize;

/// A line of `/proc/<pid>/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    parent: u32,
    name: String,
    /// CPU time in clock ticks.
    ticks: u64,
    /// CPU time of reaped children, in clock ticks.
    children_ticks: u64,
    /// Start time in clock ticks since boot; distinguishes the process from a later one with the same id.
    started: u64,
    /// Whether it has exited but has not been reaped.
    is_zombie: bool,
}

/// Resident memory in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Memory {
    /// The service's own process; 0 if Chromium is measured alone.
    pub(crate) service: u64,
    /// All Chromium processes: the sum of their anonymous memory, and files and shared memory once, as in the largest
    /// process.
    pub(crate) chromium: u64,
}

/// Returns the current resident memory of a process in bytes.
pub(crate) fn resident(pid: u32) -> io::Result<u64> {
    of_status(pid, "VmRSS:")
}

/// Returns the peak resident memory of a process in bytes since [`forget_high_water`].
pub(crate) fn high_water(pid: u32) -> io::Result<u64> {
    of_status(pid, "VmHWM:")
}

/// Resets the peak resident memory of a process; see `proc_pid_clear_refs(5)`.
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

/// CPU time of a process and its descendants, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct ProcessorTime {
    /// The process itself: the service, or Chromium's browser process if it is measured alone.
    pub(crate) root: f64,
    /// Chromium's renderers.
    pub(crate) renderers: f64,
    /// Chromium's browser processes below the root.
    pub(crate) browsers: f64,
    /// Chromium's GPU processes.
    pub(crate) gpu: f64,
    pub(crate) postgres: f64,
    /// All other running processes.
    pub(crate) others: f64,
    /// Children that have exited and were reaped.
    pub(crate) ended: f64,
}

impl ProcessorTime {
    pub(crate) fn sum(&self) -> f64 {
        self.root + self.renderers + self.browsers + self.gpu + self.postgres + self.others + self.ended
    }

    /// Returns the time used since `before`, divided by `renders`. The time of a process that exited in between counts
    /// for its parent's exited children, if the parent has reaped it.
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

/// Returns the process and its current descendants.
pub(crate) fn tree(root: u32) -> io::Result<Vec<Process>> {
    let mut all: Vec<Process> = fs::read_dir("/proc")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        // A process that exits meanwhile is skipped.
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

/// Returns those of `processes` that have not exited.
pub(crate) fn still_running(processes: &[Process]) -> Vec<&Process> {
    let is_running =
        |process: &&Process| read_stat(process.pid).is_some_and(|now| now.started == process.started && !now.is_zombie);
    processes.iter().filter(is_running).collect()
}

/// Returns the CPU time used so far.
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

/// Returns Chromium's name for the kind of a process; `None` for the browser process.
fn chromium_kind(pid: u32) -> Option<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    // A forked process overwrites its arguments with a title, separated by spaces.
    let mut arguments = line.split(|&byte| byte == 0 || byte == b' ');
    let kind = arguments.find_map(|argument| argument.strip_prefix(b"--type="))?;
    Some(String::from_utf8_lossy(kind).into_owned())
}

/// Returns the memory of the process and of the Chromium processes among its descendants.
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
    // The name is in parentheses and may itself contain parentheses and spaces; see proc_pid_stat(5).
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
