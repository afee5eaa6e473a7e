//! Serves the files beside a page to the browser, while the page is rendered.
//!
//! Each page has a host with a random name below `.invalid` (RFC 6761, 6.4), which only the command's own resolver
//! knows and other processes can't guess. Links to such hosts are removed from documents (`platen-pdf`, `archive/links.rs`).

use std::{
    collections::BTreeSet,
    io,
    net::{IpAddr, Ipv4Addr},
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use futures::future::{BoxFuture, FutureExt, ready};
use percent_encoding::percent_decode_str;
use platen_egress::{
    allow::AllowList,
    guard::Guard,
    resolve::{Resolve, SystemResolver},
};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;
use tower::ServiceExt;
use tower_http::services::ServeFile;
use url::Url;
use uuid::Uuid;

use crate::{boot::browser, cli::failure::Failure};

/// Missing files that are listed after the render.
const MOST_MISSING: usize = 20;

/// Pages, and the folders in which they find files.
pub(super) struct LocalPages {
    listener: TcpListener,
    port: u16,
    /// The end of the names of all hosts.
    domain: String,
    pages: Vec<LocalPage>,
}

struct LocalPage {
    url: Url,
    html: String,
    /// Without symbolic links. Files outside of it are not served.
    folder: PathBuf,
}

impl LocalPages {
    /// Binds a free port of the loopback interface.
    pub(super) async fn bind() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        Ok(Self {
            port: listener.local_addr()?.port(),
            listener,
            domain: format!("{}.invalid", Uuid::new_v4().simple()),
            pages: Vec::new(),
        })
    }

    /// Adds a page, and the files of `folder`. `file` is the page's file, if it has one. Returns the page's address.
    pub(super) fn add(&mut self, html: String, file: Option<&Path>, folder: &Path) -> Result<Url, Failure> {
        let resolve = |path: &Path| {
            path.canonicalize()
                .map_err(|error| Failure::by_caller(&format!("{}: {error}", path.display())))
        };
        let folder = resolve(folder)?;
        let file = file.map(resolve).transpose()?;
        let mut url = Url::parse(&format!("http://{}.{}:{}/", self.pages.len(), self.domain, self.port))?;
        if let (Some(file), Ok(mut segments)) = (&file, url.path_segments_mut()) {
            // A page outside of the folder appears to be in it, so that its relative addresses begin there.
            let path = file
                .strip_prefix(&folder)
                .ok()
                .or_else(|| file.file_name().map(Path::new));
            let names = path.into_iter().flat_map(Path::components).map(Component::as_os_str);
            segments.pop_if_empty().extend(names.map(|name| name.to_string_lossy()));
        }
        self.pages.push(LocalPage {
            url: url.clone(),
            html,
            folder,
        });
        Ok(url)
    }

    /// Starts to serve. The guard lets pages reach their files, and what `allow` allows.
    pub(super) fn serve(self, allow: &AllowList) -> Result<(LocalFiles, Arc<Guard>), Failure> {
        let hosts: Vec<_> = self.pages.iter().map(|page| page.url.authority()).collect();
        let allow = allow.clone().with(hosts.join(",").parse()?);
        let served = Arc::new(Served {
            pages: self.pages,
            missing: Mutex::default(),
        });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&served));
        let serving = tokio::spawn(async move {
            // Ends only if the listener fails; requests of the page then fail.
            let _ = axum::serve(self.listener, router).await;
        });
        let resolver = LocalResolver {
            domain: self.domain,
            others: SystemResolver::default(),
        };
        let files = LocalFiles {
            served,
            _server: AbortOnDropHandle::new(serving),
        };
        Ok((files, browser::guard_with(allow, resolver)))
    }
}

/// Serves files of pages until it is dropped.
pub(super) struct LocalFiles {
    served: Arc<Served>,
    _server: AbortOnDropHandle<()>,
}

impl LocalFiles {
    /// Returns the first paths that pages requested in vain.
    pub(super) fn missing(&self) -> BTreeSet<String> {
        self.served.missing().clone()
    }
}

/// Shared with the handler of requests.
struct Served {
    pages: Vec<LocalPage>,
    /// Requested paths without a file.
    missing: Mutex<BTreeSet<String>>,
}

impl Served {
    fn missing(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Resolves the hosts of pages to the loopback interface.
struct LocalResolver {
    domain: String,
    others: SystemResolver,
}

impl Resolve for LocalResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        if host.ends_with(&self.domain) {
            ready(Ok(vec![Ipv4Addr::LOCALHOST.into()])).boxed()
        } else {
            self.others.resolve(host)
        }
    }
}

/// Responds with the page of the requested host, or a file from its folder.
async fn answer(State(served): State<Arc<Served>>, request: Request) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let Some(page) = served.pages.iter().find(|page| host == Some(page.url.authority())) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let path = request.uri().path();
    if path == page.url.path() {
        return Html(page.html.clone()).into_response();
    }
    let path = percent_decode_str(path).decode_utf8_lossy().into_owned();
    if let Some(file) = file(&page.folder, path.trim_start_matches('/')).await {
        return ServeFile::new(file).oneshot(request).await.into_response();
    }
    let mut missing = served.missing();
    if missing.len() < MOST_MISSING {
        missing.insert(path);
    }
    StatusCode::NOT_FOUND.into_response()
}

/// Returns the file at a path, unless it is outside of the folder.
async fn file(folder: &Path, path: &str) -> Option<PathBuf> {
    let file = tokio::fs::canonicalize(folder.join(path)).await.ok()?;
    let is_file = tokio::fs::metadata(&file).await.is_ok_and(|found| found.is_file());
    (is_file && file.starts_with(folder)).then_some(file)
}
