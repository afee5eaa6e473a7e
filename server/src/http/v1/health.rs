//! `/api/v1/health`

use axum::Json;
use platen_domain::{caller::Caller, ids::UserId};
use serde::Serialize;

/// Confirms that the service works, and names the key's user.
#[derive(Serialize)]
pub(in crate::http) struct Health {
    status: &'static str,
    current_user: CurrentUser,
}

#[derive(Serialize)]
struct CurrentUser {
    id: UserId,
    email: String,
}

/// `GET`: needs a key, but no scope.
pub(in crate::http) async fn get(caller: Caller) -> Json<Health> {
    Json(Health {
        status: "operational",
        current_user: CurrentUser {
            id: caller.user.id,
            email: caller.user.email,
        },
    })
}
