//! Extractors, in the order in which a request is checked: caller, scopes of the key and, in [`body`], the body.

pub(super) mod body;

use std::str::FromStr;

use axum::{
    extract::{FromRequestParts, Path},
    http::{Extensions, HeaderMap, header, request::Parts},
};
use platen_core::{
    clock,
    service::{
        Services,
        api_keys::{self, known::RenderCaller},
        assets::AssetError,
        batches::BatchError,
        connections::ConnectionError,
        rate_limits::Rate,
        templates::TemplateError,
    },
};
use platen_domain::{
    allowed::NotAllowed,
    api_key::Scope,
    asset::AssetFilter,
    caller::Caller,
    client::Client,
    ids::{AssetId, BatchId, ConnectionId, PromotionId, RenderId, TemplateId},
    page::PageRequest,
    render::history::RenderFilter,
};
use serde::Deserialize;

use crate::http::{
    ApiState, PreauthenticatedCaller,
    client_address::client,
    error::ApiError,
    rate_limit::{RateLimitSlot, RateLimitStatus, whole_seconds},
};

/// The owner of the bearer token (RFC 6750, 2.1). Counts the request against the account's rate limit.
impl FromRequestParts<ApiState> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let caller = match parts.extensions.get::<PreauthenticatedCaller>() {
            Some(PreauthenticatedCaller(caller)) => caller.clone(),
            None => holder_of_key(parts, &state.app).await?,
        };
        admit(parts, state, &caller).await?;
        Ok(caller)
    }
}

/// Returns the token of a request and the client that presents it.
fn presented<'a>(parts: &'a Parts, app: &Services) -> Result<(&'a str, Option<Client>), ApiError> {
    let token = bearer_token(&parts.headers).ok_or(ApiError::NoToken)?;
    Ok((token, client(parts, &app.config.http.trusted_proxies)))
}

async fn holder_of_key(parts: &Parts, app: &Services) -> Result<Caller, ApiError> {
    let (token, client) = presented(parts, app)?;
    let limits = &app.config.limits;
    Ok(api_keys::authenticate(&app.db, &app.key_usage, limits, token, client, clock::now()).await?)
}

/// Counts a request against the rate limit of its account.
async fn admit(parts: &mut Parts, state: &ApiState, caller: &Caller) -> Result<(), ApiError> {
    tracing::Span::current().record("account_id", tracing::field::display(caller.account));
    let per_minute = caller.limits.rate_per_minute;
    let taken = state
        .app
        .rate_limits
        .take(caller.account, Rate::Requests(per_minute))
        .await?;
    let status = RateLimitStatus::new(per_minute, taken);
    if let Some(slot) = parts.extensions.get::<RateLimitSlot>() {
        slot.fill(status);
    }
    if let Some(seconds) = status.refused_for() {
        return Err(ApiError::RateLimited(seconds));
    }
    parts.extensions.insert(caller.clone());
    Ok(())
}

/// Returns whether the body has a known length that is small enough to start the render before the key is confirmed.
/// `limit` is the account's limit on bodies, in bytes.
fn is_small(headers: &HeaderMap, limit: usize) -> bool {
    const SMALL: usize = 1 << 20;
    let length = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok());
    let length: Option<usize> = length.and_then(|length| length.parse().ok());
    length.is_some_and(|length| length <= limit.min(SMALL))
}

/// A caller whose key has the scope `render`. A known key may be accepted provisionally and confirmed when the render
/// is opened.
pub(super) struct MayRenderNow(pub(super) RenderCaller);

impl FromRequestParts<ApiState> for MayRenderNow {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let app = &state.app;
        let mut caller = if let Some(PreauthenticatedCaller(caller)) = parts.extensions.get() {
            RenderCaller::without_key(caller.clone())
        } else {
            let (token, client) = presented(parts, app)?;
            RenderCaller::recognise(app, token, client).await?
        };
        // Known limits may be outdated, so nothing is refused because of them before the key is confirmed.
        if !is_small(&parts.headers, caller.caller.limits.body_bytes) {
            caller = caller.confirm(app).await?;
        }
        let admitted = admit(parts, state, &caller.caller).await;
        if admitted.is_err() && caller.unconfirmed().is_some() {
            caller = caller.confirm(app).await?;
            admit(parts, state, &caller.caller).await?;
        } else {
            admitted?;
        }
        require_scope(&caller.caller, Scope::Render)?;
        Ok(Self(caller))
    }
}

