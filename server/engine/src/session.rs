//! A session: one browser context with one page and one proxy, lent to one account for its whole life.

use std::{
    ops::Deref,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use chromiumoxide::{
    cdp::{
        browser_protocol::{
            browser::{BrowserContextId, SetDownloadBehaviorBehavior, SetDownloadBehaviorParams},
            emulation::{SetEmulatedMediaParams, SetScriptExecutionDisabledParams},
            inspector, network,
            page::{
                self, AddScriptToEvaluateOnNewDocumentParams, FrameId, GetFrameTreeParams, NavigateParams,
                ResetNavigationHistoryParams,
            },
            target::{
                AttachToTargetParams, CreateBrowserContextParams, CreateTargetParams, DisposeBrowserContextParams,
            },
        },
        js_protocol::runtime::{EvaluateParams, GetHeapUsageParams},
    },
    types::Command,
};
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

/// Making a context and a page in it takes about 50 ms; on a machine that swaps it takes longer.
const OPEN_LIMIT: Duration = Duration::from_secs(20);
/// Going back to `about:blank` takes about 10 ms. A page that still loops keeps its session from others for so long.
const RESET_LIMIT: Duration = Duration::from_secs(1);
/// Disposing of a context, even of one whose page loops, takes 6 to 16 ms. A browser that takes longer is ill.
const CLOSE_LIMIT: Duration = Duration::from_secs(10);
/// A session is given up after so many renders, so that slow leaks stay small.
const RENDERS_PER_SESSION: u32 = 500;
/// A larger document, in bytes of its PDF, leaves a renderer that keeps hundreds of megabytes.
pub(crate) const PRINTED_BYTES_THAT_RETIRE: usize = 1 << 20;

/// A page whose history has one entry may close itself; with two, `close()` does nothing.
const FRESH_PAGE: &str = "window.name = ''; history.pushState(null, '')";
/// A heap above this share of what a page may use is not waited for to be collected: it would be booked on the next
/// render. Garbage of ordinary pages stays well below.
const HEAP_SHARE_THAT_RETIRES: f64 = 0.25;

/// See the module.
pub(crate) struct Session {
    pub(crate) browser: InhabitedBrowser,
    pub(crate) observer: Arc<PageObserver>,
    pub(crate) proxy: Proxy,
    pub(crate) frame: FrameId,
    pub(crate) kind: PageKind,
    /// The account that owns it; `None` while it is kept ready for whoever comes first.
    pub(crate) account: Option<Uuid>,
    pub(crate) last_used: Instant,
    context: BrowserContextId,
    occupant: Arc<Occupant>,
    route: Arc<SessionRoute>,
    media: MediaType,
    /// The browser reports what the page asks the network for.
    is_watched: bool,
    renders: u32,
}

/// Whether a session may serve its account again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Afterlife {
    /// It may, after a reset.
    Keep,
    /// What it saw can't be cleared for certain.
    Destroy,
}

impl Session {
    /// Makes a context whose only way out is `proxy`, and a blank page in it. A browser that can't is ill and is ended.
    pub(crate) async fn open(browser: Arc<Browser>, kind: PageKind, proxy: Proxy) -> Result<Self, DevToolsError> {
        let browser = InhabitedBrowser::new(browser);
        let ill = Arc::clone(&browser.0);
        let opened = tokio::time::timeout(OPEN_LIMIT, open(browser, kind, proxy)).await;
        let opened = opened.unwrap_or(Err(DevToolsError::Closed));
        if let Err(error) = &opened {
            tracing::warn!(%error, "the browser makes no session and is ended");
            ill.kill();
        }
        opened
    }

    /// Whether the session belongs to this account (`None`: to no account yet) and is for pages of this kind.
    pub(crate) fn is_for(&self, account: Option<Uuid>, kind: PageKind) -> bool {
        self.account == account && self.kind == kind
    }

    /// Whether the page can still be rendered in.
    pub(crate) fn is_alive(&self) -> bool {
        self.browser.is_alive() && !self.observer.look(|page| page.lost)
    }

    /// Why the page can't be rendered in any more.
    pub(crate) fn loss(&self) -> DevToolsError {
        self.route.loss().unwrap_or(DevToolsError::TargetCrashed)
    }

    /// Whether the session was ended because it filled the browser's memory; waits if that is about to be known.
    pub(crate) async fn verdict(&self) -> Verdict {
        self.occupant.verdict().await
    }

    /// Sends a command to the page and waits for its answer.
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

    /// The media type of the render under way.
    pub(crate) fn media(&self) -> MediaType {
        self.media
    }

    /// Prepares the page for a part of a render, from 0. `watch`: what it asks the network for is to be known.
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

    /// Makes the page as good as new for the same account: new JavaScript realm, no name, no history, no connection. Where
    /// no scripts run, the next document may go straight in. `false`: it can't be done, destroy it. `memory_limit` is
    /// what a page may use, in bytes.
    pub(crate) async fn reset(&mut self, memory_limit: u64) -> bool {
        self.occupant.end_work();
        if self.renders >= RENDERS_PER_SESSION || !self.browser.takes_sessions() || !self.is_alive() {
            return false;
        }
        // What came after the log was taken may have left something, as all that comes from outside may.
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
            // What scripts hold, in bytes: objects, nodes and buffers.
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
        // The history outlives the navigation, and so does `window.name`.
        let forgotten = self.start(&ResetNavigationHistoryParams {}).await?;
        self.execute(&EvaluateParams::new(FRESH_PAGE)).await?;
        forgotten.await.map(drop)
    }

    /// Destroys the context and the renderer process with it, also one that loops for ever.
    pub(crate) async fn close(self) {
        self.proxy.close_connections();
        let dispose = DisposeBrowserContextParams::new(self.context.clone());
        let disposed = tokio::time::timeout(CLOSE_LIMIT, self.browser.connection.execute(&dispose)).await;
        if disposed.is_err() {
            tracing::warn!("the browser does not dispose of a context and is ended");
            self.browser.kill();
        }
    }
}

/// A browser that counts the sessions in it.
pub(crate) struct InhabitedBrowser(Arc<Browser>);

impl InhabitedBrowser {
    fn new(browser: Arc<Browser>) -> Self {
        browser.sessions.fetch_add(1, Ordering::AcqRel);
        Self(browser)
    }

    /// Whether this is the browser.
    pub(crate) fn is(&self, browser: &Arc<Browser>) -> bool {
        Arc::ptr_eq(&self.0, browser)
    }
}

impl Deref for InhabitedBrowser {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        &self.0
    }
}

impl Drop for InhabitedBrowser {
    fn drop(&mut self) {
        self.0.sessions.fetch_sub(1, Ordering::AcqRel);
    }
}

async fn open(browser: InhabitedBrowser, kind: PageKind, proxy: Proxy) -> Result<Session, DevToolsError> {
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
    // The main frame of a page has the identifier of its target, but the protocol does not promise it.
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
    // Of pages without frames, few have anything to watch.
    let is_watched = kind.has_frames();
    // The cache stays on: what came from outside ends the session, and embedded fonts need not be decoded anew.
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

/// Lets the browser report what the page asks the network for; no service worker answers in the network's place.
async fn watch_network(browser: &Browser, route: &SessionRoute) -> Result<(), DevToolsError> {
    // Bodies of requests stay with the page; 0 would mean all of them. Those of forms come all the same.
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

/// Hears nothing: until the main frame's name is known there is nobody to tell.
struct Unheard;

impl crate::devtools::SessionEvents for Unheard {
    fn event(&self, _method: &str, _params: &serde_json::value::RawValue) {}
    fn lost(&self) {}
}
