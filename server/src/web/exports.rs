//! Downloads of account exports, for logged-in owners.

use std::ops::RangeInclusive;

use axum::{
    body::{Body, Bytes},
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use futures::{StreamExt, TryStreamExt, stream};
use http_range_header::parse_range_header;
use platen_core::{
    clock,
    service::{
        Services,
        exports::{
            self,
            pieces::{self, PIECE, PieceError},
        },
    },
    store::error::StoreError,
};
use platen_domain::{
    ids::{AccountId, ExportId},
    role::Permission,
};

use crate::{
    http::held_body::HeldBody,
    web::{Web, viewer::Viewer},
};

/// `GET`, including range requests (RFC 9110, 14), because exports are large and downloads may be interrupted.
pub(super) async fn get(
    State(web): State<Web>,
    viewer: Viewer,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, StatusCode> {
    let id = ExportId::parse(&id).ok_or(StatusCode::NOT_FOUND)?;
    let (app, now) = (&web.app, clock::now());
    let caller = viewer.reader(&web, Permission::ExportAccount).await?;
    let archive = exports::find(app, &caller, id, now).await.map_err(failed)?;
    let archive = archive.ok_or(StatusCode::NOT_FOUND)?;
    let bytes = archive.bytes.unsigned_abs();
    let Ok(range) = wanted_range(&headers, &id, bytes) else {
        let unsatisfied = [(header::CONTENT_RANGE, format!("bytes */{bytes}"))];
        return Ok((StatusCode::RANGE_NOT_SATISFIABLE, unsatisfied).into_response());
    };
    // A range request continues a download that is recorded already.
    if range.is_none() {
        exports::note_fetched(&app.db, &caller, now).await.map_err(failed)?;
    }
    let memory = app.memory.reserve(caller.account, 2 * PIECE).await;
    let memory = memory.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    let status = match range {
        Some(_) => StatusCode::PARTIAL_CONTENT,
        None => StatusCode::OK,
    };
    let content_range = range.as_ref().map(|range| {
        let value = format!("bytes {}-{}/{bytes}", range.start(), range.end());
        [(header::CONTENT_RANGE, value)]
    });
    let range = range.unwrap_or(0..=bytes.saturating_sub(1));
    let headers = [
        (header::CONTENT_TYPE, "application/zip".to_owned()),
        (header::CONTENT_LENGTH, (range.end() - range.start() + 1).to_string()),
        (header::ACCEPT_RANGES, "bytes".to_owned()),
        (header::ETAG, tag(&id)),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"platen-export-{}.zip\"", archive.asked_at.date()),
        ),
    ];
    let body = Body::new(HeldBody::new(content(app.clone(), caller.account, id, range), memory));
    Ok((status, headers, content_range, body).into_response())
}

/// Returns the range of the archive that the request asks for; `None` for all of it. Of several ranges, all is sent. Fails if the
/// range lies beyond the end.
fn wanted_range(headers: &HeaderMap, id: &ExportId, bytes: u64) -> Result<Option<RangeInclusive<u64>>, ()> {
    let is_other = headers.get(header::IF_RANGE).is_some_and(|wanted| *wanted != tag(id));
    let wanted = headers.get(header::RANGE).and_then(|range| range.to_str().ok());
    let Some(wanted) = wanted.filter(|_| !is_other) else {
        return Ok(None);
    };
    // Malformed ranges are ignored (RFC 9110, 14.2).
    let Ok(parsed) = parse_range_header(wanted) else {
        return Ok(None);
    };
    let ranges = parsed.validate(bytes).map_err(drop)?;
    match <[_; 1]>::try_from(ranges) {
        Ok([range]) => Ok(Some(range)),
        Err(_) => Ok(None),
    }
}

/// An archive never changes.
fn tag(id: &ExportId) -> String {
    format!("\"{id}\"")
}

/// Returns a range of an archive, read piece by piece.
fn content(app: Services, account: AccountId, id: ExportId, range: RangeInclusive<u64>) -> Body {
    let (first, last) = (*range.start(), *range.end());
    let pieces = stream::iter(first / PIECE..=last / PIECE);
    let pieces = pieces.then(move |number| {
        let app = app.clone();
        async move {
            let wanted = i32::try_from(number).map_err(|_| PieceError::Gone)?;
            let mut piece = Bytes::from(pieces::read(&app, account, id, wanted).await?);
            let begins = number * PIECE;
            let within = |place: u64| usize::try_from(place.saturating_sub(begins)).unwrap_or(usize::MAX);
            piece.truncate(within(last + 1));
            Ok::<_, PieceError>(piece.slice(within(first).min(piece.len())..))
        }
    });
    // Truncates the file, which the browser reports as a failed download.
    Body::from_stream(pieces.inspect_err(|error| tracing::error!(%error, "a download of an export failed")))
}

#[expect(clippy::needless_pass_by_value, reason = "maps errors")]
fn failed(error: StoreError) -> StatusCode {
    tracing::error!(%error, "an account export could not be read");
    StatusCode::INTERNAL_SERVER_ERROR
}