/// Returns the bearer token. The scheme is case-insensitive (RFC 9110, 11.1).
pub(super) fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() && !token.contains(' ')).then_some(token)
}

fn require_scope(caller: &Caller, scope: Scope) -> Result<(), ApiError> {
    if caller.scopes.contains(scope) {
        Ok(())
    } else {
        Err(ApiError::MissingScope(scope))
    }
}

/// Defines an extractor for a caller whose key has a scope.
macro_rules! caller_with_scope {
    ($name:ident, $scope:expr) => {
        pub(super) struct $name(pub(super) Caller);

        impl FromRequestParts<ApiState> for $name {
            type Rejection = ApiError;

            async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
                let caller = Caller::from_request_parts(parts, state).await?;
                require_scope(&caller, $scope)?;
                Ok(Self(caller))
            }
        }
    };
}

caller_with_scope!(MayRender, Scope::Render);
caller_with_scope!(MayReadRenders, Scope::RendersRead);
caller_with_scope!(MayReadUsage, Scope::UsageRead);
caller_with_scope!(MayReadTemplates, Scope::TemplatesRead);
caller_with_scope!(MayWriteTemplates, Scope::TemplatesWrite);
caller_with_scope!(MayReadAssets, Scope::AssetsRead);
caller_with_scope!(MayWriteAssets, Scope::AssetsWrite);
caller_with_scope!(MayReadConnections, Scope::ConnectionsRead);
caller_with_scope!(MayWriteConnections, Scope::ConnectionsWrite);

/// The template in the path, if the key may use it. The caller must be extracted before.
pub(super) struct TemplatePath(pub(super) TemplateId);

impl FromRequestParts<ApiState> for TemplatePath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let path: Result<Path<TemplateSegments>, _> = Path::from_request_parts(parts, state).await;
        let id = path.ok().and_then(|Path(segments)| TemplateId::parse(&segments.id));
        let id = id.ok_or(ApiError::Template(TemplateError::NotFound))?;
        let caller = extracted_caller(&parts.extensions)?;
        if caller.templates.contains(&id) {
            Ok(Self(id))
        } else {
            Err(NotAllowed::new(format!("the template {id}")).into())
        }
    }
}

/// The render in the path.
pub(super) struct RenderPath(pub(super) RenderId);

impl FromRequestParts<ApiState> for RenderPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let path: Result<Path<String>, _> = Path::from_request_parts(parts, state).await;
        let id = path.ok().and_then(|Path(id)| RenderId::parse(&id));
        id.map(Self).ok_or(ApiError::NoSuchRender)
    }
}

/// The filter of a list of renders, from the query string.
pub(super) struct RenderQuery(pub(super) RenderFilter);

impl FromRequestParts<ApiState> for RenderQuery {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &ApiState) -> Result<Self, ApiError> {
        let filter = RenderFilter::parse(parts.uri.query().unwrap_or_default());
        filter.map(Self).map_err(ApiError::Invalid)
    }
}

/// The assets that the query asks for.
pub(super) struct AssetQuery(pub(super) AssetFilter);

impl FromRequestParts<ApiState> for AssetQuery {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &ApiState) -> Result<Self, ApiError> {
        let filter = AssetFilter::parse(parts.uri.query().unwrap_or_default());
        filter.map(Self).map_err(ApiError::Invalid)
    }
}

/// Succeeds if the key isn't restricted to certain templates. The caller must be extracted before.
pub(super) struct EveryTemplate;

impl FromRequestParts<ApiState> for EveryTemplate {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &ApiState) -> Result<Self, ApiError> {
        let caller = extracted_caller(&parts.extensions)?;
        if caller.templates.everything() {
            Ok(Self)
        } else {
            Err(NotAllowed::new("all of them, or new ones").into())
        }
    }
}

#[derive(Deserialize)]
struct TemplateSegments {
    id: String,
}

/// The asset in the path.
pub(super) struct AssetPath(pub(super) AssetId);

