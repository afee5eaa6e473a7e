//! Tables as files that are written out part by part.

use axum::{
    body::Body,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use futures::{StreamExt, stream};

use crate::{domain::csv, store::error::StoreError};

/// A file with these columns. `part` gives the rows after a cursor, and where the next part begins, if there is one.
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
                    tracing::error!(%error, "a table could not be written out");
                    // The file ends in the middle, which the browser says.
                    Some((Err(error), None))
                }
            }
        }
    });
    // Bodies are asked for more after their end.
    let body = Body::from_stream(stream::once(async { Ok(head) }).chain(parts).fuse());
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/csv; charset=utf-8"),
        ),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static(disposition)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, body).into_response()
}
