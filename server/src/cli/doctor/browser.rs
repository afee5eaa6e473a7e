//! Checks that Chromium is installed, starts, prints and is sandboxed.

use std::time::Duration;

use platen_core::config::Config;

use crate::{
    boot::browser::{self, Browsers},
    cli::doctor::Finding,
};

pub(super) async fn look(config: &Config) -> Vec<Finding> {
    let Some(path) = config.browser.chromium.clone().or_else(platen_engine::find_chromium) else {
        let remedy = "deploy/setup.sh installs chromium-headless-shell; or set PLATEN_CHROMIUM to its path";
        return vec![Finding::broken("Chromium", "not found", remedy)];
    };
    let browsers = match browser::start(config, browser::guard(config)).await {
        Ok(browsers) => browsers,
        Err(error) => {
            let remedy = "deploy/setup.sh installs what it needs; its sandbox needs user namespaces \
                          (sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces; deploy/chromium-seccomp.json \
                          in a container)";
            return vec![Finding::broken(
                "Chromium",
                format!("{}: {error}", path.display()),
                remedy,
            )];
        }
    };
    let mut findings = vec![Finding::fine(
        "Chromium",
        format!("{} in {}", browsers.engine.status().version, path.display()),
    )];
    if platen_engine::is_full_browser(&path) {
        findings.push(Finding::warning(
            "Chromium",
            "this is the full browser, which prints about four times slower than the headless shell and draws every page for a \
             screen as well",
            "apt-get install chromium-headless-shell",
        ));
    }
    findings.push(sandbox(config, &browsers).await);
    browsers.engine.shutdown(Duration::ZERO).await;
    findings
}

async fn sandbox(config: &Config, browsers: &Browsers) -> Finding {
    if !config.browser.sandbox {
        let fact = "OFF: a page that exploits Chromium can do whatever the browser's user can";
        return Finding::warning("Sandbox", fact, "unset PLATEN_CHROMIUM_SANDBOX");
    }
    if browsers.engine.is_sandboxed().await {
        Finding::fine("Sandbox", "on, verified for the running processes")
    } else {
        let fact = "enabled, but the running processes are not sandboxed";
        Finding::broken(
            "Sandbox",
            fact,
            "use another Chromium, or a kernel with user namespaces and seccomp",
        )
    }
}
