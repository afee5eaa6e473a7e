//! `/api/v1/templates/{id}/samples`

use axum::{Json, extract::State};
use platen_core::service::{Services, templates::drafts};
use platen_domain::template::sample_sets::{NamedSet, SampleSetReplacement};

use crate::http::{
    error::ApiError,
    extract::{MayReadTemplates, MayWriteTemplates, TemplatePath, body::JsonBody},
    v1::Data,
};

/// `GET`: lists the sets of sample data, without the preview context.
pub(in crate::http) async fn get(
    State(app): State<Services>,
    MayReadTemplates(caller): MayReadTemplates,
    TemplatePath(id): TemplatePath,
) -> Result<Json<Data<Vec<NamedSet>>>, ApiError> {
    let data = drafts::named_sets(&app.db, caller.account, id).await?;
    Ok(Json(Data { data }))
}

/// `PUT`: replaces these sets.
pub(in crate::http) async fn put(
    State(app): State<Services>,
    MayWriteTemplates(caller): MayWriteTemplates,
    TemplatePath(id): TemplatePath,
    JsonBody(SampleSetReplacement(sets), _memory): JsonBody<SampleSetReplacement>,
) -> Result<Json<Data<Vec<NamedSet>>>, ApiError> {
    let data = drafts::replace_named_sets(&app.db, &caller, id, sets).await?;
    Ok(Json(Data { data }))
}
