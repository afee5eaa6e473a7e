//! The raw client's own Chromium: started with the flags of Platen's browsers, and stopped at the end of the run.

use std::{
    os::unix::{fs::chown, process::CommandExt as _},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use command_fds::{CommandFdExt as _, FdMapping};
use tokio::{net::unix::pipe, process::Child, time::timeout};

use crate::{
    devtools::{DevTools, PageSession},
    error::LoadError,
};

/// Chromium refuses its sandbox as root; root runs it as this user, which the setup script creates.
const BROWSER_USER: &str = "platen-browser";

/// Those flags of Platen's own browsers that affect the speed or the result of printing.
const FLAGS: [&str; 16] = [
    "--headless",
    "--no-first-run",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-renderer-backgrounding",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--mute-audio",
    // With these features, each reset to about:blank creates a new frame host, which costs a third of the throughput.
    "--disable-features=RenderDocument,BackForwardCache",
    "--enable-features=NetworkServiceInProcess2",
];

/// Whether pages are composited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frames {
    /// As for a screen.
    Drawn,
    /// Under `BeginFrame` control, without frame requests.
    None,
}

/// A running Chromium with its own profile folder; [`Browser::close`] removes both.
pub(crate) struct Browser {
    child: Child,
    devtools: DevTools,
    frames: Frames,
    // Removed when dropped.
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts the Chromium binary (not a wrapper script) with its sandbox enabled.
    pub(crate) fn launch(chromium: &Path, frames: Frames) -> Result<Self, LoadError> {
        let profile = tempfile::Builder::new().prefix("platen-load-").tempdir()?;
        let (commands_in, commands_out) = std::io::pipe()?;
        let (answers_in, answers_out) = std::io::pipe()?;
        let mut command = Command::new(chromium);
        command
            .arg("--remote-debugging-pipe")
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(FLAGS)
            .args((frames == Frames::None).then_some("--enable-begin-frame-control"))
            .process_group(0)
            .env_clear()
            .env("HOME", profile.path())
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .fd_mappings(vec![
                FdMapping {
                    parent_fd: commands_in.into(),
                    child_fd: 3,
                },
                FdMapping {
                    parent_fd: answers_out.into(),
                    child_fd: 4,
                },
            ])
            .map_err(|error| LoadError::Chromium(error.to_string()))?;
        if rustix::process::geteuid().is_root() {
            let (uid, gid) = browser_user()?;
            chown(profile.path(), Some(uid), Some(gid))?;
            command.uid(uid).gid(gid);
        }
        let child = tokio::process::Command::from(command)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| LoadError::Chromium(format!("{}: {error}", chromium.display())))?;
        let devtools = DevTools::connect(
            pipe::Sender::from_owned_fd(commands_out.into())?,
            pipe::Receiver::from_owned_fd(answers_in.into())?,
        );
        Ok(Self {
            child,
            devtools,
            frames,
            _profile: profile,
        })
    }

    /// Returns the id of the browser process; fails if it has exited.
    pub(crate) fn pid(&self) -> Result<u32, LoadError> {
        self.child
            .id()
            .ok_or_else(|| LoadError::Chromium("has already exited".into()))
    }

    /// Opens a tab and attaches to it.
    pub(crate) async fn open_page(&self) -> Result<PageSession, LoadError> {
        self.devtools.open_page(self.frames).await
    }

    /// Returns a DevTools client for this browser.
    pub(crate) fn devtools(&self) -> DevTools {
        self.devtools.clone()
    }

    /// Closes Chromium, and kills it if it doesn't exit within 5 seconds.
    pub(crate) async fn close(mut self) -> Result<(), LoadError> {
        const PATIENCE: Duration = Duration::from_secs(5);
        let _ = timeout(PATIENCE, self.devtools.close_browser()).await;
        if timeout(PATIENCE, self.child.wait()).await.is_err() {
            self.child.kill().await?;
        }
        Ok(())
    }
}

/// Returns the user and group id of [`BROWSER_USER`].
fn browser_user() -> Result<(u32, u32), LoadError> {
    let passwd = std::fs::read_to_string("/etc/passwd")?;
    passwd
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>())
        .find(|fields| fields.first() == Some(&BROWSER_USER))
        .and_then(|fields| Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?)))
        .ok_or_else(|| {
            LoadError::Chromium(format!(
                "can't be sandboxed as root: create an unprivileged user with `useradd --system {BROWSER_USER}`"
            ))
        })
}
