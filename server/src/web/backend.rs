//! What pages ask of the services.

use std::sync::Arc;

use async_trait::async_trait;
use axum::http::request::Parts;
use platen_app::{
    backend::{Backend, LogIn, SignUp},
    error::AppError,
    model::{
        person::Person,
        plan::Plan,
        rejection::{Field, Reason, Rejection},
    },
};
use tower_sessions::Session;

use crate::{
    clock,
    domain::{client::Client, ids::UserId},
    http::{csrf, request_log::RequestId},
    service::{
        people::{
            PeopleError, account,
            email::confirm_change,
            log_in::{LogInForm, log_in},
            password, sign_up,
        },
        plans,
        sessions::{self, LoggedIn, Stay},
    },
    state::AppState,
    store::{plans::Plan as StoredPlan, users::Person as StoredPerson},
};

/// The services, on behalf of one request.
pub(super) struct RequestBackend {
    app: AppState,
    request_id: String,
    session: Session,
    client: Client,
    user: Option<UserId>,
}

impl RequestBackend {
    /// For the context of a request.
    pub(super) fn shared(app: &AppState, request: &Parts) -> Arc<dyn Backend> {
        let request_id = request.extensions.get::<RequestId>();
        Arc::new(Self {
            app: app.clone(),
            request_id: request_id.map(|id| id.0.clone()).unwrap_or_default(),
            session: of_browser(request),
            client: of_browser(request),
            user: request.extensions.get::<LoggedIn>().map(|person| person.user),
        })
    }

    /// Who is logged in.
    fn user(&self) -> Result<UserId, AppError> {
        self.user.ok_or(AppError::LogInFirst)
    }

    /// Whose fault it is.
    fn refused(&self, error: PeopleError) -> AppError {
        let reason = match error {
            PeopleError::Invalid(faults) => {
                let is_faulty = |field: &Field| {
                    let mut pointers = faults.iter().map(|fault| fault.pointer.as_str());
                    pointers.any(|pointer| pointer.strip_prefix('/') == Some(field.name()))
                };
                Reason::Invalid(Field::ALL.into_iter().filter(is_faulty).collect())
            }
            PeopleError::WrongCredentials => Reason::WrongCredentials,
            PeopleError::WrongPassword => Reason::WrongPassword,
            PeopleError::TooMany { retry_after } => Reason::TooMany {
                minutes: retry_after.as_secs().div_ceil(60).max(1),
            },
            PeopleError::WorthlessLink => Reason::WorthlessLink,
            PeopleError::EmailTaken => Reason::EmailTaken,
            PeopleError::NotFound => return AppError::NotFound,
            error @ (PeopleError::Hash(_) | PeopleError::Session(_) | PeopleError::Store(_)) => {
                return self.internal(&error);
            }
        };
        AppError::Rejected(Rejection {
            reason,
            typed: Vec::new(),
        })
    }

    /// The log gets the reason, the visitor the request's id.
    fn internal(&self, error: &dyn std::error::Error) -> AppError {
        tracing::error!(error = %error, "internal error");
        AppError::Internal {
            request_id: self.request_id.clone(),
        }
    }
}

#[async_trait]
impl Backend for RequestBackend {
    fn base_url(&self) -> String {
        self.app.base_url.as_str().trim_end_matches('/').to_owned()
    }

    fn csrf_token(&self) -> Option<String> {
        csrf::token(&self.session)
    }

    async fn person(&self) -> Result<Person, AppError> {
        let found = account::person(&self.app.people, self.user()?).await;
        let person = found.map_err(|error| self.refused(error))?;
        person.map(seen).ok_or(AppError::LogInFirst)
    }

    async fn log_in(&self, form: LogIn) -> Result<(), AppError> {
        let form = LogInForm {
            email: form.email,
            password: form.password.into(),
            stay: if form.stays { Stay::LoggedIn } else { Stay::WhileOpen },
        };
        let entered = log_in(&self.app.people, &self.session, &self.client, form, clock::now()).await;
        entered.map(drop).map_err(|error| self.refused(error))
    }

    async fn log_out(&self) -> Result<(), AppError> {
        let left = sessions::log_out(&self.session).await;
        left.map_err(|error| self.internal(&error))
    }

    async fn sign_up(&self, form: SignUp) -> Result<(), AppError> {
        let form = sign_up::SignUpForm {
            name: form.name,
            email: form.email,
            account_name: form.account_name,
            password: form.password.into(),
        };
        let signed_up = sign_up::sign_up(&self.app.people, &self.client, form, clock::now()).await;
        signed_up.map_err(|error| self.refused(error))
    }

    async fn send_sign_up_again(&self, email: String) -> Result<(), AppError> {
        let sent = sign_up::send_again(&self.app.people, &self.client, &email, clock::now()).await;
        sent.map_err(|error| self.refused(error))
    }

    async fn verify_sign_up(&self, token: String, password: String) -> Result<(), AppError> {
        let (people, now) = (&self.app.people, clock::now());
        let verified = sign_up::verify(people, &self.session, &self.client, &token, password.into(), now).await;
        verified.map(drop).map_err(|error| self.refused(error))
    }

    async fn request_password_reset(&self, email: String) -> Result<(), AppError> {
        let asked = password::request_reset(&self.app.people, &self.client, &email, clock::now()).await;
        asked.map_err(|error| self.refused(error))
    }

    async fn reset_password(&self, token: String, password: String) -> Result<(), AppError> {
        let replaced = password::reset(&self.app.people, &token, password.into(), clock::now()).await;
        replaced.map_err(|error| self.refused(error))
    }

    async fn confirm_email(&self, token: String) -> Result<(), AppError> {
        let confirmed = confirm_change(&self.app.people, self.user()?, &token, clock::now()).await;
        confirmed.map_err(|error| self.refused(error))
    }

    async fn plans(&self) -> Result<Vec<Plan>, AppError> {
        let plans = plans::list(&self.app.db).await.map_err(|error| self.internal(&error))?;
        Ok(plans.into_iter().map(shown).collect())
    }
}

fn shown(plan: StoredPlan) -> Plan {
    Plan {
        name: plan.name,
        credits: plan.credits,
        concurrency: plan.concurrency,
        rate_per_minute: plan.rate_per_minute,
        body_bytes: plan.body_bytes,
        retention_days: plan.retention_days,
    }
}

fn seen(person: StoredPerson) -> Person {
    Person {
        name: person.name,
        email: person.email,
    }
}

/// What [`protect`](crate::http::browser_session::protect) has found out about a request.
fn of_browser<T: Clone + Send + Sync + 'static>(request: &Parts) -> T {
    let found = request.extensions.get::<T>();
    found.expect("pages and functions are under sessions").clone()
}
