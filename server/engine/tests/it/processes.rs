//! The processes of an engine's browsers, found by the profile directory on their command line.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal};

/// Longer than any of these conditions takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// CPU time, in the kernel's hundredths of a second, that only an active renderer process reaches.
const BUSY_TICKS: u64 = 60;

/// Returns the browser processes, without their child processes.
pub(crate) fn browsers(profiles: &Path) -> Vec<Pid> {
    let flag = format!("--user-data-dir={}", profiles.display());
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(Pid::from_raw)
        .filter(|&pid| {
            let line = command_line(pid);
            line.contains(&flag) && !line.contains("--type=") && lives(pid)
        })
        .collect()
}

/// Returns the browser processes and all their descendants.
pub(crate) fn all(profiles: &Path) -> Vec<Pid> {
    let mut found = browsers(profiles);
    let mut at = 0;
    while at < found.len() {
        found.extend(children(found[at]));
        at += 1;
    }
    found
}

/// Returns the renderer processes of these browsers.
pub(crate) fn renderers(profiles: &Path) -> Vec<Pid> {
    let mut found = all(profiles);
    found.retain(|&pid| command_line(pid).contains("--type=renderer"));
    found
}

/// Waits until a renderer process has been active for a while, and returns the one with the most CPU time.
pub(crate) async fn busy_renderer(profiles: &Path) -> Pid {
    let busiest = || {
        let renderers = renderers(profiles).into_iter();
        renderers
            .map(|pid| (ticks(pid), pid))
            .max_by_key(|(ticks, _)| *ticks)
            .filter(|(ticks, _)| *ticks >= BUSY_TICKS)
    };
    eventually("no renderer is at work", busiest).await.1
}

/// Returns the value of a field of `/proc/<pid>/status`.
pub(crate) fn status(pid: Pid, field: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    line.unwrap_or_default().trim().to_owned()
}

/// Returns whether the process is running. Zombies are not.
pub(crate) fn lives(pid: Pid) -> bool {
    !matches!(status(pid, "State:").chars().next(), None | Some('Z' | 'X'))
}

/// Kills a browser and all its child processes, as the kernel does when memory is short.
pub(crate) fn kill_group(browser: Pid) {
    // The group may just have ended by itself.
    let _ = rustix::process::kill_process_group(browser, Signal::KILL);
}

pub(crate) fn kill(pid: Pid) {
    let _ = rustix::process::kill_process(pid, Signal::KILL);
}

/// Polls `found` until it returns `Some`. Panics with `complaint` after [`PATIENCE`].
pub(crate) async fn eventually<T>(complaint: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(result) = found() {
            return result;
        }
        assert!(start.elapsed() < PATIENCE, "{complaint}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits until all of the processes have ended.
pub(crate) async fn gone(processes: &[Pid]) {
    eventually("processes are left", || {
        processes.iter().all(|&pid| !lives(pid)).then_some(())
    })
    .await;
}

fn ticks(pid: Pid) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // User and system time are fields 14 and 15 of the line, and fields 12 and 13 after the name.
    fields
        .skip(11)
        .take(2)
        .filter_map(|ticks| ticks.parse::<u64>().ok())
        .sum()
}

fn command_line(pid: Pid) -> String {
    let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
    String::from_utf8_lossy(&line).into_owned()
}

fn children(parent: Pid) -> Vec<Pid> {
    let Ok(threads) = fs::read_dir(format!("/proc/{}/task", parent.as_raw_nonzero())) else {
        return Vec::new();
    };
    let lists = threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| {
            let ids = list.split_whitespace().filter_map(|id| id.parse().ok());
            ids.filter_map(Pid::from_raw).collect::<Vec<_>>()
        })
        .collect()
}
