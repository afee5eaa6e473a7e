//! A Chromium process group: launch, supervision, termination. Each is a crash domain.

pub(crate) mod memory;

use std::{
    collections::VecDeque,
    fs, io,
    os::{fd::OwnedFd, unix::fs::PermissionsExt, unix::process::CommandExt},
    path::{Path, PathBuf},
    process::Stdio,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use chromiumoxide_cdp::cdp::browser_protocol::browser::GetVersionParams;
use command_fds::{CommandFdExt, FdMapping};
use rustix::process::{Pid, Signal};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::unix::pipe,
    process::{Child, ChildStderr, Command},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    LOOK_AGAIN, chromium,
    config::{EngineConfig, RunAs},
    devtools::Connection,
    processes,
};

/// Time from the start of the process to its first response. A cold start on a busy machine takes seconds.
const START_LIMIT: Duration = Duration::from_secs(30);
/// Size of the pipes, in bytes; large because printed documents arrive in large messages.
const PIPE_BYTES: usize = 1 << 20;
/// Time from the end of the renderer processes to the end of the browser, if a dying browser ended them.
const DYING_LIMIT: Duration = Duration::from_millis(100);
/// Time to wait for the end of stderr.
const LAST_WORDS_LIMIT: Duration = Duration::from_secs(1);
/// Time for killed processes to end; they do so at once unless blocked in the kernel.
const GROUP_END_LIMIT: Duration = Duration::from_secs(10);
/// Message of Chromium on stderr if the system provides no sandbox.
const NO_SANDBOX: &str = "No usable sandbox";
/// Number of last lines of stderr that are included in the error if the browser doesn't start.
const STDERR_LINES: usize = 12;
/// Maximum length of such a line, in bytes.
const STDERR_LINE_LENGTH: usize = 1_000;

/// A running browser. Dropping it kills its process group.
pub(crate) struct Browser {
    pub(crate) connection: Connection,
    /// Whether it is used for pages that need frames. Printing needs none.
    pub(crate) is_for_frames: bool,
    /// Whether its pages have no frames. The full browser composites frames for all pages.
    pub(crate) is_without_frames: bool,
    /// Product and version, for example `HeadlessChrome/156.0.8078.79`.
    pub(crate) version: String,
    group: Pid,
    /// Cancelled once all processes of the group have ended and the profile directory is removed.
    exited: CancellationToken,
    /// Whether the browser accepts no new sessions, and ends with its last session.
    retiring: AtomicBool,
    renders: AtomicU64,
    /// Number of sessions that are not destroyed yet.
    pub(crate) sessions: AtomicUsize,
    tenants: memory::Tenants,
    /// Private memory of pages, in bytes, as last measured.
    pub(crate) held_by_pages: AtomicU64,
    /// Cancelled when the browser uses too much memory and no active session is responsible.
    pub(crate) bloated: CancellationToken,
}

/// Why a browser could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LaunchError {
    #[error(
        "no Chromium found; install Debian's package chromium-headless-shell, or set PLATEN_CHROMIUM to the browser's \
         binary"
    )]
    NotFound,
    #[error("the browser profile could not be created in {}: {source}", path.display())]
    Profile { path: PathBuf, source: io::Error },
    #[error("{} could not be started: {source}; set PLATEN_CHROMIUM to the browser's binary", path.display())]
    Spawn { path: PathBuf, source: io::Error },
    #[error("{} started but doesn't respond: {last_words}; set PLATEN_CHROMIUM to a browser's binary", path.display())]
    Silent { path: PathBuf, last_words: String },
    #[error(
        "Chromium has no sandbox on this machine; allow unprivileged user namespaces (sysctl \
         kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0; in a container, use the \
         seccomp profile in deploy/), or, if every page is trusted, set PLATEN_CHROMIUM_SANDBOX=off"
    )]
    NoSandbox,
}

