//! A session: one browser context with one page and one proxy, owned by one account for its whole life.

use std::{
    ops::Deref,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use chromiumoxide_cdp::cdp::{
    browser_protocol::{
        browser::{BrowserContextId, SetDownloadBehaviorBehavior, SetDownloadBehaviorParams},
        emulation::{SetEmulatedMediaParams, SetScriptExecutionDisabledParams},
        inspector, network,
        page::{
            self, AddScriptToEvaluateOnNewDocumentParams, FrameId, GetFrameTreeParams, NavigateParams,
            ResetNavigationHistoryParams,
        },
        target::{AttachToTargetParams, CreateBrowserContextParams, CreateTargetParams, DisposeBrowserContextParams},
    },
    js_protocol::runtime::{EvaluateParams, GetHeapUsageParams},
};
use chromiumoxide_types::Command;
use platen_egress::proxy::Proxy;
use uuid::Uuid;

use crate::{
    browser::{
        Browser,
        memory::{Occupant, Verdict},
    },
    devtools::{DevToolsError, SessionRoute},
    job::MediaType,
    observer::PageObserver,
    page_kind::PageKind,
    steps::{console::KEEP_MESSAGES, frames::NOTE_WAITING},
};

/// Creating a context with a page takes about 50 ms; longer on a machine that swaps.
const OPEN_LIMIT: Duration = Duration::from_secs(20);
/// Navigating to `about:blank` takes about 10 ms. A page that loops blocks its session for this long.
const RESET_LIMIT: Duration = Duration::from_secs(1);
/// Disposing of a context, even one whose page loops, takes 6 to 16 ms. A browser that takes longer is unhealthy.
const CLOSE_LIMIT: Duration = Duration::from_secs(10);
/// Number of renders after which a session is destroyed, to bound slow leaks.
const RENDERS_PER_SESSION: u32 = 500;
/// Size of a printed PDF, in bytes, above which the session is destroyed: its renderer process would retain hundreds of
/// megabytes.
pub(crate) const PRINTED_BYTES_THAT_RETIRE: usize = 1 << 20;

/// A page whose history has one entry can close itself; with two entries, `close()` does nothing.
const FRESH_PAGE: &str = "window.name = ''; history.pushState(null, '')";
/// Share of the page memory limit above which the heap of a page destroys its session, rather than being collected and
/// attributed to the next render. Garbage of ordinary pages is far below.
const HEAP_SHARE_THAT_RETIRES: f64 = 0.25;

/// A browser context with one page and one proxy.
pub(crate) struct Session {
    pub(crate) browser: BrowserLease,
    pub(crate) observer: Arc<PageObserver>,
    pub(crate) proxy: Proxy,
    pub(crate) frame: FrameId,
    pub(crate) kind: PageKind,
    /// The account that owns the session; `None` while it is unassigned.
    pub(crate) account: Option<Uuid>,
    pub(crate) last_used: Instant,
    context: BrowserContextId,
    occupant: Arc<Occupant>,
    route: Arc<SessionRoute>,
    media: MediaType,
    /// Whether the browser reports network requests of the page.
    is_watched: bool,
    renders: u32,
}

/// Session disposition: whether a session may serve its account again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionDisposition {
    /// Reset it and return it to the pool.
    Keep,
    /// Destroy it, because its state can't be cleared reliably.
    Destroy,
}

impl Session {
    /// Creates a context that reaches the network only through `proxy`, and a blank page in it. Kills the browser if
    /// this fails or takes too long.
    pub(crate) async fn open(browser: Arc<Browser>, kind: PageKind, proxy: Proxy) -> Result<Self, DevToolsError> {
        let browser = BrowserLease::new(browser);
        let ill = Arc::clone(&browser.0);
        let opened = tokio::time::timeout(OPEN_LIMIT, open(browser, kind, proxy)).await;
        let opened = opened.unwrap_or(Err(DevToolsError::Closed));
        if let Err(error) = &opened {
            tracing::warn!(%error, "session could not be created; ending the browser");
            ill.kill();
        }
        opened
    }

    /// Returns whether the session belongs to `account` (`None`: is unassigned) and has pages of this kind.
    pub(crate) fn is_for(&self, account: Option<Uuid>, kind: PageKind) -> bool {
        self.account == account && self.kind == kind
    }

    /// Returns whether browser and page are still usable.
    pub(crate) fn is_alive(&self) -> bool {
        self.browser.is_alive() && !self.observer.look(|page| page.lost)
    }

    /// Returns why the page is no longer usable.
    pub(crate) fn loss(&self) -> DevToolsError {
        self.route.loss().unwrap_or(DevToolsError::TargetCrashed)
    }

