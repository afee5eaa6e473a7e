//! What the engine needs to know of its surroundings.

use std::{path::PathBuf, sync::Arc};

use platen_egress::guard::Guard;

/// What a browser's own processes hold, in bytes, without what pages store in them: about 170 MB, and some for each
/// session.
pub const BROWSER_MEMORY: u64 = 256 << 20;
/// The same of a browser beside another one, which shares the program with it: 43 MB when it is new.
pub const SECOND_BROWSER_MEMORY: u64 = 128 << 20;
/// Slots beyond [`EngineConfig::slots`], for accounts that have none while their callers wait.
pub const SPARE_SLOTS: usize = 1;

/// Settings of an engine; each has a default in the server's configuration.
#[derive(Clone)]
pub struct EngineConfig {
    /// The browser's real binary (not Debian's wrapper script). `None`: looked for, see [`crate::find_chromium`].
    pub chromium: Option<PathBuf>,
    /// Chromium's own sandbox. Off only on an operator's explicit word.
    pub sandbox: bool,
    /// Browsers to keep running, each a crash domain; and once a page may wait for frames, as many for such pages.
    pub browsers: usize,
    /// Renders at once, over all browsers.
    pub slots: usize,
    /// Sessions kept at most, over all browsers; more than `slots`.
    pub sessions: usize,
    /// Memory of all pages together, in bytes, above which idle sessions are closed, except for one for each slot.
    pub pages_memory: u64,
    /// Renders that may wait for a slot.
    pub queue_limit: usize,
    /// A renderer process above this is killed, in bytes.
    pub page_memory_limit: u64,
    /// A browser is replaced after so many renders.
    pub renders_per_browser: u64,
    /// Profile folders are made here; must be writable by the user that runs the browser.
    pub profile_dir: PathBuf,
    /// As root: the unprivileged user that runs the browser.
    pub run_as: Option<RunAs>,
    /// The only way out.
    pub guard: Arc<Guard>,
}

/// An unprivileged user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunAs {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}
