//! The visitor of routes that are neither pages nor server functions: images, events, files.

use axum::{
    extract::FromRequestParts,
    http::{StatusCode, request::Parts},
};
use platen_core::{
    clock,
    service::{
        operators::{self, OperatorError},
        people::callers::{self, CallerError},
        sessions::LoggedIn,
    },
};
use platen_domain::{
    caller::{Access, Caller},
    client::Client,
    operator::Operator,
    role::Permission,
};
use tower_sessions::Session;

use crate::web::Web;

/// A logged-in user with their session.
#[derive(Clone)]
pub(super) struct Viewer {
    pub(super) session: Session,
    pub(super) person: LoggedIn,
    pub(super) client: Client,
}

impl<S: Sync> FromRequestParts<S> for Viewer {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, StatusCode> {
        let known = &parts.extensions;
        match (known.get(), known.get(), known.get()) {
            (Some(session), Some(person), Some(client)) => Ok(Self {
                session: Session::clone(session),
                person: LoggedIn::clone(person),
                client: Client::clone(client),
            }),
            _ => Err(StatusCode::UNAUTHORIZED),
        }
    }
}

impl Viewer {
    /// Returns the user as an operator. For anyone else the error is 404.
    pub(super) async fn operator(&self, web: &Web) -> Result<Operator, StatusCode> {
        let found = operators::of_person(&web.app.db, self.person.user, &self.client).await;
        found.map_err(|error| match error {
            OperatorError::NotOperator => StatusCode::NOT_FOUND,
            OperatorError::SecondFactorFirst => StatusCode::FORBIDDEN,
            OperatorError::Store(error) => {
                tracing::error!(%error, "an operator could not be looked up");
                StatusCode::SERVICE_UNAVAILABLE
            }
        })
    }

    /// Returns the caller for the user's account, if their role has the permission.
    pub(super) async fn caller(&self, web: &Web, permission: Permission) -> Result<Caller, StatusCode> {
        let (db, limits) = (&web.app.db, &web.app.config.limits);
        match callers::of_session(db, limits, &self.session, &self.person, &self.client, clock::now()).await {
            Ok(caller) if caller.may(permission) => Ok(caller),
            Ok(_) | Err(CallerError::NoAccount | CallerError::NotMember | CallerError::SecondFactorFirst) => {
                Err(StatusCode::FORBIDDEN)
            }
            Err(error @ (CallerError::Session(_) | CallerError::Store(_))) => {
                tracing::error!(%error, "an account could not be looked up");
                Err(StatusCode::SERVICE_UNAVAILABLE)
            }
        }
    }

    /// As [`Self::caller`], for content of documents, which operators can't see during impersonation.
    pub(super) async fn reader(&self, web: &Web, permission: Permission) -> Result<Caller, StatusCode> {
        let caller = self.caller(web, permission).await?;
        match caller.access {
            Access::Full | Access::Suspended => Ok(caller),
            Access::Looking => Err(StatusCode::FORBIDDEN),
        }
    }
}
