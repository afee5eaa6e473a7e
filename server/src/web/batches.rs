//! Uploads of the rows of a batch, previews of them, and downloads of their outcomes and documents.

use axum::{
    body::to_bytes,
    extract::{FromRequest, Multipart, Path, Request, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};
use platen_app::pages::batches::{PATH, api::after, columns::ROW, page_of};
use platen_core::service::batches::{self, BatchError, preview::RowPreview};
use platen_domain::{
    batch::{BatchState, DocumentsFormat, ListedRows, RowFormat},
    ids::BatchId,
    role::Permission,
    sentence::sentence,
};
use url::form_urlencoded;

use crate::{
    http::v1::batches::{one::file, rows::outcomes},
    web::{Web, backend::RequestBackend, preview_pdf, viewer::Viewer},
};

/// `GET …/rows` and `GET …/preview.pdf`, as after a log-in: leads to the page with the form.
pub(super) async fn form(Path(id): Path<String>) -> Redirect {
    let page = BatchId::parse(&id).map(page_of);
    Redirect::to(&page.unwrap_or_else(|| PATH.to_owned()))
}

/// `POST …/rows`: stores the rows of a form (`multipart/form-data`, RFC 7578) while they arrive. `body_limits` bounds its size and
/// time.
pub(super) async fn upload(State(web): State<Web>, Path(id): Path<String>, request: Request) -> Response {
    let Some(id) = BatchId::parse(&id) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let (parts, body) = request.into_parts();
    let backend = RequestBackend::of(&web, &parts);
    let form = match Multipart::from_request(Request::from_parts(parts, body), &()).await {
        Ok(form) => form,
        Err(error) => return error.into_response(),
    };
    match backend.receive_rows(id, form).await {
        Ok(Some(state)) => {
            let done = match state {
                BatchState::Paused => "stored",
                _ => "uploaded",
            };
            Redirect::to(&after(id, done).to_string()).into_response()
        }
        Ok(None) => Redirect::to(&page_of(id)).into_response(),
        Err(error) => {
            let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::FORBIDDEN);
            (status, format!("{error}\n")).into_response()
        }
    }
}

/// `POST …/preview.pdf`: the document of a row, with the watermark of previews.
pub(super) async fn preview(State(web): State<Web>, Path(id): Path<String>, request: Request) -> Response {
    let Some(id) = BatchId::parse(&id) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let (parts, body) = request.into_parts();
    // Bounded by `body_limits`, which also responds if the form is incomplete.
    let form = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let row = form_urlencoded::parse(&form).find(|(name, _)| name == ROW);
    let row = row.map(|(_, row)| row.into_owned()).unwrap_or_default();
    match RequestBackend::of(&web, &parts).row_preview(id, &row).await {
        Ok(RowPreview { pdf, name, memory }) => {
            let name = name.unwrap_or_else(|| format!("Row {row}"));
            let name = name.strip_suffix(".pdf").unwrap_or(&name);
            preview_pdf::document(name, pdf, memory)
        }
        Err(reason) => preview_pdf::refusal(&reason),
    }
}

/// `GET …/results.csv`: the outcomes of all rows that have been opened.
pub(super) async fn results(
    State(web): State<Web>,
    viewer: Viewer,
    Path(id): Path<String>,
) -> Result<Response, StatusCode> {
    download(web, &viewer, &id, ListedRows::Opened).await
}

/// `GET …/errors.csv`: the outcomes of the failed rows.
pub(super) async fn errors(
    State(web): State<Web>,
    viewer: Viewer,
    Path(id): Path<String>,
) -> Result<Response, StatusCode> {
    download(web, &viewer, &id, ListedRows::Failed).await
}

/// `GET …/documents.zip`: the documents in the default storage.
pub(super) async fn archive(State(web): State<Web>, viewer: Viewer, Path(id): Path<String>) -> Response {
    documents(&web, &viewer, &id, DocumentsFormat::Zip).await
}

/// `GET …/documents.pdf`: the documents in the default storage, as one PDF.
pub(super) async fn collection(State(web): State<Web>, viewer: Viewer, Path(id): Path<String>) -> Response {
    documents(&web, &viewer, &id, DocumentsFormat::Pdf).await
}

async fn documents(web: &Web, viewer: &Viewer, id: &str, format: DocumentsFormat) -> Response {
    let caller = match viewer.reader(web, Permission::Produce).await {
        Ok(caller) => caller,
        Err(status) => return status.into_response(),
    };
    let Some(id) = BatchId::parse(id) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    match batches::documents::download(&web.app, &caller, id, format).await {
        Ok(download) => file(id, format, download),
        Err(error) => refusal(&error).into_response(),
    }
}

/// Returns why documents can't be downloaded.
fn refusal(error: &BatchError) -> (StatusCode, String) {
    let reason = match error {
        BatchError::Invalid(problems) => problems.first().map(|problem| problem.detail.as_str()),
        BatchError::Conflict(conflict) => Some(*conflict),
        BatchError::Memory(_) | BatchError::Busy(_) => {
            Some("the service is overloaded; download the documents again in a moment")
        }
        _ => None,
    };
    let reason = reason.map(|reason| format!("{}\n", sentence(reason)));
    (status(error), reason.unwrap_or_default())
}

fn status(error: &BatchError) -> StatusCode {
    match error {
        BatchError::NotFound => StatusCode::NOT_FOUND,
        BatchError::Conflict(_) => StatusCode::CONFLICT,
        BatchError::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
        BatchError::Memory(_) | BatchError::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
        error => {
            tracing::error!(%error, "a batch could not be read");
            StatusCode::INTERNAL_SERVER_ERROR
        }
    }
}

async fn download(web: Web, viewer: &Viewer, id: &str, rows: ListedRows) -> Result<Response, StatusCode> {
    let caller = viewer.caller(&web, Permission::Produce).await?;
    let id = BatchId::parse(id).ok_or(StatusCode::NOT_FOUND)?;
    let batch = batches::get(&web.app, &caller, id).await;
    let batch = batch.map_err(|error| status(&error))?;
    let file = match rows {
        ListedRows::Opened => "attachment; filename=\"platen-batch-results.csv\"",
        ListedRows::Failed => "attachment; filename=\"platen-batch-errors.csv\"",
    };
    let mut response = outcomes(web.app, caller, batch.id, rows, RowFormat::Csv);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static(file));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    Ok(response)
}