impl FromRequestParts<ApiState> for AssetPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let path: Result<Path<String>, _> = Path::from_request_parts(parts, state).await;
        let id = path.ok().and_then(|Path(id)| AssetId::parse(&id));
        id.map(Self).ok_or(ApiError::Asset(AssetError::NotFound))
    }
}

/// The batch in the path.
pub(super) struct BatchPath(pub(super) BatchId);

impl FromRequestParts<ApiState> for BatchPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let path: Result<Path<String>, _> = Path::from_request_parts(parts, state).await;
        let id = path.ok().and_then(|Path(id)| BatchId::parse(&id));
        id.map(Self).ok_or(ApiError::Batch(BatchError::NotFound))
    }
}

/// The storage connection in the path.
pub(super) struct ConnectionPath(pub(super) ConnectionId);

impl FromRequestParts<ApiState> for ConnectionPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let path: Result<Path<String>, _> = Path::from_request_parts(parts, state).await;
        let id = path.ok().and_then(|Path(id)| ConnectionId::parse(&id));
        id.map(Self).ok_or(ApiError::Connection(ConnectionError::NotFound))
    }
}

/// The template and the version number in the path.
pub(super) struct VersionPath(pub(super) TemplateId, pub(super) i32);

impl FromRequestParts<ApiState> for VersionPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let TemplatePath(id) = TemplatePath::from_request_parts(parts, state).await?;
        let path: Result<Path<VersionSegments>, _> = Path::from_request_parts(parts, state).await;
        let number = path.ok().map(|Path(segments)| segments.number);
        let number = number.ok_or(ApiError::Template(TemplateError::NotFound))?;
        Ok(Self(id, number))
    }
}

/// The template and the promotion in the path.
pub(super) struct PromotionPath(pub(super) TemplateId, pub(super) PromotionId);

impl FromRequestParts<ApiState> for PromotionPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let TemplatePath(id) = TemplatePath::from_request_parts(parts, state).await?;
        let path: Result<Path<PromotionSegments>, _> = Path::from_request_parts(parts, state).await;
        let promotion = path
            .ok()
            .and_then(|Path(segments)| PromotionId::parse(&segments.promotion));
        let promotion = promotion.ok_or(ApiError::Template(TemplateError::NoSuchPromotion))?;
        Ok(Self(id, promotion))
    }
}

#[derive(Deserialize)]
struct PromotionSegments {
    promotion: String,
}

#[derive(Deserialize)]
struct VersionSegments {
    number: i32,
}

/// A caller whose key has the scope `templates:read`, within the account's rate limit of previews.
pub(super) struct MayPreview(pub(super) Caller);

impl FromRequestParts<ApiState> for MayPreview {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let MayReadTemplates(caller) = MayReadTemplates::from_request_parts(parts, state).await?;
        let taken = state.app.rate_limits.take(caller.account, Rate::Previews).await?;
        match taken.refused_for {
            Some(refused_for) => Err(ApiError::RateLimited(whole_seconds(refused_for))),
            None => Ok(Self(caller)),
        }
    }
}

/// The requested page of a list, from the query string.
pub(super) struct PageQuery<Key>(pub(super) PageRequest<Key>);

impl<Key: FromStr> FromRequestParts<ApiState> for PageQuery<Key> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &ApiState) -> Result<Self, ApiError> {
        let request = PageRequest::parse(parts.uri.query().unwrap_or_default());
        request.map(Self).map_err(ApiError::Invalid)
    }
}

fn extracted_caller(extensions: &Extensions) -> Result<&Caller, ApiError> {
    extensions.get().ok_or(ApiError::NoToken)
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn with(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn tokens() {
        for (header, token) in [
            ("Bearer abc", Some("abc")),
            ("bearer abc", Some("abc")),
            ("BEARER  abc ", Some("abc")),
            ("Bearer", None),
            ("Bearer ", None),
            ("Bearer a b", None),
            ("Basic abc", None),
            ("abc", None),
            ("", None),
        ] {
            assert_eq!(bearer_token(&with(header::AUTHORIZATION, header)), token, "{header}");
        }
        assert_eq!(bearer_token(&HeaderMap::new()), None);
    }
}