impl Browser {
    /// Starts a browser and waits for its first response. Spawns a task on `tasks` that ends with its last process.
    pub(crate) async fn launch(
        config: &EngineConfig,
        is_for_frames: bool,
        tasks: &TaskTracker,
    ) -> Result<Arc<Self>, LaunchError> {
        let path = config
            .chromium
            .clone()
            .or_else(chromium::find_chromium)
            .ok_or(LaunchError::NotFound)?;
        let profile = make_profile(&config.profile_dir, config.run_as).map_err(|source| LaunchError::Profile {
            path: config.profile_dir.clone(),
            source,
        })?;
        let spawn_error = |source| LaunchError::Spawn {
            path: path.clone(),
            source,
        };
        let is_without_frames = !is_for_frames && !chromium::is_full_browser(&path);
        let arguments = chromium::arguments(profile.path(), config.sandbox, is_without_frames);
        let (mut child, to_browser, from_browser) =
            spawn(&path, &arguments, profile.path(), config.run_as).map_err(spawn_error)?;
        let group = child
            .id()
            .and_then(|id| Pid::from_raw(id.cast_signed()))
            .ok_or_else(|| spawn_error(io::Error::other("the process has no id")))?;
        let exited = CancellationToken::new();
        let last_words = Arc::new(Mutex::new(VecDeque::new()));
        let listening = child
            .stderr
            .take()
            .map(|stderr| tokio::spawn(listen(stderr, Arc::clone(&last_words))));
        tasks.spawn(reap(child, group, profile, exited.clone()));
        let connection = Connection::new(to_browser, from_browser);
        let mut browser = Self {
            connection,
            is_for_frames,
            is_without_frames,
            version: String::new(),
            group,
            exited,
            retiring: AtomicBool::new(false),
            renders: AtomicU64::new(0),
            sessions: AtomicUsize::new(0),
            tenants: memory::Tenants::default(),
            held_by_pages: AtomicU64::new(0),
            bloated: CancellationToken::new(),
        };
        let silent = |said: &Mutex<VecDeque<String>>| {
            let said = said.lock().unwrap_or_else(PoisonError::into_inner);
            let last_words = said.iter().map(String::as_str).collect::<Vec<_>>().join(" | ");
            // Chromium's own message would advise `--no-sandbox`.
            if last_words.contains(NO_SANDBOX) {
                return LaunchError::NoSandbox;
            }
            LaunchError::Silent {
                path: path.clone(),
                last_words,
            }
        };
        let version = tokio::time::timeout(START_LIMIT, browser.connection.execute(&GetVersionParams::default())).await;
        let Ok(Ok(version)) = version else {
            browser.kill();
            browser.exited().await;
            // The process may end before its last line is read, and a child process may hold stderr open.
            if let Some(listening) = listening {
                let _ = tokio::time::timeout(LAST_WORDS_LIMIT, listening).await;
            }
            return Err(silent(&last_words));
        };
        browser.version = version.product;
        let browser = Arc::new(browser);
        let limit = config.page_memory_limit;
        tokio::spawn(memory::watch_renderers(Arc::downgrade(&browser), limit));
        tokio::spawn(memory::watch_shared(Arc::downgrade(&browser), limit));
        Ok(browser)
    }

    /// Waits until all processes have ended and the profile directory is removed.
    pub(crate) async fn exited(&self) {
        self.exited.cancelled().await;
    }

    /// Returns whether the browser can render.
    pub(crate) fn is_alive(&self) -> bool {
        !self.connection.is_closed() && !self.exited.is_cancelled()
    }

    /// Returns whether the browser has died or dies within [`DYING_LIMIT`]: the first sign of a dying browser may be
    /// the end of its renderer processes.
    pub(crate) async fn is_dying(&self) -> bool {
        tokio::time::timeout(DYING_LIMIT, self.connection.closed())
            .await
            .is_ok()
    }

    /// Returns whether new sessions may be created in this browser.
    pub(crate) fn takes_sessions(&self) -> bool {
        self.is_alive() && !self.retiring.load(Ordering::Acquire)
    }

