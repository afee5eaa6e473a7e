//! Implements the interface between pages and services.

mod assets;
pub(super) mod batches;
mod catalog;
mod comparisons;
mod connection_forms;
mod health;
mod key_forms;
pub(super) mod live;
mod operations;
mod overview;
mod playground;
mod port;
mod template_forms;
mod visitor_errors;

use std::sync::Arc;

use axum::http::request::Parts;
use platen_app::{
    backend::Backend,
    error::AppError,
    model::{
        money::Money,
        rejection::{Field, Reason, page::PageReason},
    },
};
use platen_core::{
    clock,
    service::{
        Services,
        health::Waiting,
        operators,
        people::callers,
        sessions::{Impersonation, LoggedIn},
    },
    store::{account_storage, error::is_away},
};
use platen_domain::{
    caller::{Access, Caller},
    client::Client,
    ids::UserId,
    operator::Operator,
    plan::Plan,
    role::Permission,
};
use tokio::sync::OnceCell;
use tower_sessions::Session;

use self::visitor_errors::{VisitorError, rejected};

use crate::{
    http::{OwnApi, request_log::RequestId},
    web::Web,
};

/// The services, on behalf of one request.
pub(super) struct RequestBackend {
    app: Services,
    api: OwnApi,
    request_id: String,
    session: Session,
    client: Client,
    person: Option<LoggedIn>,
    /// Whether the request's method is unsafe.
    changes: bool,
    /// Looked up once, even if several parts of a page need it.
    caller: OnceCell<Caller>,
    /// The logged-in operator, looked up once.
    operator: OnceCell<Operator>,
    /// Measurements of queues, database and Stripe's events, taken once, for operators.
    waiting: OnceCell<Waiting>,
    /// Plans for sale with their prices, read once.
    plans: OnceCell<Vec<(Plan, Money)>>,
}

impl RequestBackend {
    /// Creates the backend for the context of a request.
    pub(super) fn shared(web: &Web, request: &Parts) -> Arc<dyn Backend> {
        Arc::new(Self::of(web, request))
    }

    /// Creates the backend for a request.
    pub(super) fn of(web: &Web, request: &Parts) -> Self {
        let request_id = request.extensions.get::<RequestId>();
        Self {
            app: web.app.clone(),
            api: web.api.clone(),
            request_id: request_id.map(|id| id.0.clone()).unwrap_or_default(),
            session: of_browser(request),
            client: of_browser(request),
            person: request.extensions.get().cloned(),
            changes: !request.method.is_safe(),
            caller: OnceCell::new(),
            operator: OnceCell::new(),
            waiting: OnceCell::new(),
            plans: OnceCell::new(),
        }
    }

    /// Returns the logged-in user. Operators who view an account can change neither the account nor their own settings.
    fn user(&self) -> Result<UserId, AppError> {
        let person = self.person()?;
        if self.changes && self.look().is_some() {
            return Err(AppError::OnlyLooking);
        }
        Ok(person.user)
    }

    /// Returns the impersonation, if the operator is viewing an account.
    fn look(&self) -> Option<Impersonation> {
        self.person.as_ref()?.look(clock::now())
    }

    fn person(&self) -> Result<&LoggedIn, AppError> {
        self.person.as_ref().ok_or(AppError::LogInFirst)
    }

    /// Requires that the user has confirmed their identity within the last ten minutes, for actions that need more than
    /// a session. The form redirects to the confirmation and back.
    fn confirmed(&self) -> Result<(), AppError> {
        let confirmed = self.person()?.is_confirmed(clock::now());
        confirmed.then_some(()).ok_or_else(|| rejected(PageReason::Unconfirmed))
    }

    /// Returns the logged-in user, who must have [confirmed](Self::confirmed) their identity.
    fn confirmed_user(&self) -> Result<UserId, AppError> {
        self.confirmed()?;
        self.user()
    }

    /// Returns the caller for the logged-in user and their account, if their role has the permission. Every access to
    /// tenant data begins with this.
    async fn caller_who_may(&self, permission: Permission) -> Result<Caller, AppError> {
        self.user()?;
        let (db, limits, person) = (&self.app.db, &self.app.config.limits, self.person()?);
        let found = self
            .caller
            .get_or_try_init(|| callers::of_session(db, limits, &self.session, person, &self.client, clock::now()));
        let caller = self.answer(found.await)?;
        if !caller.may(permission) {
            return Err(AppError::NotAllowed(permission));
        }
        // Owners may export the account's data even while it is suspended.
        if self.changes && caller.access == Access::Suspended && permission != Permission::ExportAccount {
            return Err(AppError::Suspended);
        }
        Ok(caller.clone())
    }

    /// As [`Self::caller_who_may`], and requires [`confirmation`](Self::confirmed). The permission is checked first, so
    /// users without it are not asked to confirm.
    async fn confirmed_caller_who_may(&self, permission: Permission) -> Result<Caller, AppError> {
        let caller = self.caller_who_may(permission).await?;
        self.confirmed().map(|()| caller)
    }

    /// Returns the logged-in operator. For anyone else the error is [`AppError::NotFound`].
    async fn operator(&self) -> Result<Operator, AppError> {
        let (db, user) = (&self.app.db, self.person()?.user);
        let found = self
            .operator
            .get_or_try_init(|| operators::of_person(db, user, &self.client));
        self.answer(found.await).cloned()
    }

    /// As [`Self::operator`], for changes: requires that the operator has just confirmed their identity.
    async fn confirmed_operator(&self) -> Result<Operator, AppError> {
        let operator = self.operator().await?;
        self.confirmed().map(|()| operator)
    }

    /// Returns the result of a service, or its error as the visitor sees it.
    fn answer<T>(&self, result: Result<T, impl VisitorError>) -> Result<T, AppError> {
        result.map_err(|error| error.for_visitor().unwrap_or_else(|| self.internal(&error)))
    }

    /// Logs an error and returns one with the request id only. An unreachable database and an exceeded storage limit
    /// get errors of their own.
    fn internal(&self, error: &(dyn std::error::Error + 'static)) -> AppError {
        if let Some(full) = account_storage::full(error) {
            return rejected(Reason::StorageFull(full));
        }
        if is_away(error) {
            tracing::error!(error = %error, "the database can't be reached");
            return AppError::Unavailable;
        }
        tracing::error!(error = %error, "internal error");
        AppError::Internal {
            request_id: self.request_id.clone(),
        }
    }
}

/// Returns the display name of an account: its name, or else the user's email address.
fn called(account: String, email: &str) -> String {
    if account.is_empty() { email.to_owned() } else { account }
}

/// Returns an extension that [`protect`](crate::http::browser_session::protect) has added to the request.
fn of_browser<T: Clone + Send + Sync + 'static>(request: &Parts) -> T {
    let found = request.extensions.get::<T>();
    found.expect("pages and functions run in `protect`").clone()
}

/// Parses a number between `least` and `most`. Returns `None` for an empty text; for an invalid one, also adds `field`
/// to `problems`.
fn number<N: TryFrom<i64>>(problems: &mut Vec<Field>, field: Field, typed: &str, least: i64, most: i64) -> Option<N> {
    let typed: String = typed.trim().chars().filter(|digit| *digit != ',').collect();
    if typed.is_empty() {
        return None;
    }
    let number = typed.parse().ok().filter(|number| (least..=most).contains(number));
    let number = number.and_then(|number| N::try_from(number).ok());
    if number.is_none() {
        problems.push(field);
    }
    number
}
