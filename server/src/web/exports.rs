//! Downloads of account exports, for logged-in owners.

use std::{fmt::Display, ops::RangeInclusive, sync::Arc};

use axum::{
    body::{Body, Bytes},
    extract::{Path, State},
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use futures::{StreamExt, TryStreamExt, stream};
use platen_core::{
    clock,
    service::exports::{
        self,
        pieces::{PIECE, PieceError, Pieces},
    },
};
use platen_domain::{ids::ExportId, role::Permission};

use crate::{
    http::held_body::HeldBody,
    web::{Web, viewer::Viewer},
};

/// `GET`, including range requests (RFC 9110, 14), because exports are large and downloads may be interrupted.
pub(super) async fn get(
    State(web): State<Web>,
    viewer: Viewer,
    Path(id): Path<String>,
    method: Method,
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
    let pieces = Pieces::open(app, caller.account, id).await.map_err(failed)?;
    let memory = app.memory.reserve(caller.account, 2 * PIECE).await;
    let memory = memory.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    // Other ranges continue a download that is recorded already.
    if method == Method::GET && range.as_ref().is_none_or(|range| *range.start() == 0) {
        exports::note_fetched(&app.db, &caller, now).await.map_err(failed)?;
    }
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
    let body = Body::new(HeldBody::new(content(pieces, range), memory));
    Ok((status, headers, content_range, body).into_response())
}

/// Returns the range of the archive that the request asks for; `None` for all of it, also if the request asks for several ranges or
/// is malformed (RFC 9110, 14.2). Fails if the range lies beyond the end.
fn wanted_range(headers: &HeaderMap, id: &ExportId, bytes: u64) -> Result<Option<RangeInclusive<u64>>, ()> {
    let is_other = headers.get(header::IF_RANGE).is_some_and(|wanted| *wanted != tag(id));
    let wanted = headers.get(header::RANGE).and_then(|range| range.to_str().ok());
    let wanted = wanted
        .filter(|_| !is_other)
        .and_then(|range| range.strip_prefix("bytes="));
    let Some((first, last)) = wanted.and_then(|range| range.split_once('-')) else {
        return Ok(None);
    };
    let end = bytes.saturating_sub(1);
    let range = match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(first), Ok(last)) if first <= last => first..=last.min(end),
        (Ok(first), _) if last.is_empty() => first..=end,
        (_, Ok(suffix)) if first.is_empty() => bytes.saturating_sub(suffix)..=end,
        _ => return Ok(None),
    };
    if range.is_empty() { Err(()) } else { Ok(Some(range)) }
}

/// An archive never changes.
fn tag(id: &ExportId) -> String {
    format!("\"{id}\"")
}

/// Returns a range of an archive, read piece by piece.
fn content(pieces: Pieces, range: RangeInclusive<u64>) -> Body {
    let pieces = Arc::new(pieces);
    let (first, last) = (*range.start(), *range.end());
    let content = stream::iter(first / PIECE..=last / PIECE).then(move |number| {
        let pieces = Arc::clone(&pieces);
        async move {
            let wanted = i32::try_from(number).map_err(|_| PieceError::Gone)?;
            let mut piece = Bytes::from(pieces.read(wanted).await?);
            let begins = number * PIECE;
            let within = |place: u64| usize::try_from(place.saturating_sub(begins)).unwrap_or(usize::MAX);
            piece.truncate(within(last + 1));
            Ok::<_, PieceError>(piece.slice(within(first).min(piece.len())..))
        }
    });
    // Truncates the file, which the browser reports as a failed download.
    Body::from_stream(content.inspect_err(|error| tracing::error!(%error, "a download of an export failed")))
}

fn failed(error: impl Display) -> StatusCode {
    tracing::error!(%error, "an account export could not be read");
    StatusCode::INTERNAL_SERVER_ERROR
}
