//! The rows of a batch: `/api/v1/batches/{id}/rows`, `/results` and `/errors`.

use axum::{
    Json,
    body::{Body, Bytes, HttpBody as _},
    extract::{FromRequest, Request, State},
    http::{Uri, header},
    response::{IntoResponse, Response},
};
use futures::{TryStreamExt, stream};
use platen_core::{
    render_request::batch::RowsSource,
    service::{
        Services,
        batches::{
            self, BatchError, download,
            upload::{self, AfterUpload, RowsFile},
        },
    },
    store::batches::outcomes::RowOutcome,
};
use platen_domain::{
    batch::{Batch, ListedRows, RowFormat, RowState},
    caller::Caller,
    csv,
    ids::BatchId,
};
use serde_json::json;

use crate::http::{
    ApiState,
    error::ApiError,
    extract::{
        BatchPath, MayReadRenders, MayRender,
        body::{JsonBody, is_json},
    },
    v1::Data,
};

/// Rows whose outcomes are read at a time.
const AT_ONCE: i64 = 1_000;
const WRONG_TYPE: &str = "Send rows with Content-Type: application/x-ndjson or text/csv, uncompressed, or the URL of a file with Content-Type: application/json.";

/// The body of a request for the rows of a batch.
pub(in crate::http) enum RowsBody {
    /// The rows, which are not read yet.
    Rows(RowFormat, Body),
    /// The URL of a file with them.
    Source(JsonBody<RowsSource>),
}

impl FromRequest<ApiState> for RowsBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, ApiError> {
        if is_json(request.headers()) {
            return JsonBody::<RowsSource>::from_request(request, state)
                .await
                .map(Self::Source);
        }
        let headers = request.headers();
        let text = |name| headers.get(&name).and_then(|value| value.to_str().ok());
        let format = text(header::CONTENT_TYPE).and_then(RowFormat::of_media_type);
        let is_plain = text(header::CONTENT_ENCODING).is_none_or(|encoding| encoding.eq_ignore_ascii_case("identity"));
        let format = format.filter(|_| is_plain).ok_or(ApiError::MediaType(WRONG_TYPE))?;
        Ok(Self::Rows(format, request.into_body()))
    }
}

/// `PUT …/rows`: uploads the rows, or downloads them, after which the batch runs. A repeated request with the same rows succeeds.
pub(in crate::http) async fn put(
    State(app): State<Services>,
    MayRender(caller): MayRender,
    BatchPath(id): BatchPath,
    body: RowsBody,
) -> Result<Json<Data<Batch>>, ApiError> {
    let data = match body {
        RowsBody::Rows(format, rows) => {
            let file = RowsFile {
                format,
                length: rows.size_hint().exact(),
                after_upload: AfterUpload::Begin,
                content: rows.into_data_stream().map_err(|_| ApiError::incomplete()),
            };
            upload::store(&app, &caller, id, file).await?
        }
        RowsBody::Source(JsonBody(source, _memory)) => {
            download::store(&app, &caller, id, source, AfterUpload::Begin).await?
        }
    };
    Ok(Json(Data { data }))
}

/// `GET …/results`: the outcomes of all rows that have been opened.
pub(in crate::http) async fn results(
    State(app): State<Services>,
    MayReadRenders(caller): MayReadRenders,
    BatchPath(id): BatchPath,
    uri: Uri,
) -> Result<Response, ApiError> {
    list(app, &caller, id, ListedRows::Opened, &uri).await
}

/// `GET …/errors`: the outcomes of the failed rows.
pub(in crate::http) async fn errors(
    State(app): State<Services>,
    MayReadRenders(caller): MayReadRenders,
    BatchPath(id): BatchPath,
    uri: Uri,
) -> Result<Response, ApiError> {
    list(app, &caller, id, ListedRows::Failed, &uri).await
}

/// Responds with outcomes, in the format that the query names.
async fn list(app: Services, caller: &Caller, id: BatchId, rows: ListedRows, uri: &Uri) -> Result<Response, ApiError> {
    let format = RowFormat::parse(uri.query().unwrap_or_default()).map_err(ApiError::Invalid)?;
    let batch = batches::get(&app, caller, id).await?;
    Ok(outcomes(app, caller.clone(), batch.id, rows, format))
}

/// Responds with outcomes of an existing batch while they are read from the database. Breaks off if the batch is deleted meanwhile.
pub(crate) fn outcomes(app: Services, caller: Caller, id: BatchId, rows: ListedRows, format: RowFormat) -> Response {
    let heading = match format {
        RowFormat::Ndjson => String::new(),
        RowFormat::Csv => csv::row(&["row", "state", "render_id", "path", "document_url", "code", "message"]),
    };
    let following = stream::try_unfold(Some(0), move |after: Option<i32>| {
        let (app, caller) = (app.clone(), caller.clone());
        async move {
            let Some(after) = after else {
                return Ok::<_, BatchError>(None);
            };
            let outcomes = batches::outcomes(&app, &caller, id, rows, after, AT_ONCE).await?;
            let text: String = outcomes.iter().map(|outcome| line(outcome, format)).collect();
            let next = outcomes.last().map(|last| last.number);
            Ok(Some((Bytes::from(text), next)))
        }
    });
    let heading = stream::iter([Ok::<_, BatchError>(Bytes::from(heading))]);
    let body = Body::from_stream(stream::StreamExt::chain(heading, following));
    ([(header::CONTENT_TYPE, format.media_type())], body).into_response()
}

fn line(outcome: &RowOutcome, format: RowFormat) -> String {
    let RowOutcome {
        number,
        state,
        render,
        path,
        document_url,
        error,
    } = outcome;
    let state = match state {
        RowState::Opened | RowState::Again => "unfinished",
        RowState::Succeeded => "succeeded",
        RowState::Failed => "failed",
    };
    match format {
        RowFormat::Ndjson => {
            let line = json!({
                "row": number, "state": state, "render_id": render, "path": path, "document_url": document_url, "error": error,
            });
            format!("{line}\n")
        }
        RowFormat::Csv => {
            let text = |member: &str| {
                error
                    .as_ref()
                    .and_then(|error| error[member].as_str())
                    .unwrap_or_default()
            };
            let render = render.map(|id| id.to_string()).unwrap_or_default();
            csv::row(&[
                &number.to_string(),
                state,
                &render,
                path.as_deref().unwrap_or_default(),
                document_url.as_deref().unwrap_or_default(),
                text("code"),
                text("message"),
            ])
        }
    }
}
