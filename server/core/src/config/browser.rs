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

const CHROMIUM: Setting = Setting {
    name: "PLATEN_CHROMIUM",
    purpose: "Path of Chromium's binary, not of a wrapper script.",
    allowed: "path of an existing file",
    default: "chrome-headless-shell, else Debian's chromium-headless-shell, else chromium",
};
const SANDBOX: Setting = Setting {
    name: "PLATEN_CHROMIUM_SANDBOX",
    purpose: "Chromium's sandbox. Off is dangerous: a page that exploits Chromium then acts as the browser's user.",
    allowed: "on, off",
    default: "on",
};
const BROWSERS: Setting = Setting {
    name: "PLATEN_BROWSERS",
    purpose: "Browsers to run, and as many again for pages with scripts once there are any; if one crashes, the others \
              continue.",
    allowed: "1 to 64",
    default: "one for every four cores",
};
const SLOTS: Setting = Setting {
    name: "PLATEN_SLOTS",
    purpose: "Concurrent renders. While other accounts hold all slots, an account without one gets a spare slot.",
    allowed: "1 to 512",
    default: "number of cores and one, if PLATEN_MEMORY_MB leaves 128 MB for each",
};
const SESSIONS: Setting = Setting {
    name: "PLATEN_SESSIONS",
    purpose: "Maximum number of sessions that are kept ready; fewer if PLATEN_MEMORY_MB leaves no memory for them.",
    allowed: "1 to 1024, more than PLATEN_SLOTS",
    default: "32 for each of PLATEN_SLOTS",
};
const PAGE_MEMORY_MB: Setting = Setting {
    name: "PLATEN_PAGE_MEMORY_MB",
    purpose: "Megabytes that one page may use before its render is aborted.",
    allowed: "128 to 65536",
    default: "1024, or what PLATEN_MEMORY_MB leaves for each of PLATEN_SLOTS and the spare slot",
};
const RENDERS_PER_BROWSER: Setting = Setting {
    name: "PLATEN_RENDERS_PER_BROWSER",
    purpose: "Renders after which a browser is replaced.",
    allowed: "1 to 1000000",
    default: "5000",
};

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
    pub(super) fn from_env(reader: &mut Reader, private_database: bool) -> Option<(Self, MemoryConfig)> {
        let cores = available_parallelism().map_or(1, std::num::NonZero::get);
        let chromium = reader.parsed_or(&CHROMIUM, None, |text| {
            Some(PathBuf::from(text)).filter(|path| path.is_file())
        });
        let sandbox = reader.switch(&SANDBOX);
        let browsers = reader.number_or(&BROWSERS, cores.div_ceil(4), 1..=64);
        let memory = browsers.and_then(|browsers| MemoryConfig::from_env(reader, browsers, private_database));
        let page_memory = memory.map_or(u64::MAX, |memory| memory.pages / MIB);
        // Data that pages store in a browser's own processes is limited to the memory of one more page. Each browser
        // has a second one beside it, for scripts.
        let further = 2 * browsers.unwrap_or(1) as u64 + SPARE_SLOTS as u64;
        let most_slots = (page_memory / LEAST_PAGE_MEMORY).saturating_sub(further);
        let slots = reader.number_or(&SLOTS, (cores as u64 + 1).clamp(1, most_slots.max(1)) as usize, 1..=512);
        let sessions = reader.number_or(
            &SESSIONS,
            (slots.unwrap_or(cores) * SESSIONS_PER_SLOT).min(1024),
            1..=1024,
        );
        let pages = slots.unwrap_or(1) as u64 + further;
        let page_memory_mb = reader.number_or(
            &PAGE_MEMORY_MB,
            (page_memory / pages).clamp(LEAST_PAGE_MEMORY, PAGE_MEMORY),
            LEAST_PAGE_MEMORY..=65536,
        );
        let renders_per_browser = reader.number(&RENDERS_PER_BROWSER, 1..=1_000_000);
        if let (Some(sessions), Some(slots)) = (sessions, slots)
            && sessions < slots + SPARE_SLOTS
        {
            reader.contradiction(format_args!(
                "PLATEN_SESSIONS ({sessions}) is below PLATEN_SLOTS ({slots}) plus the spare slot: each running render \
                 needs a session"
            ));
        }
        if let (Some(memory), Some(slots), Some(page_memory_mb)) = (memory, slots, page_memory_mb)
            && page_memory_mb * pages > page_memory
        {
            reader.contradiction(format_args!(
                "{pages} times PLATEN_PAGE_MEMORY_MB ({page_memory_mb}), for PLATEN_SLOTS ({slots}), the spare slot \
                 and two for each of PLATEN_BROWSERS, exceeds the {page_memory} MB left for pages of a total of {} MB \
                 (PLATEN_MEMORY_MB)",
                memory.total / MIB
            ));
        }
        let config = Self {
            chromium,
            sandbox: sandbox?,
            browsers: browsers?,
            slots: slots?,
            sessions: sessions?,
            page_memory_bytes: page_memory_mb? * MIB,
            renders_per_browser: renders_per_browser?,
        };
        Some((config, memory?))
    }
}
