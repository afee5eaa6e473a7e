//! Uploads of assets, and the pictures and fonts among them.

use axum::{
    body::Body,
    extract::{FromRequest, Multipart, Path, Query, Request, State, multipart::MultipartError},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};
use platen_app::pages::{
    assets::{
        PATH,
        upload::{FILES, FOLDER, REPLACED, TO_FONTS},
    },
    fonts::PATH as FONTS,
};
use platen_core::service::assets::{self, AssetError};
use platen_domain::{
    asset::{self, AssetCreation, UploadReport, font_sheet},
    ids::AssetId,
    role::Permission,
};
use serde::Deserialize;

use crate::{
    http::held_body::HeldBody,
    web::{Web, backend::RequestBackend, viewer::Viewer},
};

/// Maximum number of files that an upload stores.
const MOST_FILES: usize = 500;
/// Pictures in SVG may contain styles, and scripts, which don't run.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'";

/// `GET …/upload`, as after a log-in: leads to the page with the form.
pub(super) async fn form() -> Redirect {
    Redirect::to(PATH)
}

/// `POST …/upload`: stores the files of a form (`multipart/form-data`, RFC 7578). `body_limits` bounds its size and time.
pub(super) async fn upload(State(web): State<Web>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let backend = RequestBackend::of(&web, &parts);
    let query = parts.uri.query().unwrap_or_default();
    let page = if query.ends_with(TO_FONTS) { FONTS } else { PATH };
    let files = match Multipart::from_request(Request::from_parts(parts, body), &()).await {
        Ok(form) => read(form).await,
        Err(error) => return error.into_response(),
    };
    let stored = match files {
        Ok((files, report)) => backend.upload_assets(files, report).await,
        Err(error) => return error.into_response(),
    };
    match stored {
        Ok(()) => Redirect::to(page).into_response(),
        Err(error) => {
            let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::FORBIDDEN);
            (status, format!("{error}\n")).into_response()
        }
    }
}

/// Returns the files that can be assets, and a report of the others.
async fn read(mut form: Multipart) -> Result<(Vec<AssetCreation>, UploadReport), MultipartError> {
    let (mut files, mut report) = (Vec::new(), UploadReport::default());
    let (mut folder, mut replaced) = (String::new(), None);
    // The folder may be the last field.
    let mut received: Vec<(String, Vec<u8>)> = Vec::new();
    while let Some(field) = form.next_field().await? {
        match field.name() {
            Some(REPLACED) => replaced = Some(field.text().await?),
            Some(FOLDER) => field.text().await?.trim_matches(['/', ' ']).clone_into(&mut folder),
            Some(FILES) => {
                let name = field.file_name().unwrap_or_default().to_owned();
                if name.is_empty() {
                    // A field in which no file was chosen.
                } else if received.len() < MOST_FILES {
                    received.push((name, field.bytes().await?.into()));
                } else {
                    let reason = format!("An upload stores up to {MOST_FILES} files; upload the others separately");
                    report.leave_out(&name, reason);
                }
            }
            _ => {}
        }
    }
    if let Some(problem) = asset::name_problem(&folder).filter(|_| !folder.is_empty()) {
        report.leave_out(&folder, problem);
        return Ok((files, report));
    }
    if replaced.is_some() {
        received.truncate(1);
    }
    for (name, content) in received {
        let name = match replaced.take() {
            Some(replaced) => replaced,
            None if folder.is_empty() => name,
            None => format!("{folder}/{name}"),
        };
        match AssetCreation::of_file(&name, content) {
            Ok(file) => files.push(file),
            Err(reason) => report.leave_out(&name, reason),
        }
    }
    Ok((files, report))
}

/// `GET …/{id}/picture`: the content of an asset that is a picture.
pub(super) async fn picture(
    State(web): State<Web>,
    viewer: Viewer,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, StatusCode> {
    content(&web, &viewer, &id, "image/", &headers).await
}

/// `GET …/{id}/font`: the content of an asset that is a font.
pub(super) async fn font(
    State(web): State<Web>,
    viewer: Viewer,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, StatusCode> {
    content(&web, &viewer, &id, "font/", &headers).await
}

/// `GET …/{id}/content`: the content of any asset, as a file to save.
pub(super) async fn download(
    State(web): State<Web>,
    viewer: Viewer,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, StatusCode> {
    let mut response = content(&web, &viewer, &id, "", &headers).await?;
    let attachment = HeaderValue::from_static("attachment");
    response.headers_mut().insert(header::CONTENT_DISPOSITION, attachment);
    Ok(response)
}

/// Returns the content of an asset whose media type begins with `kind`.
async fn content(
    web: &Web,
    viewer: &Viewer,
    id: &str,
    kind: &str,
    headers: &HeaderMap,
) -> Result<Response, StatusCode> {
    let id = AssetId::parse(id).ok_or(StatusCode::NOT_FOUND)?;
    let account = viewer.reader(web, Permission::Produce).await?.account;
    let asset = assets::get(&web.app.db, account, id)
        .await
        .map_err(|error| failed(&error))?;
    if !asset.content_type.starts_with(kind) {
        return Err(StatusCode::NOT_FOUND);
    }
    let tag = format!("\"{}\"", asset.sha256);
    let described = [
        (header::ETAG, tag.as_str()),
        // Revalidated by every request, so that nothing is shown after a log-out.
        (header::CACHE_CONTROL, "private, no-cache"),
        (header::CONTENT_TYPE, asset.content_type.as_str()),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ];
    let known = headers.get(header::IF_NONE_MATCH);
    if known.is_some_and(|known| known == tag.as_str()) {
        return Ok((StatusCode::NOT_MODIFIED, described).into_response());
    }
    let content = assets::content(&web.app, account, &asset).await;
    let (content, memory) = content.map_err(|error| failed(&error))?;
    let response = (described, content).into_response();
    Ok(response.map(|body| Body::new(HeldBody::new(body, memory))))
}

/// The filter of the page of fonts.
#[derive(Deserialize)]
pub(super) struct FontFilter {
    q: Option<String>,
}

/// `GET /dashboard/fonts.css`: declares the fonts on the page of fonts for their specimens.
pub(super) async fn specimen_sheet(
    State(web): State<Web>,
    viewer: Viewer,
    Query(filter): Query<FontFilter>,
) -> Result<Response, StatusCode> {
    let account = viewer.reader(&web, Permission::Produce).await?.account;
    // As the page of fonts reads it.
    let search = filter.q.map(|search| search.replace('\0', ""));
    let found = assets::find_fonts(&web.app.db, account, search.as_deref()).await;
    let (fonts, _) = found.map_err(|error| failed(&error))?;
    let sheet = font_sheet::specimen_sheet(&fonts, |font| format!("{PATH}/{}/font", font.id));
    let headers = [
        (header::CACHE_CONTROL, "private, no-cache"),
        (header::CONTENT_TYPE, "text/css; charset=utf-8"),
    ];
    Ok((headers, sheet).into_response())
}

fn failed(error: &AssetError) -> StatusCode {
    match error {
        AssetError::NotFound => return StatusCode::NOT_FOUND,
        AssetError::Memory(_) => return StatusCode::SERVICE_UNAVAILABLE,
        _ => {}
    }
    tracing::error!(%error, "an asset could not be read");
    StatusCode::INTERNAL_SERVER_ERROR
}
