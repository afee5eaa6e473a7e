//! Static files of the dashboard: style sheet, script, WebAssembly module, fonts, images. `deploy/site.sh` builds them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use axum::{
    Router,
    http::{HeaderValue, StatusCode, header},
    middleware::map_response,
    response::Response,
};
use platen_app::layout::head::SiteFiles;
use tower_http::services::{ServeDir, ServeFile};

/// Folder of the compiled files, and prefix of their path.
const COMPILED: &str = "pkg";
/// Prefix of their names, which may be followed by a digest of the content and a dot.
const NAME: &str = "platen.";
/// Compiled files are immutable: other content has another name.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// Fonts and images may change.
const FOR_A_DAY: &str = "public, max-age=86400";

/// Why the dashboard's files can't be served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SiteError {
    /// The folder can't be read.
    #[error("{path}: {source}")]
    Folder { path: PathBuf, source: io::Error },
    /// A file is missing.
    #[error("{path}: the file {NAME}…{ending} is missing; build the site again")]
    Missing {
        /// The folder.
        path: PathBuf,
        /// Extension of the file.
        ending: &'static str,
    },
    /// Several files of a kind, of which any may be outdated.
    #[error("{path}: there is more than one file {NAME}…{ending}; build the site again")]
    Ambiguous {
        /// The folder.
        path: PathBuf,
        /// Extension of the files.
        ending: &'static str,
    },
}

/// The folder with the static files.
pub(super) struct Site {
    folder: PathBuf,
    /// Addresses of the files that every page needs.
    pub(super) files: SiteFiles,
}

impl Site {
    /// Finds the compiled files.
    pub(super) fn open(folder: &Path) -> Result<Self, SiteError> {
        let path = folder.join(COMPILED);
        let unreadable = |source| SiteError::Folder {
            path: path.clone(),
            source,
        };
        let mut names = Vec::new();
        for entry in fs::read_dir(&path).map_err(unreadable)? {
            names.push(entry.map_err(unreadable)?.file_name());
        }
        let names: Vec<_> = names.iter().filter_map(|name| name.to_str()).collect();
        let find = |ending| {
            let mut found = names.iter().filter(|name| is_named(name, ending));
            match (found.next(), found.next()) {
                (Some(name), None) => Ok(format!("/{COMPILED}/{name}")),
                (None, _) => Err(SiteError::Missing {
                    path: path.clone(),
                    ending,
                }),
                (Some(_), Some(_)) => Err(SiteError::Ambiguous {
                    path: path.clone(),
                    ending,
                }),
            }
        };
        let files = SiteFiles {
            style: find("css")?,
            script: find("js")?,
            module: find("wasm")?,
        };
        Ok(Self {
            folder: folder.to_owned(),
            files,
        })
    }

    /// Serves the folder. Files with a compressed version are served compressed to clients that accept it.
    pub(super) fn routes(&self) -> Router {
        let files = |name: &str| {
            ServeDir::new(self.folder.join(name))
                .append_index_html_on_directories(false)
                .precompressed_br()
                .precompressed_gzip()
        };
        let lasting = Router::new().nest_service("/pkg", files(COMPILED));
        let changing = Router::new()
            .nest_service("/fonts", files("fonts"))
            .nest_service("/img", files("img"))
            // Browsers ask for it beside a PDF, which can't name an icon.
            .route_service("/favicon.ico", ServeFile::new(self.folder.join("img/favicon.svg")));
        let kept = |caching: &'static str| map_response(move |response| async move { cached(response, caching) });
        lasting.layer(kept(FOR_EVER)).merge(changing.layer(kept(FOR_A_DAY)))
    }
}

fn is_named(name: &str, ending: &str) -> bool {
    let safe = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
    let digest = name.strip_prefix(NAME).and_then(|rest| rest.strip_suffix(ending));
    safe && digest.is_some_and(|digest| digest.is_empty() || digest.ends_with('.'))
}

fn cached(mut response: Response, caching: &'static str) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let there = response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED;
    if there {
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiled_files_with_and_without_a_digest() {
        for (name, ending) in [
            ("platen.css", "css"),
            ("platen.9F-a_3.js", "js"),
            ("platen.MX.wasm", "wasm"),
        ] {
            assert!(is_named(name, ending), "{name}");
        }
        for name in [
            "platen.js.br",
            "platenjs",
            "platen.xjs",
            "editor.js",
            "platen.\"x.js",
            "platen.a/b.js",
        ] {
            assert!(!is_named(name, "js"), "{name}");
        }
    }
}
