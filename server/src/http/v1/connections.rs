//! `/api/v1/connections`

pub(in crate::http) mod one;

use axum::{
    Json,
    extract::State,
    http::{StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use platen_core::service::{Services, connections};
use platen_domain::{
    account_log::Actor,
    connection::{Connection, NewConnection},
    destination::Provider,
    ids::{AccountId, ConnectionId},
};
use serde::Serialize;
use time::{OffsetDateTime, serde::rfc3339};

use crate::http::{
    error::ApiError,
    extract::{MayReadConnections, MayWriteConnections, PageQuery, body::JsonBody},
    v1::{Data, next_page},
};

/// A connection in responses.
#[derive(Serialize)]
pub(in crate::http) struct ConnectionResponse {
    id: ConnectionId,
    provider: Provider,
    name: String,
    bucket: String,
    path_prefix: String,
    region: Option<String>,
    endpoint: Option<String>,
    identity: String,
    external_id: AccountId,
    #[serde(with = "rfc3339")]
    inserted_at: OffsetDateTime,
}

impl ConnectionResponse {
    /// Converts a connection of `account`.
    fn new(connection: Connection, account: AccountId) -> Self {
        let settings = connection.settings;
        Self {
            id: connection.id,
            provider: settings.provider,
            name: settings.name,
            bucket: settings.bucket,
            path_prefix: settings.path_prefix,
            region: settings.region,
            endpoint: settings.endpoint.map(|url| url.origin().ascii_serialization()),
            identity: connection.identity,
            external_id: account,
            inserted_at: connection.inserted_at,
        }
    }
}

/// `GET`: lists connections, the newest first.
pub(in crate::http) async fn get(
    State(app): State<Services>,
    MayReadConnections(caller): MayReadConnections,
    PageQuery(request): PageQuery<ConnectionId>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let page = connections::list(&app.db, caller.account, request).await?;
    let link = next_page(&uri, &request, page.next);
    let data = page.items.into_iter();
    let data: Vec<_> = data.map(|item| ConnectionResponse::new(item, caller.account)).collect();
    Ok((link, Json(Data { data })).into_response())
}

/// `POST`: creates a connection.
pub(in crate::http) async fn post(
    State(app): State<Services>,
    MayWriteConnections(caller): MayWriteConnections,
    JsonBody(new, _memory): JsonBody<NewConnection>,
) -> Result<Response, ApiError> {
    let connection = connections::create(&app.buckets, caller.account, &Actor::of_caller(&caller), new).await?;
    let location = [(header::LOCATION, format!("/api/v1/connections/{}", connection.id))];
    let data = ConnectionResponse::new(connection, caller.account);
    Ok((StatusCode::CREATED, location, Json(Data { data })).into_response())
}
