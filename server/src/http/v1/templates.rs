//! `/api/v1/templates`

pub(in crate::http) mod comparison;
pub(in crate::http) mod one;
pub(in crate::http) mod preview;
pub(in crate::http) mod promotions;
pub(in crate::http) mod samples;
pub(in crate::http) mod settings;
pub(in crate::http) mod versions;

use axum::{
    Json,
    body::{Body, Bytes},
    extract::State,
    http::{StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use futures::{Stream, StreamExt as _, stream};
use platen_core::{
    memory::Reservation,
    service::{
        Services,
        templates::{self, TemplateError},
    },
};
use platen_domain::{
    ids::{AccountId, TemplateId},
    template::{Submission, Template, TemplateCreation},
};

use crate::http::{
    conditional::entity_tag,
    error::ApiError,
    extract::{EveryTemplate, MayReadTemplates, MayWriteTemplates, PageQuery, body::JsonBody},
    v1::{Data, next_page},
};

/// Size of the templates that are read and serialized together for a list, in bytes, unless one alone is larger.
const BATCH: u64 = 8 << 20;
/// Memory reserved for such a batch and its text, in bytes.
const LIST_MEMORY: u64 = 32 << 20;

/// Creates a response with one template and its entity tag.
fn tagged(template: Template) -> impl IntoResponse {
    ([entity_tag(template.version)], Json(Data { data: template }))
}

/// `GET`: lists templates, the newest first.
pub(in crate::http) async fn get(
    State(app): State<Services>,
    MayReadTemplates(caller): MayReadTemplates,
    _: EveryTemplate,
    PageQuery(request): PageQuery<TemplateId>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let page = templates::list_ids(&app.db, caller.account, request).await?;
    let link = next_page(&uri, &request, page.next);
    let memory = app.memory.reserve(caller.account, LIST_MEMORY).await?;
    let json = [(header::CONTENT_TYPE, "application/json")];
    let body = Body::from_stream(in_batches(app, caller.account, page.items, memory));
    Ok((link, json, body).into_response())
}

/// Streams a list of templates as JSON in batches, because all of them together may exceed the available memory.
fn in_batches(
    app: Services,
    account: AccountId,
    ids: Vec<(TemplateId, u64)>,
    memory: Reservation,
) -> impl Stream<Item = Result<Bytes, TemplateError>> {
    let beginning = stream::once(async { Ok(Bytes::from_static(b"{\"data\":[")) });
    let state = (app, ids.into_iter().peekable(), memory, true);
    let items = stream::try_unfold(state, move |(app, mut ids, memory, mut is_first)| async move {
        let Some((first, mut bytes)) = ids.next() else {
            return Ok(None);
        };
        let mut batch = vec![first];
        while let Some((id, more)) = ids.next_if(|(_, more)| bytes + more <= BATCH) {
            batch.push(id);
            bytes += more;
        }
        let mut text = Vec::new();
        for template in templates::list(&app.db, account, &batch).await? {
            if !std::mem::take(&mut is_first) {
                text.push(b',');
            }
            // Serializing a template can't fail.
            let _ = serde_json::to_writer(&mut text, &template);
        }
        Ok(Some((Bytes::from(text), (app, ids, memory, is_first))))
    });
    let end = stream::once(async { Ok(Bytes::from_static(b"]}")) });
    beginning.chain(items).chain(end)
}

/// `POST`: creates a template.
pub(in crate::http) async fn post(
    State(app): State<Services>,
    MayWriteTemplates(caller): MayWriteTemplates,
    _: EveryTemplate,
    JsonBody(submission, _memory): JsonBody<Submission<TemplateCreation>>,
) -> Result<Response, ApiError> {
    let template = templates::create(&app, &caller, submission).await?;
    let location = [(header::LOCATION, format!("/api/v1/templates/{}", template.id))];
    Ok((StatusCode::CREATED, location, tagged(template)).into_response())
}
