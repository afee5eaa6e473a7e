//! Chromium's binary and command line.

use std::path::{Path, PathBuf};

/// Paths of the headless shell and the full browser, in order of preference. Debian's `/usr/bin/chromium*` are wrapper
/// scripts that don't `exec`, so killing them would leave the browser running: only real binaries are listed.
const CANDIDATES: [&str; 6] = [
    "/usr/lib/chromium/chromium-headless-shell",
    "/opt/chrome-headless-shell/chrome-headless-shell",
    "/usr/bin/chrome-headless-shell",
    "/usr/lib/chromium/chromium",
    "/opt/google/chrome/chrome",
    "/usr/lib/chromium-browser/chromium-browser",
];

/// Searches for an installed browser: the headless shell, or else a full Chromium. Returns the path of the real binary,
/// or `None` if there is none at the usual paths.
pub fn find_chromium() -> Option<PathBuf> {
    CANDIDATES.iter().map(PathBuf::from).find(|path| path.is_file())
}

/// Returns whether `path` is a full browser, judging by its file name. It prints the same page about four times slower
/// than the headless shell, and also draws every page for a screen.
pub fn is_full_browser(path: &Path) -> bool {
    !path
        .file_name()
        .is_some_and(|name| name.to_string_lossy().contains("headless"))
}

/// Flags of every browser. The proxy, through which all network access goes, is set for each context; the default
/// context, which no page uses, has a proxy that doesn't respond.
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
    // Prevent pages from opening windows.
    "--block-new-web-contents",
    "--disable-popup-blocking",
    // Run pages at full speed although they are not displayed.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    // Output for print rather than a screen.
    "--disable-gpu",
    "--hide-scrollbars",
    "--mute-audio",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--lang=en-US",
    // Containers limit /dev/shm to 64 MB.
    "--disable-dev-shm-usage",
    // A page is one process, whose memory is limited. Frames of other sites would have their own processes; they belong
    // to the same render, and no process ever serves two contexts. (The headless shell doesn't isolate sites by
    // default.)
    "--disable-site-isolation-trials",
    // Without this, the browser would end after the sixth crash of the GPU process.
    "--disable-gpu-process-crash-limit",
    // A page that exhausts the JavaScript heap ends its own renderer process. Threads that collect garbage beside a
    // page cost more time of the cores than they save, and so do frequent collections of young objects.
    "--js-flags=--max-old-space-size=512,--single-threaded-gc,--min-semi-space-size=16",
    // RenderDocument and BackForwardCache give each reset to about:blank a new frame host, which costs a third of the
    // throughput; the spare renderer doubles the processes; the rest is the browser's own network traffic.
    "--disable-features=RenderDocument,BackForwardCache,SpareRendererForSitePerProcess,MediaRouter,Translate,\
     OptimizationHints,InterestFeedContentSuggestions,DialMediaRouteProvider,AutofillServerCommunication,Prerender2,\
     DnsOverHttps,AsyncDns,NetworkTimeServiceQuerying,IsolateOrigins,site-per-process,IsolateSandboxedIframes",
    "--enable-features=NetworkServiceInProcess2",
];

/// Composites a frame only when DevTools requests one, which Platen never does. Applies to targets created with
/// `enableBeginFrameControl`; the full browser doesn't support it.
const FRAMES_ON_DEMAND: &str = "--enable-begin-frame-control";

/// Returns the command-line arguments of a browser with its profile in `profile`.
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