    /// Adds one to the number of renders.
    pub(crate) fn count_render(&self) {
        self.renders.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of renders so far.
    pub(crate) fn renders(&self) -> u64 {
        self.renders.load(Ordering::Relaxed)
    }

    /// Makes the browser accept no new sessions.
    pub(crate) fn retire(&self) {
        self.retiring.store(true, Ordering::Release);
    }

    /// Returns the current renderer processes.
    pub(crate) fn renderers(&self) -> Vec<Pid> {
        processes::renderers(self.group)
    }

    /// Kills the browser and all its child processes.
    pub(crate) fn kill(&self) {
        if !self.exited.is_cancelled() {
            let _ = rustix::process::kill_process_group(self.group, Signal::KILL);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Creates a profile directory that only the browser's user can access.
fn make_profile(parent: &Path, run_as: Option<RunAs>) -> io::Result<TempDir> {
    fs::create_dir_all(parent)?;
    let profile = tempfile::Builder::new().prefix("chromium-").tempdir_in(parent)?;
    fs::set_permissions(profile.path(), fs::Permissions::from_mode(0o700))?;
    if let Some(user) = run_as {
        std::os::unix::fs::chown(profile.path(), Some(user.uid), Some(user.gid))?;
    }
    Ok(profile)
}

fn spawn(
    path: &Path,
    arguments: &[String],
    profile: &Path,
    run_as: Option<RunAs>,
) -> io::Result<(Child, pipe::Sender, pipe::Receiver)> {
    let (browser_reads, we_write) = io::pipe()?;
    let (we_read, browser_writes) = io::pipe()?;
    for end in [
        OwnedFd::from(we_write.try_clone()?),
        OwnedFd::from(we_read.try_clone()?),
    ] {
        // May exceed the limit of an unprivileged user; the default size works too.
        let _ = rustix::pipe::fcntl_setpipe_size(&end, PIPE_BYTES);
    }
    let mut command = std::process::Command::new(path);
    command
        .args(arguments)
        .env_clear()
        .env("HOME", profile)
        // Chromium stores a printed document in a temporary file until it is read.
        .env("TMPDIR", profile)
        .env("XDG_CACHE_HOME", profile.join("cache"))
        .env("XDG_CONFIG_HOME", profile.join("config"))
        .env("PATH", "/usr/bin:/bin")
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC")
        .env("DBUS_SESSION_BUS_ADDRESS", "disabled:")
        .current_dir(profile)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    if let Some(user) = run_as {
        command.uid(user.uid).gid(user.gid);
    }
    command
        .fd_mappings(vec![
            FdMapping {
                parent_fd: browser_reads.into(),
                child_fd: 3,
            },
            FdMapping {
                parent_fd: browser_writes.into(),
                child_fd: 4,
            },
        ])
        .map_err(io::Error::other)?;
    // The command owns the browser's ends of the pipes and must be dropped, or the pipe would never reach its end.
    let child = Command::from(command).kill_on_drop(true).spawn()?;
    let to_browser = pipe::Sender::from_owned_fd(we_write.into())?;
    let from_browser = pipe::Receiver::from_owned_fd(we_read.into())?;
    Ok((child, to_browser, from_browser))
}

/// Waits for the browser to end, kills remaining processes of its group, and removes its profile once they have ended.
async fn reap(mut child: Child, group: Pid, profile: TempDir, exited: CancellationToken) {
    let status = child.wait().await;
    let gone = async {
        while processes::group_lives(group) {
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    if tokio::time::timeout(GROUP_END_LIMIT, gone).await.is_err() {
        tracing::error!(
            group = group.as_raw_nonzero().get(),
            "processes of a browser are still running after they were killed"
        );
    }
    tracing::debug!(?status, profile = %profile.path().display(), "browser ended");
    drop(profile);
    exited.cancel();
}

/// Stores the last lines of stderr, truncated: the browser repeats errors of pages at any length.
async fn listen(stderr: ChildStderr, last_words: Arc<Mutex<VecDeque<String>>>) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        let available = reader.fill_buf().await.unwrap_or_default();
        let is_last = available.is_empty();
        let end = available.iter().position(|&byte| byte == b'\n');
        let piece = &available[..end.unwrap_or(available.len())];
        let room = STDERR_LINE_LENGTH - line.len();
        line.extend_from_slice(&piece[..piece.len().min(room)]);
        let used = piece.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() || is_last {
            note(String::from_utf8_lossy(&line).into_owned(), &last_words);
            line.clear();
        }
        if is_last {
            return;
        }
    }
}

fn note(line: String, last_words: &Mutex<VecDeque<String>>) {
    tracing::trace!(line, "browser");
    // Headless machines have no D-Bus, which the browser reports at length.
    if line.is_empty() || line.contains("/dbus/") {
        return;
    }
    let mut last_words = last_words.lock().unwrap_or_else(PoisonError::into_inner);
    if last_words.len() == STDERR_LINES {
        last_words.pop_front();
    }
    last_words.push_back(line);
}
