//! `/docs`: the API reference. Scalar renders `openapi.json`. All files are embedded in the binary, and the pages
//! request nothing from other hosts.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
    sync::LazyLock,
};

use axum::{
    Router,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{MethodRouter, get},
};
use flate2::{Compression, write::GzEncoder};
use platen_domain::validation::schema::OPENAPI;
use sha2::{Digest, Sha256};

/// Scripts only from this service. Inline styles are allowed, because Scalar inserts its own.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; \
                      font-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Readers see a new release within an hour. After that time the entity tag is checked.
const CACHING: &str = "public, max-age=3600";

static PAGE: LazyLock<File> = LazyLock::new(|| File::page(include_str!("reference/page.html")));
static START: LazyLock<File> = LazyLock::new(|| File::script(include_bytes!("reference/start.js")));
static SCALAR: LazyLock<File> = LazyLock::new(|| {
    let script = scalar_api_reference::get_asset("scalar.js").expect("the package contains scalar.js");
    File::script(&script)
});
static DESCRIPTION: LazyLock<File> = LazyLock::new(|| File::new("application/json", OPENAPI.as_bytes()));

/// Returns the routes of the pages and their files, which need no key.
pub(super) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/docs", serve(&PAGE))
        .route("/docs/start.js", serve(&START))
        .route("/docs/scalar.js", serve(&SCALAR))
        .route("/openapi.json", serve(&DESCRIPTION))
}

fn serve<S: Clone + Send + Sync + 'static>(file: &'static LazyLock<File>) -> MethodRouter<S> {
    get(move |asked: HeaderMap| async move { file.answer(&asked) })
}

/// A static file, compressed once.
struct File {
    media_type: &'static str,
    tag: String,
    content: Vec<u8>,
    packed: Vec<u8>,
}

impl File {
    fn new(media_type: &'static str, content: &[u8]) -> Self {
        // Weak, because the compressed and the uncompressed file share it.
        let mut tag = String::from("W/\"");
        for byte in &Sha256::digest(content)[..8] {
            let _ = write!(tag, "{byte:02x}");
        }
        tag.push('"');
        Self {
            media_type,
            tag,
            content: content.to_vec(),
            packed: pack(content).expect("writing to memory does not fail"),
        }
    }

    fn page(html: &str) -> Self {
        Self::new("text/html; charset=utf-8", html.as_bytes())
    }

    fn script(script: &[u8]) -> Self {
        Self::new("text/javascript; charset=utf-8", script)
    }

    /// Responds with the file, compressed if the client accepts it, or with 304 if the client has it already.
    fn answer(&'static self, asked: &HeaderMap) -> Response {
        let names = |name: HeaderName, word: &str| {
            let values = asked.get_all(name);
            values
                .iter()
                .any(|value| value.to_str().is_ok_and(|value| value.contains(word)))
        };
        let mut headers = HeaderMap::from_iter([
            (header::CONTENT_TYPE, HeaderValue::from_static(self.media_type)),
            (header::CACHE_CONTROL, HeaderValue::from_static(CACHING)),
            (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
            (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
            (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
            (header::VARY, HeaderValue::from_static("accept-encoding")),
        ]);
        if let Ok(tag) = HeaderValue::try_from(&self.tag) {
            headers.insert(header::ETAG, tag);
        }
        if names(header::IF_NONE_MATCH, &self.tag) {
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        if names(header::ACCEPT_ENCODING, "gzip") {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            return (headers, self.packed.as_slice()).into_response();
        }
        (headers, self.content.as_slice()).into_response()
    }
}

fn pack(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content)?;
    encoder.finish()
}
