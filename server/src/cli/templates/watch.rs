//! `platen templates watch`: shows the preview of a template in a browser while its files change.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    net::Ipv4Addr,
    path::Path,
    time::Duration,
};

use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header},
    middleware::{self, Next},
    response::{
        Html, IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
    routing::get,
};
use futures::{Stream, stream};
use platen_domain::{html::escaped, ids::TemplateId, number::counted, template::identity::Handle};
use tokio::{
    net::TcpListener,
    sync::watch::{self, Receiver, Sender},
    time::sleep,
};
use uuid::Uuid;

use crate::cli::{
    failure::Failure,
    templates::{
        folder::{self, FolderError, TemplateFiles},
        server::Server,
        used_partials,
    },
};

/// Time between two looks at the files.
const INTERVAL: Duration = Duration::from_millis(200);
/// The page. `TITLE`, `PREVIEW` and `BODY` are replaced.
const PAGE: &str = include_str!("watch.html");
/// The page loads nothing; its own script asks only for the page.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What the page shows.
#[derive(Debug, Clone, Default)]
struct Shown {
    /// Distinguishes this preview from all others, also from those of other processes at the same port.
    id: Uuid,
    /// HTML.
    body: String,
}

/// The state of the page's server.
#[derive(Clone)]
struct Page {
    title: String,
    /// Values of `Host` by which browsers reach the server.
    hosts: Vec<String>,
    shown: Receiver<Shown>,
}

/// Serves the preview of a template at a port of this machine, or any free one for 0, until the process ends. `template` is
/// the account's template, whose settings apply.
pub(super) async fn watch(
    server: &Server,
    folder: &Path,
    (handle, template): (&Handle, TemplateId),
    port: u16,
) -> Result<(), Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    let listener =
        listener.map_err(|error| Failure::by_machine(format!("port {port}: {error}; choose another --port")))?;
    let address = listener.local_addr()?;
    let (sender, shown) = watch::channel(Shown::default());
    let page = Page {
        title: handle.to_string(),
        hosts: hosts(address.port()),
        shown,
    };
    let router = Router::new()
        .route("/", get(self::page))
        .route("/changes", get(changes))
        .layer(middleware::from_fn_with_state(page.clone(), only_own_host))
        .with_state(page);
    println!("Preview of {handle}: http://{address}/ (Ctrl C ends it)");
    tokio::select! {
        ended = axum::serve(listener, router) => Ok(ended?),
        never = follow(server, folder, (handle, template), &sender) => match never {},
    }
}

/// Updates the preview whenever a file of a template changes.
async fn follow(
    server: &Server,
    folder: &Path,
    (handle, template): (&Handle, TemplateId),
    sender: &Sender<Shown>,
) -> Infallible {
    let mut seen = None;
    // The template, and the partials that it names.
    let mut used = BTreeSet::from([handle.clone()]);
    loop {
        let modified = folder::modified(folder, &used);
        if seen.as_ref() == Some(&modified) {
            sleep(INTERVAL).await;
            continue;
        }
        let used_before = used.clone();
        let read = read(folder, handle, &mut used);
        if used != used_before {
            // All files must be looked at before they are read.
            continue;
        }
        seen = Some(modified);
        let body = match read {
            Ok((files, partials)) => preview(server, (handle, template), &files, &partials).await,
            Err(error) => alert(&error.to_string()),
        };
        sender.send_replace(Shown {
            id: Uuid::new_v4(),
            body,
        });
    }
}

/// Reads a template, and the contents of the partials that it uses. Sets `used` to all whose files were looked for.
fn read(
    folder: &Path,
    handle: &Handle,
    used: &mut BTreeSet<Handle>,
) -> Result<(TemplateFiles, BTreeMap<Handle, String>), FolderError> {
    *used = BTreeSet::from([handle.clone()]);
    let files = folder::read_template(folder, handle)?.ok_or_else(|| FolderError::missing(folder, handle))?;
    let partials = used_partials(&files, |partial| {
        used.insert(partial.clone());
        folder::read_template(folder, partial)
    })?;
    Ok((files, partials))
}

/// Returns the HTML of the preview, or of the reason why there is none. The next change tries again.
async fn preview(
    server: &Server,
    (handle, template): (&Handle, TemplateId),
    files: &TemplateFiles,
    partials: &BTreeMap<Handle, String>,
) -> String {
    match server.preview(template, files, partials).await {
        Ok(preview) => {
            let warnings = preview.warnings.iter().map(|warning| {
                let message = escaped(&warning.message);
                format!("<p>{message}</p>")
            });
            let pages = preview.pages.iter().zip(1..).map(|(page, number)| {
                let (width, height) = (page.width, page.height);
                format!(
                    "<img src=\"data:image/png;base64,{}\" width=\"{width}\" height=\"{height}\" alt=\"Page {number}\">",
                    escaped(&page.png)
                )
            });
            let more = preview.page_count.saturating_sub(preview.pages.len());
            let more = (more > 0).then(|| format!("<p>{} more</p>", counted(more, "page", "pages")));
            warnings.chain(pages).chain(more).collect()
        }
        Err(error) => alert(&error.of_template(handle).unwrap_or_else(|error| error.to_string())),
    }
}

fn alert(message: &str) -> String {
    format!("<pre role=\"alert\">{}</pre>", escaped(message))
}

async fn page(State(page): State<Page>) -> impl IntoResponse {
    let shown = page.shown.borrow().clone();
    let html = PAGE
        .replace("TITLE", &page.title)
        .replace("PREVIEW", &shown.id.to_string())
        .replace("BODY", &shown.body);
    ([(header::CONTENT_SECURITY_POLICY, POLICY)], Html(html))
}

/// Sends the id of each preview.
async fn changes(State(page): State<Page>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let ids = stream::unfold((page.shown, true), async |(mut shown, is_first)| {
        if !is_first {
            shown.changed().await.ok()?;
        }
        let id = shown.borrow_and_update().id;
        Some((Ok(Event::default().data(id.to_string())), (shown, false)))
    });
    Sse::new(ids).keep_alive(KeepAlive::default())
}

/// Returns the values of `Host` by which browsers reach a port of this machine. They leave out the default port of HTTP.
fn hosts(port: u16) -> Vec<String> {
    let names = ["127.0.0.1", "localhost"];
    let with_port = names.map(|name| format!("{name}:{port}"));
    let without = names.map(ToOwned::to_owned).into_iter().filter(|_| port == 80);
    without.chain(with_port).collect()
}

/// Refuses requests under other names: a website could have given this machine's address to a name of its own.
async fn only_own_host(State(page): State<Page>, request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    if host.is_some_and(|host| page.hosts.iter().any(|own| own == host)) {
        next.run(request).await
    } else {
        StatusCode::MISDIRECTED_REQUEST.into_response()
    }
}