    /// Returns whether the session was ended because it filled the browser's memory; waits for a pending decision.
    pub(crate) async fn verdict(&self) -> Verdict {
        self.occupant.verdict().await
    }

    /// Sends a command to the page and waits for its response.
    pub(crate) async fn execute<C: Command>(&self, command: &C) -> Result<C::Response, DevToolsError> {
        self.browser.connection.execute_in(&self.route, command).await
    }

    /// Sends a command to the page, see [`crate::devtools::Connection::start_in`].
    pub(crate) async fn start<C: Command>(
        &self,
        command: &C,
    ) -> Result<impl Future<Output = Result<C::Response, DevToolsError>> + use<C>, DevToolsError> {
        self.browser.connection.start_in(&self.route, command).await
    }

    /// Returns the media type of the render in progress.
    pub(crate) fn media(&self) -> MediaType {
        self.media
    }

    /// Prepares the page for a part of a render, given by its zero-based index. `watch` enables reports of its network
    /// requests.
    pub(crate) async fn begin(&mut self, part: usize, media: MediaType, watch: bool) -> Result<(), DevToolsError> {
        self.proxy.begin_render();
        self.observer.begin(part);
        self.route.begin_render();
        self.occupant.begin_work();
        self.renders += 1;
        if self.is_watched != watch {
            if watch {
                watch_network(&self.browser, &self.route).await?;
            } else {
                self.execute(&network::DisableParams::default()).await?;
            }
            self.is_watched = watch;
        }
        if self.media != media {
            let name = match media {
                MediaType::Print => "",
                MediaType::Screen => "screen",
            };
            self.execute(&SetEmulatedMediaParams::builder().media(name).build())
                .await?;
            self.media = media;
        }
        Ok(())
    }

    /// Resets the page for the next render of the same account: new JavaScript realm, no name, no history, no
    /// connections. Pages without scripts need no navigation. Returns `false` if the session must be destroyed instead.
    /// `memory_limit` is the page memory limit in bytes.
    pub(crate) async fn reset(&mut self, memory_limit: u64) -> bool {
        self.occupant.end_work();
        if self.renders >= RENDERS_PER_SESSION || !self.browser.takes_sessions() || !self.is_alive() {
            return false;
        }
        // Bytes received after the log was taken may have left traces, like all data from the network.
        if !self.proxy.end_render().await {
            return false;
        }
        if !self.kind.runs_scripts() {
            return true;
        }
        let done = tokio::time::timeout(RESET_LIMIT, async {
            let heap = self.start(&GetHeapUsageParams::default()).await?;
            self.navigate_to_blank().await?;
            let heap = heap.await?;
            // Memory of scripts, in bytes: objects, nodes and buffers.
            Ok::<_, DevToolsError>(heap.used_size + heap.embedder_heap_used_size + heap.backing_storage_size)
        })
        .await;
        matches!(done, Ok(Ok(heap)) if heap < memory_limit as f64 * HEAP_SHARE_THAT_RETIRES)
    }

    async fn navigate_to_blank(&self) -> Result<(), DevToolsError> {
        self.observer.begin(0);
        let answer = self.execute(&NavigateParams::new("about:blank")).await?;
        if let Some(error) = answer.error_text {
            return Err(DevToolsError::Refused {
                method: "Page.navigate".to_owned(),
                message: error,
            });
        }
        self.observer
            .wait_until(|page| (page.loaded || page.lost).then_some(()))
            .await;
        // History and `window.name` survive the navigation.
        let forgotten = self.start(&ResetNavigationHistoryParams {}).await?;
        self.execute(&EvaluateParams::new(FRESH_PAGE)).await?;
        forgotten.await.map(drop)
    }

    /// Destroys the context and its renderer process, even one in an endless loop. Kills the browser if that takes too
    /// long.
    pub(crate) async fn close(self) {
        self.proxy.close_connections();
        let dispose = DisposeBrowserContextParams::new(self.context.clone());
        let disposed = tokio::time::timeout(CLOSE_LIMIT, self.browser.connection.execute(&dispose)).await;
        if disposed.is_err() {
            tracing::warn!("context could not be disposed of in time; ending the browser");
            self.browser.kill();
        }
    }
}

/// A reference to a browser that counts as one of its sessions until dropped.
pub(crate) struct BrowserLease(Arc<Browser>);

impl BrowserLease {
    fn new(browser: Arc<Browser>) -> Self {
        browser.sessions.fetch_add(1, Ordering::AcqRel);
        Self(browser)
    }

    /// Returns whether this refers to `browser`.
    pub(crate) fn is(&self, browser: &Arc<Browser>) -> bool {
        Arc::ptr_eq(&self.0, browser)
    }
}

