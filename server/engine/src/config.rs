//! Settings of the engine.

use std::{path::PathBuf, sync::Arc};

use platen_egress::guard::Guard;

/// Memory of a browser's own processes, in bytes, without the data of pages: about 170 MB, and some for each session.
pub const BROWSER_MEMORY: u64 = 256 << 20;
/// Memory of a further browser, in bytes, which shares the loaded program with the first: 43 MB when it is new.
pub const SECOND_BROWSER_MEMORY: u64 = 128 << 20;
/// Slots beyond [`EngineConfig::slots`], for accounts that hold none and whose callers wait.
pub const SPARE_SLOTS: usize = 1;

/// Settings of an engine. The server's configuration defines the defaults.
#[derive(Clone)]
pub struct EngineConfig {
    /// The browser's binary (not Debian's wrapper script). If `None`, [`crate::find_chromium`] searches for it.
    pub chromium: Option<PathBuf>,
    /// Whether Chromium's sandbox is on. Off only if the operator disables it explicitly.
    pub sandbox: bool,
    /// Number of browsers to run, each a crash domain. The first page that may wait for frames starts as many again for
    /// such pages.
    pub browsers: usize,
    /// Concurrent renders, over all browsers.
    pub slots: usize,
    /// Maximum number of sessions, over all browsers; more than `slots`.
    pub sessions: usize,
    /// Memory of all pages together, in bytes, above which idle sessions are closed, except for one for each slot.
    pub pages_memory: u64,
    /// Renders that may wait for a slot.
    pub queue_limit: usize,
    /// Memory of a renderer process, in bytes, above which it is killed.
    pub page_memory_limit: u64,
    /// Number of renders after which a browser is replaced.
    pub renders_per_browser: u64,
    /// Directory for profile directories; must be writable by the user that runs the browser.
    pub profile_dir: PathBuf,
    /// The unprivileged user that runs the browser if the service runs as root.
    pub run_as: Option<RunAs>,
    /// The address policy that all network access of pages goes through.
    pub guard: Arc<Guard>,
}

/// An unprivileged user of the operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunAs {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}
