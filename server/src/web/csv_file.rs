//! CSV files, streamed in parts.

use axum::{
    body::Body,
    http::header,
    response::{IntoResponse, Response},
};
use futures::{StreamExt, stream};
use platen_core::store::error::StoreError;
use platen_domain::csv;

/// Responds with a CSV file with these columns. `part` returns the rows after a cursor, and the cursor of the next part
/// if there is one.
pub(super) fn answer<Cursor, Reading>(
    disposition: &'static str,
    columns: &[&str],
    part: impl Fn(Option<Cursor>) -> Reading + Send + 'static,
) -> Response
where
    Cursor: Send + 'static,
    Reading: Future<Output = Result<(String, Option<Cursor>), StoreError>> + Send + 'static,
{
    let head = csv::row(columns);
    let parts = stream::unfold(Some(None), move |next: Option<Option<Cursor>>| {
        let reading = next.map(&part);
        async move {
            match reading?.await {
                Ok((rows, next)) => Some((Ok(rows), next.map(Some))),
                Err(error) => {
                    tracing::error!(%error, "a CSV export failed");
                    // Truncates the file, which the browser reports as a failed download.
                    Some((Err(error), None))
                }
            }
        }
    });
    // Response bodies are polled again after their end.
    let body = Body::from_stream(stream::once(async { Ok(head) }).chain(parts).fuse());
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, disposition),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, body).into_response()
}
