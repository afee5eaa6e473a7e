//! `/api/v1/templates/{id}/compare`

use axum::{Json, extract::State};
use platen_core::service::{Services, templates::comparison};
use platen_domain::{
    page_comparison::{ComparedPage, PageChange, PageComparison, Picture, Pictures},
    template::comparison::ComparisonRequest,
};
use serde::Serialize;

use crate::http::{
    error::ApiError,
    extract::{MayPreview, TemplatePath, body::JsonBody},
    v1::Data,
};

#[derive(Serialize)]
pub(in crate::http) struct ComparisonResponse {
    older_pages: usize,
    newer_pages: usize,
    pages: Vec<PageResponse>,
}

#[derive(Serialize)]
struct PageResponse {
    number: usize,
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_pixels: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Picture>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Picture>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Picture>,
}

impl ComparisonResponse {
    fn new(compared: PageComparison, with_pictures: bool) -> Self {
        let pages = compared.pages.into_iter();
        Self {
            older_pages: compared.older_pages,
            newer_pages: compared.newer_pages,
            pages: pages.map(|page| PageResponse::new(page, with_pictures)).collect(),
        }
    }
}

impl PageResponse {
    fn new(page: ComparedPage, with_pictures: bool) -> Self {
        let (change, changed_pixels) = match page.change {
            PageChange::Unchanged => ("unchanged", None),
            PageChange::Changed { pixels } => ("changed", Some(pixels)),
            PageChange::Added => ("added", None),
            PageChange::Removed => ("removed", None),
        };
        let pictures = page.pictures.filter(|_| with_pictures);
        let (before, after, difference) = match pictures {
            Some(Pictures {
                before,
                after,
                difference,
            }) => (before, after, difference),
            None => (None, None, None),
        };
        Self {
            number: page.number,
            change,
            changed_pixels,
            before,
            after,
            difference,
        }
    }
}

/// `POST`: compares the pages of two versions.
pub(in crate::http) async fn post(
    State(app): State<Services>,
    MayPreview(caller): MayPreview,
    TemplatePath(id): TemplatePath,
    JsonBody(request, _memory): JsonBody<ComparisonRequest>,
) -> Result<Json<Data<ComparisonResponse>>, ApiError> {
    request.check_templates(&caller.templates)?;
    let with_pictures = request.pictures;
    let compared = comparison::compare_requested(&app, &caller, id, request).await?;
    let data = ComparisonResponse::new(compared, with_pictures);
    Ok(Json(Data { data }))
}
