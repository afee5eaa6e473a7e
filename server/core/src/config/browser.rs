//! Settings of the browsers that render.

use std::{path::PathBuf, thread::available_parallelism};

use platen_engine::config::SPARE_SLOTS;

use crate::config::{
    memory::MemoryConfig,
    reader::{Reader, Setting},
};

const MIB: u64 = 1 << 20;
/// Memory limit of a page where there is enough memory, in megabytes.
const PAGE_MEMORY: u64 = 1024;
/// Each session takes 25 to 40 MB, and its processes are inspected several times a second.
const SESSIONS_PER_SLOT: usize = 32;
/// With less, hardly any page can be printed. In megabytes.
const LEAST_PAGE_MEMORY: u64 = 128;

const CHROMIUM: Setting = Setting::new("PLATEN_CHROMIUM", "path of an existing file")
    .default("chrome-headless-shell, else Debian's chromium-headless-shell, else chromium")
    .purpose("Path of Chromium's binary, not of a wrapper script.");
const SANDBOX: Setting = Setting::new("PLATEN_CHROMIUM_SANDBOX", "on, off")
    .default("on")
    .purpose("Chromium's sandbox. Off is dangerous: a page that exploits Chromium then acts as the browser's user.");
const BROWSERS: Setting = Setting::new("PLATEN_BROWSERS", "1 to 64")
    .default("one for every four cores")
    .purpose(
        "Browsers to run, and as many again for pages with scripts once there are any; if one crashes, the others \
         continue.",
    );
const SLOTS: Setting = Setting::new("PLATEN_SLOTS", "1 to 512")
    .default("number of cores and one, if PLATEN_MEMORY_MB leaves 128 MB for each")
    .purpose("Concurrent renders. While other accounts hold all slots, an account without one gets a spare slot.");
const SESSIONS: Setting = Setting::new("PLATEN_SESSIONS", "1 to 1024, more than PLATEN_SLOTS")
    .default("32 for each of PLATEN_SLOTS")
    .purpose("Maximum number of sessions that are kept ready; fewer if PLATEN_MEMORY_MB leaves no memory for them.");
const PAGE_MEMORY_MB: Setting = Setting::new("PLATEN_PAGE_MEMORY_MB", "128 to 65536")
    .default("1024, or what PLATEN_MEMORY_MB leaves for each of PLATEN_SLOTS and the spare slot")
    .purpose("Megabytes that one page may use before its render is aborted.");
const RENDERS_PER_BROWSER: Setting = Setting::new("PLATEN_RENDERS_PER_BROWSER", "1 to 1000000")
    .default("5000")
    .purpose("Renders after which a browser is replaced.");

pub(super) const SETTINGS: &[&Setting] = &[
    &CHROMIUM,
    &SANDBOX,
    &BROWSERS,
    &SLOTS,
    &SESSIONS,
    &PAGE_MEMORY_MB,
    &RENDERS_PER_BROWSER,
];

#[derive(Debug)]
pub struct BrowserConfig {
    /// `None` to search for an installed browser.
    pub chromium: Option<PathBuf>,
    /// Whether Chromium's sandbox is on.
    pub sandbox: bool,
    /// The number of browsers to run.
    pub browsers: usize,
    /// Concurrent renders, without the spare slot.
    pub slots: usize,
    /// The maximum number of sessions.
    pub sessions: usize,
    /// Memory limit of a page, in bytes.
    pub page_memory_bytes: u64,
    pub renders_per_browser: u64,
}

impl BrowserConfig {
    /// Reads the settings of the browsers, and of the memory that they share with everything else.
    pub(super) fn from_env(reader: &mut Reader, private_database: bool) -> (Self, MemoryConfig) {
        let earlier_problems = reader.problems.len();
        let cores = available_parallelism().map_or(1, std::num::NonZero::get);
        let browsers = reader.number_if_set(&BROWSERS, 1..=64).unwrap_or(cores.div_ceil(4));
        let memory = MemoryConfig::from_env(reader, browsers, private_database);
        let page_memory = memory.pages / MIB;
        // Data that pages store in a browser's own processes is limited to the memory of one more page. Each browser
        // has a second one beside it, for scripts.
        let further = (2 * browsers + SPARE_SLOTS) as u64;
        let most_slots = (page_memory / LEAST_PAGE_MEMORY).saturating_sub(further);
        let default_slots = (cores as u64 + 1).clamp(1, most_slots.max(1)) as usize;
        let slots = reader.number_if_set(&SLOTS, 1..=512).unwrap_or(default_slots);
        let sessions = reader.number_if_set(&SESSIONS, 1..=1024);
        let sessions = sessions.unwrap_or((slots * SESSIONS_PER_SLOT).min(1024));
        let pages = slots as u64 + further;
        let page_memory_mb = reader.number_if_set(&PAGE_MEMORY_MB, LEAST_PAGE_MEMORY..=65536);
        let page_memory_mb = page_memory_mb.unwrap_or((page_memory / pages).clamp(LEAST_PAGE_MEMORY, PAGE_MEMORY));
        // An invalid value contradicts nothing.
        let is_valid = reader.problems.len() == earlier_problems;
        if is_valid && sessions < slots + SPARE_SLOTS {
            reader.contradiction(format_args!(
                "PLATEN_SESSIONS ({sessions}) is below PLATEN_SLOTS ({slots}) plus the spare slot: each running render \
                 needs a session"
            ));
        }
        if is_valid && page_memory_mb * pages > page_memory {
            reader.contradiction(format_args!(
                "{pages} times PLATEN_PAGE_MEMORY_MB ({page_memory_mb}), for PLATEN_SLOTS ({slots}), the spare slot \
                 and two for each of PLATEN_BROWSERS, exceeds the {page_memory} MB left for pages of a total of {} MB \
                 (PLATEN_MEMORY_MB)",
                memory.total / MIB
            ));
        }
        let config = Self {
            chromium: reader.parsed_if_set(&CHROMIUM, |text| {
                Some(PathBuf::from(text)).filter(|path| path.is_file())
            }),
            sandbox: reader.switch(&SANDBOX),
            browsers,
            slots,
            sessions,
            page_memory_bytes: page_memory_mb * MIB,
            renders_per_browser: reader.number(&RENDERS_PER_BROWSER, 1..=1_000_000),
        };
        (config, memory)
    }
}
