//! `/api/v1/templates/{id}/preview`

use axum::{Json, extract::State};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use platen_core::{
    render_request::preview::PreviewRequest,
    service::{
        Services,
        templates::preview::{self, Preview, Shown},
    },
};
use serde::Serialize;

use crate::http::{
    error::ApiError,
    extract::{MayPreview, TemplatePath, body::JsonBody},
    v1::Data,
};

/// A preview: either images of its pages or the PDF.
#[derive(Serialize)]
pub(in crate::http) struct PreviewResponse {
    page_count: usize,
    warnings: Vec<WarningResponse>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<Vec<PageResponse>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pdf: Option<String>,
}

#[derive(Serialize)]
struct WarningResponse {
    code: &'static str,
    message: String,
}

#[derive(Serialize)]
struct PageResponse {
    width: usize,
    height: usize,
    png: String,
}

impl From<Preview> for PreviewResponse {
    fn from(preview: Preview) -> Self {
        let (pages, pdf) = match preview.shown {
            Shown::Pdf(pdf) => (None, Some(BASE64_STANDARD.encode(pdf))),
            Shown::Pictures(pictures) => {
                let pages = pictures.into_iter().map(|picture| PageResponse {
                    width: picture.width,
                    height: picture.height,
                    png: picture.png,
                });
                (Some(pages.collect()), None)
            }
        };
        let warnings = preview.warnings.into_iter().map(|warning| WarningResponse {
            code: warning.code,
            message: warning.message,
        });
        Self {
            page_count: preview.page_count,
            warnings: warnings.collect(),
            pages,
            pdf,
        }
    }
}

/// `POST`: renders a preview.
pub(in crate::http) async fn post(
    State(app): State<Services>,
    MayPreview(caller): MayPreview,
    TemplatePath(id): TemplatePath,
    JsonBody(wanted, mut memory): JsonBody<PreviewRequest>,
) -> Result<Json<Data<PreviewResponse>>, ApiError> {
    wanted.check_templates(&caller.templates)?;
    let preview = preview::preview(&app, &caller, id, wanted, &mut memory).await?;
    Ok(Json(Data { data: preview.into() }))
}
