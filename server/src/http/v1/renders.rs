//! `/api/v1/renders`

pub(in crate::http) mod accessibility;
pub(in crate::http) mod links;
pub(in crate::http) mod one;

use std::num::NonZeroU16;

use crate::http::{
    error::ApiError,
    extract::{MayReadRenders, PageQuery, RenderQuery},
    v1::{Data, next_page},
};
use axum::{
    Json,
    extract::State,
    http::Uri,
    response::{IntoResponse, Response},
};
use platen_core::service::{
    Services,
    renders::{history, shown::RenderResponse},
};
use platen_domain::{ids::RenderId, render::history::RenderFilter};

/// Default page size, because an account may have a million renders.
const PAGE_SIZE: NonZeroU16 = NonZeroU16::MIN.saturating_add(99);

/// `GET`: lists renders, the newest first.
pub(in crate::http) async fn get(
    State(app): State<Services>,
    MayReadRenders(caller): MayReadRenders,
    RenderQuery(filter): RenderQuery,
    PageQuery(mut request): PageQuery<RenderId>,
    uri: Uri,
) -> Result<Response, ApiError> {
    request.size.get_or_insert(PAGE_SIZE);
    let filter = RenderFilter {
        key: caller.sees_renders_of(),
        ..filter
    };
    let page = history::list(&app.db, caller.account, &filter, request).await?;
    let link = next_page(&uri, &request, page.next);
    let data: Vec<_> = page.items.into_iter().map(RenderResponse::from).collect();
    Ok((link, Json(Data { data })).into_response())
}
