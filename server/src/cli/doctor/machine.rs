//! Checks memory, disk space, clock and open files.

use std::{env, fs, path::Path, time::SystemTime};

use platen_core::config::{
    Config,
    connections::RESERVED_FILES,
    memory::{MemoryConfig, MemorySource},
};
use rustix::fs::statvfs;
use time::{OffsetDateTime, format_description::well_known::Rfc2822};

use crate::{cli::doctor::Finding, open_files};

const GIB: u64 = 1024 * 1024 * 1024;
/// Postgres's log and a day's renders need more than this.
const LITTLE_DISK: u64 = 2 * GIB;
const NO_DISK: u64 = GIB / 4;

pub(super) fn look(config: &Config) -> Vec<Finding> {
    let mut findings = vec![memory(&config.memory)];
    if config.database.url.is_none() {
        findings.push(disk(&config.data.folder, "data folder", "PLATEN_DATA_DIR"));
    }
    findings.push(disk(&env::temp_dir(), "temporary files", "TMPDIR"));
    findings.push(clock(SystemTime::now(), built()));
    findings.push(files(config, open_files::attainable(config)));
    findings
}

/// Reports how memory is divided. If the total exceeds that of the machine or control group, the kernel's OOM killer
/// strikes.
fn memory(memory: &MemoryConfig) -> Finding {
    let mb = |bytes: u64| bytes / (1024 * 1024);
    let source = match memory.source {
        MemorySource::Setting => "PLATEN_MEMORY_MB".to_owned(),
        MemorySource::ControlGroup(limit) => format!("80 % of the control group's {} MB", mb(limit)),
        MemorySource::Machine(bytes) => format!("80 % of the machine's {} MB", mb(bytes)),
    };
    let mut parts = vec![
        format!("pages {}", mb(memory.pages)),
        format!("browsers {}", mb(memory.browsers)),
        format!(
            "service {}, {} of it for requests",
            mb(memory.service),
            mb(memory.requests())
        ),
    ];
    if memory.database > 0 {
        parts.push(format!("private Postgres {}", mb(memory.database)));
    }
    let fact = format!("{} MB ({source}): {}", mb(memory.total), parts.join("; "));
    if memory.total > memory.available {
        let fact = format!("{fact}; there are only {} MB", mb(memory.available));
        return Finding::warning(
            "Memory",
            fact,
            "give the machine or container more memory, or lower PLATEN_MEMORY_MB",
        );
    }
    Finding::fine("Memory", fact)
}

/// Measures the free disk space of a folder, or of the nearest existing one above it.
fn disk(folder: &Path, purpose: &str, setting: &str) -> Finding {
    let existing = folder
        .ancestors()
        .find(|ancestor| ancestor.exists())
        .unwrap_or(Path::new("/"));
    let free = match statvfs(existing) {
        Ok(figures) => figures.f_bavail * figures.f_frsize,
        Err(error) => {
            let fact = format!("{} ({purpose}): {error}", existing.display());
            return Finding::broken("Disk", fact, format!("set {setting} to another folder"));
        }
    };
    let fact = format!(
        "{:.1} GiB free for {purpose} in {}",
        free as f64 / GIB as f64,
        existing.display()
    );
    let remedy = format!("free some space, or set {setting} to another folder");
    match free {
        NO_DISK..LITTLE_DISK => Finding::warning("Disk", fact, remedy),
        LITTLE_DISK.. => Finding::fine("Disk", fact),
        _ => Finding::broken("Disk", fact, remedy),
    }
}

/// Without spare file descriptors, the service can't reach its database or start a browser while many clients are
/// connected.
fn files(config: &Config, attainable: u64) -> Finding {
    let connections = config.connections.total(attainable);
    let fact = format!("{attainable} open at once, {connections} of them client connections");
    let needed = connections as u64 + RESERVED_FILES;
    if attainable >= needed {
        return Finding::fine("Files", fact);
    }
    Finding::warning(
        "Files",
        fact,
        format!(
            "raise the hard limit of open files to {needed} or more (LimitNOFILE= of systemd, --ulimit nofile= of Docker), \
             or lower PLATEN_CONNECTIONS"
        ),
    )
}

/// A clock before the build of this program is wrong: keys would expire late, certificates seem not yet valid.
fn clock(now: SystemTime, built: Option<SystemTime>) -> Finding {
    match built {
        Some(built) if now < built => Finding::broken(
            "Clock",
            "the machine's clock is earlier than the build of this program",
            "set it (timedatectl set-ntp true)",
        ),
        _ => {
            let utc = OffsetDateTime::from(now).format(&Rfc2822).unwrap_or_default();
            Finding::fine("Clock", utc)
        }
    }
}

fn built() -> Option<SystemTime> {
    fs::metadata(env::current_exe().ok()?).ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::cli::doctor::Verdict;

    #[test]
    fn a_clock_before_the_build_is_broken() {
        let built = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
        let verdict = |now| clock(now, Some(built)).verdict;
        assert_eq!(verdict(built + Duration::from_secs(1)), Verdict::Fine);
        assert_eq!(verdict(built - Duration::from_secs(1)), Verdict::Broken);
    }

    #[test]
    fn files_have_to_suffice_for_connections_and_the_rest() {
        let config = Config::read(&|_| None).expect("defaults");
        assert_eq!(files(&config, 65_536).verdict, Verdict::Fine);
        let few = files(&config, 1_024);
        assert_eq!(few.verdict, Verdict::Warning);
        assert_eq!(few.fact, "1024 open at once, 256 of them client connections");
        assert!(few.remedy.contains("to 1280 or more"), "{}", few.remedy);
    }

    #[test]
    fn a_folder_to_be_made_is_measured_by_the_one_above() {
        let finding = disk(Path::new("/no/such/folder"), "data folder", "PLATEN_DATA_DIR");
        assert!(finding.fact.ends_with("in /"), "{}", finding.fact);
    }
}
