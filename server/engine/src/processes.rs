//! Processes of a browser, read from `/proc`. See proc(5).

use std::fs;

use rustix::process::Pid;

/// Returns the renderer processes of a browser.
pub(crate) fn renderers(browser: Pid) -> Vec<Pid> {
    of_kind(browser, &["renderer"])
}

/// Returns the processes of a browser that its pages share: GPU and utility processes.
pub(crate) fn shared(browser: Pid) -> Vec<Pid> {
    of_kind(browser, &["gpu-process", "utility"])
}

/// Searches through lists of children, which takes a few reads rather than one for every process of the machine.
fn of_kind(browser: Pid, kinds: &[&str]) -> Vec<Pid> {
    let mut found = Vec::new();
    let mut to_visit = vec![browser];
    while let Some(parent) = to_visit.pop() {
        for child in children(parent) {
            match kind(child) {
                Some(kind) if kinds.contains(&kind.as_str()) => found.push(child),
                Some(kind) if kind == "renderer" => {}
                _ => to_visit.push(child),
            }
        }
    }
    found
}

/// Returns whether a process of the group is still running. Zombies don't count: in a container, the init process may
/// not reap orphans.
pub(crate) fn group_lives(group: Pid) -> bool {
    let Ok(entries) = fs::read_dir("/proc") else {
        return false;
    };
    let group = group.as_raw_nonzero().to_string();
    entries
        .flatten()
        .filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok())
        .any(|stat| {
            // The name in parentheses may contain anything; state, parent and group follow it.
            let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
            let ended = matches!(fields.next(), Some("Z" | "X") | None);
            !ended && fields.nth(1) == Some(&group)
        })
}

/// Memory of a process, in bytes.
pub(crate) struct Memory {
    pub(crate) resident: u64,
    /// Resident memory without pages shared with other processes, such as the program itself.
    pub(crate) own: u64,
}

/// Returns the memory of a process, or `None` if it has ended.
pub(crate) fn memory(pid: Pid) -> Option<Memory> {
    let statm = fs::read_to_string(format!("/proc/{}/statm", pid.as_raw_nonzero())).ok()?;
    let mut pages = statm.split(' ').skip(1).map_while(|field| field.parse::<u64>().ok());
    let (resident, shared) = (pages.next()?, pages.next()?);
    let page_size = rustix::param::page_size() as u64;
    Some(Memory {
        resident: resident * page_size,
        own: resident.saturating_sub(shared) * page_size,
    })
}

/// Returns whether a process has a system-call filter and its own PID namespace, as in Chromium's sandbox.
pub(crate) fn is_sandboxed(pid: Pid) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())) else {
        return false;
    };
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let filtered = field("Seccomp:") == Some("2");
    let namespaced = field("NSpid:").is_some_and(|ids| ids.split_whitespace().count() > 1);
    filtered && namespaced
}

fn children(parent: Pid) -> Vec<Pid> {
    let Ok(threads) = fs::read_dir(format!("/proc/{}/task", parent.as_raw_nonzero())) else {
        return Vec::new();
    };
    threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|list| {
            list.split_whitespace()
                .filter_map(|id| id.parse().ok())
                .collect::<Vec<i32>>()
        })
        .filter_map(Pid::from_raw)
        .collect()
}

/// Returns Chromium's process type. A forked process overwrites its arguments with its title, separated by spaces
/// instead of NUL.
fn kind(pid: Pid) -> Option<String> {
    let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).ok()?;
    let mut arguments = line.split(|&byte| byte == 0 || byte == b' ');
    let kind = arguments.find_map(|argument| argument.strip_prefix(b"--type="))?;
    String::from_utf8(kind.to_vec()).ok()
}
