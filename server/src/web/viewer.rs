//! Who asks for what is no page and no function: pictures, events, files.

use axum::{
    extract::FromRequestParts,
    http::{StatusCode, request::Parts},
};
use platen_app::model::role::Permission;
use tower_sessions::Session;

use crate::{
    clock,
    domain::{
        caller::{Access, Caller},
        client::Client,
        operator::Operator,
    },
    service::{
        operators::{self, OperatorError},
        people::callers::{self, CallerError},
        sessions::LoggedIn,
    },
    web::Web,
};

/// Somebody who is logged in, with their session.
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
    /// They, as an operator of the service; for others there is nothing.
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

    /// They, for their account, if their role in it allows this.
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

    /// As [`Self::caller`], for what shows the content of documents: an operator who looks sees none.
    pub(super) async fn reader(&self, web: &Web, permission: Permission) -> Result<Caller, StatusCode> {
        let caller = self.caller(web, permission).await?;
        match caller.access {
            Access::Full | Access::Suspended => Ok(caller),
            Access::Looking => Err(StatusCode::FORBIDDEN),
        }
    }
}
