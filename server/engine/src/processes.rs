//! What `/proc` tells of a browser's processes. See proc(5).

use std::fs;

use rustix::process::Pid;

/// The renderer processes below a browser.
pub(crate) fn renderers(browser: Pid) -> Vec<Pid> {
    of_kind(browser, &["renderer"])
}

/// The processes below a browser that work for all its pages.
pub(crate) fn shared(browser: Pid) -> Vec<Pid> {
    of_kind(browser, &["gpu-process", "utility"])
}

/// Found through the lists of children, so that a look costs a few reads and not one for every process of the machine.
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

/// Whether a process of the group still runs. One that has ended counts as gone even if nobody has asked for its status:
/// in a container the first process may not care for orphans.
pub(crate) fn group_lives(group: Pid) -> bool {
    let Ok(entries) = fs::read_dir("/proc") else {
        return false;
    };
    let group = group.as_raw_nonzero().to_string();
    entries
        .flatten()
        .filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok())
        .any(|stat| {
            // The name in parentheses may hold anything; state, parent and group follow it.
            let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
            let ended = matches!(fields.next(), Some("Z" | "X") | None);
            !ended && fields.nth(1) == Some(&group)
        })
}

/// What a process holds of the machine's memory, in bytes.
pub(crate) struct Memory {
    pub(crate) resident: u64,
    /// Without what it shares with others, such as the program itself.
    pub(crate) own: u64,
}

/// `None` when the process is gone.
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

/// Whether a process has a system-call filter and lives in a process namespace of its own, as Chromium's sandbox does.
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

/// What Chromium calls the kind of a process. A forked one writes its title over its arguments, parted by blanks and no
/// longer by NUL.
fn kind(pid: Pid) -> Option<String> {
    let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).ok()?;
    let mut arguments = line.split(|&byte| byte == 0 || byte == b' ');
    let kind = arguments.find_map(|argument| argument.strip_prefix(b"--type="))?;
    String::from_utf8(kind.to_vec()).ok()
}
