//! Starts the browsers with the limits of the settings, as the right user, behind the egress guard.

use std::{
    env,
    fs::{self, File},
    io,
    os::unix::fs::{PermissionsExt, chown},
    sync::Arc,
    time::Duration,
};

use platen_core::config::Config;
use platen_egress::{
    allow::AllowList,
    guard::{Guard, GuardLimits},
    policy::AddressPolicy,
    resolve::{Resolve, SystemResolver},
};
#[cfg(feature = "simulation")]
use platen_engine::simulation::Simulation;
use platen_engine::{
    Engine, StartError,
    config::{EngineConfig, RunAs},
};
use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

use crate::system_user::{self, BROWSER_USER, SystemUser, SystemUserError};

const PROFILE_PREFIX: &str = "platen-browser-";
/// Creating and locking a folder takes much less time.
const UNLOCKED_AGE: Duration = Duration::from_mins(1);

/// Why the browsers could not be started.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    #[error("the browser could not be started: {0}")]
    Start(#[from] StartError),
    #[error(transparent)]
    User(#[from] SystemUserError),
    /// The folder for profiles could not be created.
    #[error("the folder for the browser's profile can't be created in the temporary folder (TMPDIR): {0}")]
    Profile(#[from] io::Error),
}

/// Running browsers.
pub struct Browsers {
    pub engine: Engine,
    /// The profiles, which are removed when this value is dropped.
    _profiles: Profiles,
}

#[cfg(feature = "simulation")]
impl Browsers {
    /// Creates an engine without browsers.
    pub fn simulate(config: &Config, guard: Arc<Guard>, simulation: Simulation) -> Result<Self, BrowserError> {
        let profiles = Profiles::make(None)?;
        Ok(Self {
            engine: Engine::simulate(engine_config(config, guard, &profiles, None), simulation),
            _profiles: profiles,
        })
    }
}

/// Creates the guard that decides which addresses pages, webhooks and storage connections may reach.
pub fn guard(config: &Config) -> Arc<Guard> {
    guard_with(config.egress.allow.clone(), SystemResolver::default())
}

/// Like [`guard`], with other exceptions from the address policy and another resolver.
pub fn guard_with(allow: AllowList, resolver: impl Resolve + 'static) -> Arc<Guard> {
    Guard::new(AddressPolicy::new(allow), Arc::new(resolver), GuardLimits::default())
}

/// Starts the browsers; they reach the network only through the guard.
pub async fn start(config: &Config, guard: Arc<Guard>) -> Result<Browsers, BrowserError> {
    if !config.browser.sandbox {
        tracing::warn!(
            "THE BROWSER'S SANDBOX IS OFF (PLATEN_CHROMIUM_SANDBOX=off): a page that breaks out of Chromium can do \
             whatever this user can. Render only pages that you trust."
        );
    }
    let run_as = system_user::unprivileged(BROWSER_USER)?;
    let profiles = Profiles::make(run_as.as_ref())?;
    Ok(Browsers {
        engine: Engine::start(engine_config(config, guard, &profiles, run_as)).await?,
        _profiles: profiles,
    })
}

fn engine_config(config: &Config, guard: Arc<Guard>, profiles: &Profiles, run_as: Option<SystemUser>) -> EngineConfig {
    EngineConfig {
        chromium: config.browser.chromium.clone(),
        sandbox: config.browser.sandbox,
        browsers: config.browser.browsers,
        slots: config.browser.slots,
        sessions: config.browser.sessions,
        pages_memory: config.memory.pages,
        queue_limit: config.limits.queue_limit,
        page_memory_limit: config.browser.page_memory_bytes,
        renders_per_browser: config.browser.renders_per_browser,
        profile_dir: profiles.folder.path().to_owned(),
        run_as: run_as.map(|user| RunAs {
            uid: user.uid,
            gid: user.gid,
        }),
        guard,
    }
}

/// The folder of the profiles, and the lock that distinguishes it from folders of killed processes.
struct Profiles {
    folder: TempDir,
    _lock: File,
}

impl Profiles {
    fn make(owner: Option<&SystemUser>) -> io::Result<Self> {
        remove_leftovers();
        let private = fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new()
            .prefix(PROFILE_PREFIX)
            .permissions(private)
            .tempdir()?;
        let lock = File::open(folder.path())?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        if let Some(user) = owner {
            chown(folder.path(), Some(user.uid), Some(user.gid))?;
        }
        Ok(Self { folder, _lock: lock })
    }
}

/// Removes profiles of dead processes. Folders that can't be removed belong to another user and remain.
fn remove_leftovers() {
    for entry in fs::read_dir(env::temp_dir()).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PROFILE_PREFIX) {
            continue;
        }
        // A folder created just now may not be locked yet.
        let age = entry
            .metadata()
            .and_then(|metadata| metadata.modified())
            .map(|made| made.elapsed());
        let settled = matches!(age, Ok(Ok(age)) if age > UNLOCKED_AGE);
        let abandoned = File::open(entry.path())
            .is_ok_and(|folder| flock(folder, FlockOperation::NonBlockingLockExclusive).is_ok());
        if settled && abandoned {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
