//! `/api/v1/templates/{id}/channels` and `…/promotions`, and `/api/v1/channels`.

use axum::{
    Json,
    extract::State,
    http::{StatusCode, Uri},
    response::{IntoResponse, Response},
};
use platen_core::service::{
    Services,
    templates::{TemplateError, channels, promotions},
};
use platen_domain::{
    ids::PromotionId,
    template::{
        channels::Channels,
        promotions::{ChannelRelease, Promotion, PromotionRequest},
    },
};

use crate::http::{
    error::ApiError,
    extract::{MayReadTemplates, MayWriteTemplates, PageQuery, PromotionPath, TemplatePath, body::JsonBody},
    v1::{Data, next_page},
};

/// `GET /api/v1/channels`
pub(in crate::http) async fn channels(
    State(app): State<Services>,
    MayReadTemplates(caller): MayReadTemplates,
) -> Result<Json<Data<Channels>>, ApiError> {
    let data = channels::find(&app.db, caller.account).await;
    let data = data.map_err(TemplateError::from)?;
    Ok(Json(Data { data }))
}

/// `GET …/channels`: the release in each channel.
pub(in crate::http) async fn releases(
    State(app): State<Services>,
    MayReadTemplates(caller): MayReadTemplates,
    TemplatePath(id): TemplatePath,
) -> Result<Json<Data<Vec<ChannelRelease>>>, ApiError> {
    let data = channels::releases(&app.db, caller.account, id).await?;
    Ok(Json(Data { data }))
}

/// `GET …/promotions`: lists promotions, the newest first.
pub(in crate::http) async fn list(
    State(app): State<Services>,
    MayReadTemplates(caller): MayReadTemplates,
    TemplatePath(id): TemplatePath,
    PageQuery(request): PageQuery<PromotionId>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let page = promotions::list(&app.db, caller.account, id, request).await?;
    let link = next_page(&uri, &request, page.next);
    Ok((link, Json(Data { data: page.items })).into_response())
}

/// `POST …/promotions`: promotes a release, at once or later.
pub(in crate::http) async fn post(
    State(app): State<Services>,
    MayWriteTemplates(caller): MayWriteTemplates,
    TemplatePath(id): TemplatePath,
    JsonBody(request, _memory): JsonBody<PromotionRequest>,
) -> Result<(StatusCode, Json<Data<Promotion>>), ApiError> {
    let data = promotions::request(&app.db, &caller, id, request).await?;
    Ok((StatusCode::CREATED, Json(Data { data })))
}

/// `DELETE …/promotions/{promotion}`: cancels a promotion that waits.
pub(in crate::http) async fn delete(
    State(app): State<Services>,
    MayWriteTemplates(caller): MayWriteTemplates,
    PromotionPath(id, promotion): PromotionPath,
) -> Result<StatusCode, ApiError> {
    promotions::cancel(&app.db, &caller, id, promotion).await?;
    Ok(StatusCode::NO_CONTENT)
}
