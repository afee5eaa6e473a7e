//! `/api/v1/connections/{id}` and below.

use axum::{Json, extract::State, http::StatusCode};
use platen_core::service::{
    Services,
    connections::{self, probe},
};
use platen_domain::account_log::Actor;
use serde::Serialize;

use crate::http::{
    error::ApiError,
    extract::{ConnectionPath, MayReadConnections, MayWriteConnections},
    v1::{Data, connections::ConnectionResponse},
};

/// `GET`
pub(in crate::http) async fn get(
    State(app): State<Services>,
    MayReadConnections(caller): MayReadConnections,
    ConnectionPath(id): ConnectionPath,
) -> Result<Json<Data<ConnectionResponse>>, ApiError> {
    let connection = connections::get(&app.db, caller.account, id).await?;
    let data = ConnectionResponse::new(connection, caller.account);
    Ok(Json(Data { data }))
}

/// `DELETE`: deletes a connection. Nothing is written through it any more.
pub(in crate::http) async fn delete(
    State(app): State<Services>,
    MayWriteConnections(caller): MayWriteConnections,
    ConnectionPath(id): ConnectionPath,
) -> Result<StatusCode, ApiError> {
    connections::delete(&app.db, caller.account, &Actor::of_caller(&caller), id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Result of a test.
#[derive(Serialize)]
pub(in crate::http) struct TestResponse {
    passed: bool,
    steps: Vec<StepResponse>,
}

#[derive(Serialize)]
struct StepResponse {
    action: &'static str,
    passed: bool,
    message: Option<String>,
}

/// `POST …/test`: writes, reads and deletes an object.
pub(in crate::http) async fn test(
    State(app): State<Services>,
    MayWriteConnections(caller): MayWriteConnections,
    ConnectionPath(id): ConnectionPath,
) -> Result<Json<Data<TestResponse>>, ApiError> {
    let test = probe::test(&app.buckets, caller.account, id).await?;
    let steps = test.steps.iter().map(|step| StepResponse {
        action: step.action.into_str(),
        passed: step.passed(),
        message: step.message(),
    });
    let data = TestResponse {
        passed: test.passed(),
        steps: steps.collect(),
    };
    Ok(Json(Data { data }))
}
