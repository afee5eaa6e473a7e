//! Which browser is started, and with which flags.

use std::path::{Path, PathBuf};

/// Where the headless shell and the full browser lie, best first. Debian's `/usr/bin/chromium*` are wrapper scripts that
/// do not `exec`, so that killing them leaves the browser alive: only real binaries are named here.
const CANDIDATES: [&str; 6] = [
    "/usr/lib/chromium/chromium-headless-shell",
    "/opt/chrome-headless-shell/chrome-headless-shell",
    "/usr/bin/chrome-headless-shell",
    "/usr/lib/chromium/chromium",
    "/opt/google/chrome/chrome",
    "/usr/lib/chromium-browser/chromium-browser",
];

/// The browser to start when the operator names none: the headless shell, else a full Chromium, as the real binary.
pub fn find_chromium() -> Option<PathBuf> {
    CANDIDATES.iter().map(PathBuf::from).find(|path| path.is_file())
}

/// Whether this is the full browser, which prints the same page about four times slower than the headless shell, and draws
/// every page for a screen as well.
pub fn is_full_browser(path: &Path) -> bool {
    !path
        .file_name()
        .is_some_and(|name| name.to_string_lossy().contains("headless"))
}

/// Flags of every browser. The proxy, which is the only way out, is set for each context; the default context, which no
/// page uses, has one that does not answer.
const FLAGS: [&str; 43] = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    // The browser's own traffic.
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-pings",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
    // Ways around the proxy.
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    "--disable-quic",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    // Pages do not open windows.
    "--block-new-web-contents",
    "--disable-popup-blocking",
    // Pages that nobody looks at run at full speed.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    // Paper, not a screen.
    "--disable-gpu",
    "--hide-scrollbars",
    "--mute-audio",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--lang=en-US",
    // Containers give /dev/shm 64 MB.
    "--disable-dev-shm-usage",
    // A page is one process, whose memory is bounded. Frames of other sites would have processes of their own; they are of
    // the same render, and no process ever serves two contexts. (The headless shell isolates no sites by itself.)
    "--disable-site-isolation-trials",
    // The GPU process may end as often as it likes; after the sixth time the browser would end as well.
    "--disable-gpu-process-crash-limit",
    // A page that exhausts the JavaScript heap ends its own renderer.
    "--js-flags=--max-old-space-size=512",
    // RenderDocument and BackForwardCache give each reset to about:blank a new frame host, which costs a third of the
    // throughput; the spare renderer doubles the processes; the rest is the browser's own network traffic.
    "--disable-features=RenderDocument,BackForwardCache,SpareRendererForSitePerProcess,MediaRouter,Translate,\
     OptimizationHints,InterestFeedContentSuggestions,DialMediaRouteProvider,AutofillServerCommunication,Prerender2,\
     DnsOverHttps,AsyncDns,NetworkTimeServiceQuerying,IsolateOrigins,site-per-process,IsolateSandboxedIframes",
    "--enable-features=NetworkServiceInProcess2",
];

/// Composites a frame only when DevTools requests one, which Platen never does. Applies to targets that are created with
/// `enableBeginFrameControl`; the full browser does not support it.
const FRAMES_ON_DEMAND: &str = "--enable-begin-frame-control";

/// The command line of a browser whose profile lies in `profile`.
pub(crate) fn arguments(profile: &Path, sandbox: bool, frames_on_demand: bool) -> Vec<String> {
    let mut arguments: Vec<String> = FLAGS.iter().map(ToString::to_string).collect();
    arguments.push(format!("--user-data-dir={}", profile.display()));
    if frames_on_demand {
        arguments.push(FRAMES_ON_DEMAND.to_owned());
    }
    if !sandbox {
        arguments.push("--no-sandbox".to_owned());
    }
    arguments
}
