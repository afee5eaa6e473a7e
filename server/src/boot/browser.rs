//! Starts the browsers with the settings' limits, as the right user, behind the egress guard.

use std::{io, os::unix::fs::chown, sync::Arc};

use platen_egress::{
    guard::{Guard, GuardLimits},
    policy::AddressPolicy,
    resolve::SystemResolver,
};
use platen_engine::{
    Engine, StartError,
    config::{EngineConfig, RunAs},
};
use tempfile::TempDir;

use crate::{
    config::Config,
    system_user::{self, BROWSER_USER, SystemUserError},
};

/// Why no browser runs.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// It does not start.
    #[error("the browser does not start: {0}")]
    Start(#[from] StartError),
    /// There is no user to run it as.
    #[error(transparent)]
    User(#[from] SystemUserError),
    /// No place for its profile.
    #[error("a folder for the browser's profile can't be made among the temporary files (TMPDIR): {0}")]
    Profile(#[from] io::Error),
}

/// Running browsers.
pub struct Browsers {
    /// Renders.
    pub engine: Engine,
    /// Their profiles; removed with this value.
    _profiles: TempDir,
}

/// Starts them.
pub async fn start(config: &Config) -> Result<Browsers, BrowserError> {
    if !config.browser.sandbox {
        tracing::warn!(
            "THE BROWSER'S SANDBOX IS OFF (PLATEN_CHROMIUM_SANDBOX=off): a page that breaks out of Chromium can do \
             whatever this user can. Render only pages that you trust."
        );
    }
    let run_as = system_user::unprivileged(BROWSER_USER)?;
    let profiles = tempfile::Builder::new().prefix("platen-browser-").tempdir()?;
    if let Some(user) = &run_as {
        chown(profiles.path(), Some(user.uid), Some(user.gid))?;
    }
    let guard = Guard::new(
        AddressPolicy::new(config.egress.allow.clone()),
        Arc::new(SystemResolver::default()),
        GuardLimits::default(),
    );
    let engine = Engine::start(EngineConfig {
        chromium: config.browser.chromium.clone(),
        sandbox: config.browser.sandbox,
        browsers: config.browser.browsers,
        slots: config.browser.slots,
        sessions: config.browser.sessions,
        queue_limit: config.limits.queue_limit,
        page_memory_limit: config.browser.page_memory_bytes,
        renders_per_browser: config.browser.renders_per_browser,
        profile_dir: profiles.path().to_owned(),
        run_as: run_as.map(|user| RunAs {
            uid: user.uid,
            gid: user.gid,
        }),
        guard,
    })
    .await?;
    Ok(Browsers {
        engine,
        _profiles: profiles,
    })
}
