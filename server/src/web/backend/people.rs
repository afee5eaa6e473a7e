//! Log-in, sign-up and password reset.

use async_trait::async_trait;
use platen_app::{
    backend::people::{LogIn, LogInStep, PeopleBackend, SecondStepProof, SignUp},
    error::AppError,
    model::rejection::{Field, Reason},
};
use platen_core::{
    clock,
    service::{
        people::{
            PeopleError,
            email::confirm_change,
            log_in::{self, LogInForm, SecondStepForm, log_in, log_in_by_second_factor},
            password,
            second_factor::Shown,
            sign_up,
        },
        plans,
        sessions::{self, Stay},
    },
};

use platen_domain::{plan::Plan, second_factor::Ways};
use strum::VariantArray;

use super::{RequestBackend, invalid, rejected, too_many};

impl RequestBackend {
    /// Converts an error of the service to one for the visitor.
    pub(super) fn refused(&self, error: PeopleError) -> AppError {
        let reason = match error {
            PeopleError::Invalid(problems) => {
                let is_faulty = |field: &Field| {
                    let mut pointers = problems.iter().map(|problem| problem.pointer.as_str());
                    pointers.any(|pointer| pointer.strip_prefix('/') == Some(field.into_str()))
                };
                Reason::Invalid(Field::VARIANTS.iter().copied().filter(is_faulty).collect())
            }
            PeopleError::WrongCredentials => Reason::WrongCredentials,
            PeopleError::WrongPassword => Reason::WrongPassword,
            PeopleError::WrongCode => Reason::Invalid(vec![Field::Code]),
            PeopleError::PasskeyTooLate => Reason::PasskeyTooLate,
            PeopleError::PasskeyRefused => Reason::PasskeyRefused,
            PeopleError::TooManyPasskeys => Reason::TooManyPasskeys,
            PeopleError::LogInAnew => return AppError::LogInFirst,
            PeopleError::TooMany { retry_after } => return too_many(retry_after),
            PeopleError::WorthlessLink => Reason::WorthlessLink,
            PeopleError::EmailTaken => Reason::EmailTaken,
            PeopleError::OthersInvitation => Reason::OthersInvitation,
            PeopleError::TooManyInvitations => Reason::TooManyInvitations,
            PeopleError::OwnerStays => Reason::OwnerStays,
            PeopleError::NotFound | PeopleError::NoPasskeysHere => return AppError::NotFound,
            error @ (PeopleError::Hash(_)
            | PeopleError::Passkey(_)
            | PeopleError::Encryption(_)
            | PeopleError::Session(_)
            | PeopleError::Store(_)) => return self.internal(&error),
        };
        rejected(reason)
    }
}

#[async_trait]
impl PeopleBackend for RequestBackend {
    async fn log_in(&self, form: LogIn) -> Result<LogInStep, AppError> {
        let form = LogInForm {
            email: form.email,
            password: form.password.into(),
            stay: if form.stays { Stay::LoggedIn } else { Stay::WhileOpen },
        };
        let entered = log_in(&self.app.people, &self.session, &self.client, form, clock::now()).await;
        match entered.map_err(|error| self.refused(error))? {
            log_in::LogInStep::LoggedIn(_) => Ok(LogInStep::LoggedIn),
            log_in::LogInStep::SecondFactor => Ok(LogInStep::SecondFactor),
        }
    }

    async fn second_step(&self) -> Result<Option<Ways>, AppError> {
        let ways = log_in::ask_for_second_factor(&self.app.people, &self.session, clock::now()).await;
        ways.map_err(|error| self.refused(error))
    }

    async fn log_in_by_second_factor(&self, proof: SecondStepProof, remember: bool) -> Result<(), AppError> {
        let (field, shown) = match proof {
            SecondStepProof::App(code) => (Field::Code, Shown::Code(code.into())),
            SecondStepProof::Recovery(code) => (Field::RecoveryCode, Shown::Code(code.into())),
            // Errors of passkeys are shown at the top of the form.
            SecondStepProof::Passkey(answer) => (Field::Code, Shown::Passkey(answer.into())),
        };
        let form = SecondStepForm { shown, remember };
        let people = &self.app.people;
        let entered = log_in_by_second_factor(people, &self.session, &self.client, form, clock::now()).await;
        entered.map(drop).map_err(|error| match error {
            PeopleError::WrongCode => invalid(vec![field]),
            other => self.refused(other),
        })
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
        plans::list(&self.app.db).await.map_err(|error| self.internal(&error))
    }
}