impl Deref for BrowserLease {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        &self.0
    }
}

impl Drop for BrowserLease {
    fn drop(&mut self) {
        self.0.sessions.fetch_sub(1, Ordering::AcqRel);
    }
}

async fn open(browser: BrowserLease, kind: PageKind, proxy: Proxy) -> Result<Session, DevToolsError> {
    let connection = browser.connection.clone();
    let create_context = CreateBrowserContextParams::builder()
        .dispose_on_detach(true)
        .proxy_server(format!("http://127.0.0.1:{}", proxy.port()))
        .proxy_bypass_list("<-loopback>")
        .build();
    let context = connection.execute(&create_context).await?.browser_context_id;
    let deny_downloads = SetDownloadBehaviorParams {
        behavior: SetDownloadBehaviorBehavior::Deny,
        browser_context_id: Some(context.clone()),
        download_path: None,
        events_enabled: None,
    };
    connection.execute(&deny_downloads).await?;
    let mut create_page = CreateTargetParams::new("about:blank");
    create_page.browser_context_id = Some(context.clone());
    create_page.enable_begin_frame_control = browser.is_without_frames.then_some(true);
    let target = connection.execute(&create_page).await?.target_id;
    let mut attach = AttachToTargetParams::new(target);
    attach.flatten = Some(true);
    let session_id = connection.execute(&attach).await?.session_id;
    // The main frame of a page has the identifier of its target, but the protocol doesn't guarantee it.
    let early = connection.route(session_id.inner(), Arc::new(Unheard));
    let frame = connection
        .execute_in(&early, &GetFrameTreeParams::default())
        .await?
        .frame_tree
        .frame
        .id;
    let observer = Arc::new(PageObserver::new(connection.clone(), session_id.inner(), frame.inner()));
    let route = connection.route(session_id.inner(), Arc::clone(&observer) as _);
    drop(early);
    // Few pages without frames make network requests.
    let is_watched = kind.has_frames();
    // The cache stays enabled: data from the network ends the session anyway, and embedded fonts are decoded only once.
    tokio::try_join!(
        prepare_scripts(&browser, kind, &route),
        async {
            connection
                .execute_in(&route, &inspector::EnableParams::default())
                .await
                .map(drop)
        },
        async {
            connection
                .execute_in(&route, &page::EnableParams::default())
                .await
                .map(drop)
        },
        async {
            if is_watched {
                watch_network(&browser, &route).await?;
            }
            Ok(())
        },
    )?;
    let occupant = browser.admit(context.clone());
    Ok(Session {
        browser,
        occupant,
        observer,
        proxy,
        frame,
        kind,
        account: None,
        last_used: Instant::now(),
        context,
        route,
        media: MediaType::Print,
        is_watched,
        renders: 0,
    })
}

/// Makes the browser report network requests of the page, and bypass service workers, which might respond instead.
async fn watch_network(browser: &Browser, route: &SessionRoute) -> Result<(), DevToolsError> {
    // Limits the request bodies in events; 0 would mean no limit. Bodies of forms are sent regardless.
    let watch = network::EnableParams::builder().max_post_data_size(1).build();
    let bypass_workers = network::SetBypassServiceWorkerParams::new(true);
    let watched = browser.connection.start_in(route, &watch).await?;
    browser.connection.execute_in(route, &bypass_workers).await?;
    watched.await.map(drop)
}

async fn prepare_scripts(browser: &Browser, kind: PageKind, route: &SessionRoute) -> Result<(), DevToolsError> {
    let connection = &browser.connection;
    let before_others = match kind {
        PageKind::ScriptFree => {
            let disable = SetScriptExecutionDisabledParams::new(true);
            return connection.execute_in(route, &disable).await.map(drop);
        }
        PageKind::Scripted if browser.is_without_frames => format!("{KEEP_MESSAGES} {NOTE_WAITING}"),
        PageKind::Scripted | PageKind::Composited => KEEP_MESSAGES.to_owned(),
    };
    let prepare = EvaluateParams::new(format!("{before_others} {FRESH_PAGE}"));
    let before_others = AddScriptToEvaluateOnNewDocumentParams::new(before_others);
    tokio::try_join!(
        async { connection.execute_in(route, &prepare).await.map(drop) },
        async { connection.execute_in(route, &before_others).await.map(drop) },
    )
    .map(drop)
}

/// Ignores events until the main frame is known and the observer can be created.
struct Unheard;

impl crate::devtools::SessionEvents for Unheard {
    fn event(&self, _method: &str, _params: &serde_json::value::RawValue) {}
    fn lost(&self) {}
}
