//! `platen templates watch`: shows the preview of a template in a browser while its files change.

use std::{convert::Infallible, net::Ipv4Addr, path::Path, time::Duration};

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
use platen_domain::{ids::TemplateId, mail::texts::escaped, number::counted, template::identity::Handle};
use tokio::{
    net::TcpListener,
    sync::watch::{self, Receiver, Sender},
    time::sleep,
};

use crate::cli::{
    failure::Failure,
    templates::{
        folder::{self, FolderError},
        server::Server,
        used_partials,
    },
};

/// Time between two looks at the files.
const INTERVAL: Duration = Duration::from_millis(200);
/// The page. `TITLE`, `NUMBER` and `BODY` are replaced.
const PAGE: &str = include_str!("watch.html");
/// The page loads nothing; its own script asks only for the page.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What the page shows.
#[derive(Debug, Clone, Default)]
struct Shown {
    /// Counts previews.
    number: u64,
    /// HTML.
    body: String,
}

/// The state of the page's server.
#[derive(Clone)]
struct Page {
    title: String,
    /// Values of `Host` by which browsers reach the server.
    hosts: [String; 2],
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
        hosts: [address.to_string(), format!("localhost:{}", address.port())],
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
    loop {
        let modified = folder::modified(folder);
        if seen.as_ref() != Some(&modified) {
            seen = Some(modified);
            let body = preview(server, folder, (handle, template)).await;
            sender.send_modify(|shown| {
                shown.number += 1;
                shown.body = body;
            });
        }
        sleep(INTERVAL).await;
    }
}

/// Returns the HTML of the preview, or of the reason why there is none. The next change tries again.
async fn preview(server: &Server, folder: &Path, (handle, template): (&Handle, TemplateId)) -> String {
    let read = || {
        let files = folder::read_template(folder, handle)?.ok_or_else(|| FolderError::missing(folder, handle))?;
        let partials = used_partials(&files, |partial| folder::read_template(folder, partial))?;
        Ok::<_, FolderError>((files, partials))
    };
    let (files, partials) = match read() {
        Ok(read) => read,
        Err(error) => return alert(&error.to_string()),
    };
    match server.preview(template, &files, &partials).await {
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
        .replace("NUMBER", &shown.number.to_string())
        .replace("BODY", &shown.body);
    ([(header::CONTENT_SECURITY_POLICY, POLICY)], Html(html))
}

/// Sends the number of each preview.
async fn changes(State(page): State<Page>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let numbers = stream::unfold((page.shown, true), async |(mut shown, is_first)| {
        if !is_first {
            shown.changed().await.ok()?;
        }
        let number = shown.borrow_and_update().number;
        Some((Ok(Event::default().data(number.to_string())), (shown, false)))
    });
    Sse::new(numbers).keep_alive(KeepAlive::default())
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
