//! Log-in, sign-up and password reset.

use async_trait::async_trait;
use platen_app::{
    backend::log_in::LogInBackend,
    error::AppError,
    model::{
        money::Money,
        person::{LogIn, LogInStep, SecondStepProof, SignUp},
        rejection::Field,
    },
};
use platen_core::{
    clock,
    service::{
        people::{
            self, PeopleError, email,
            log_in::{self, LogInForm, SecondStepForm},
            password,
            second_factor::Shown,
            sent_mail, sign_up,
        },
        sessions::{self, Stay},
    },
};
use platen_domain::{one_time_token::Purpose, plan::Plan, second_factor::Ways};

use crate::web::backend::{RequestBackend, visitor_errors::invalid};

#[async_trait]
impl LogInBackend for RequestBackend {
    async fn log_in(&self, form: LogIn) -> Result<LogInStep, AppError> {
        let form = LogInForm {
            email: form.email,
            password: form.password.into(),
            stay: if form.stays { Stay::LoggedIn } else { Stay::WhileOpen },
        };
        let entered = log_in::log_in(&self.app.people, &self.session, &self.client, form, clock::now()).await;
        Ok(match self.answer(entered)? {
            log_in::LogInStep::LoggedIn(_) => LogInStep::LoggedIn,
            log_in::LogInStep::SecondFactor => LogInStep::SecondFactor,
        })
    }

    async fn second_step(&self) -> Result<Option<Ways>, AppError> {
        self.answer(log_in::ask_for_second_factor(&self.app.people, &self.session, clock::now()).await)
    }

    async fn log_in_by_second_factor(&self, proof: SecondStepProof, remember: bool) -> Result<(), AppError> {
        let (field, shown) = match proof {
            SecondStepProof::App(code) => (Field::Code, Shown::Code(code.into())),
            SecondStepProof::Recovery(code) => (Field::RecoveryCode, Shown::Code(code.into())),
            // Errors of passkeys are shown at the top of the form.
            SecondStepProof::Passkey(answer) => (Field::Code, Shown::Passkey(answer.into())),
        };
        let (people, form) = (&self.app.people, SecondStepForm { shown, remember });
        match log_in::log_in_by_second_factor(people, &self.session, &self.client, form, clock::now()).await {
            Err(PeopleError::WrongCode) => Err(invalid(vec![field])),
            entered => self.answer(entered).map(drop),
        }
    }

    async fn log_out(&self) -> Result<(), AppError> {
        self.answer(sessions::log_out(&self.session).await)
    }

    async fn sign_up(&self, form: SignUp) -> Result<(), AppError> {
        let form = sign_up::SignUpForm {
            name: form.name,
            email: form.email,
            account_name: form.account_name,
            password: form.password.into(),
        };
        let (email, now) = (form.email.clone(), clock::now());
        self.answer(sign_up::sign_up(&self.app.people, &self.client, form, now).await)?;
        self.answer(sent_mail::keep(&self.session, &email, now).await)
    }

    async fn send_sign_up_again(&self, email: String) -> Result<(), AppError> {
        let now = clock::now();
        self.answer(sign_up::send_again(&self.app.people, &self.client, &email, now).await)?;
        self.answer(sent_mail::keep(&self.session, &email, now).await)
    }

    async fn verify_sign_up(&self, token: String, password: String) -> Result<(), AppError> {
        let (people, now) = (&self.app.people, clock::now());
        let verified = sign_up::verify(people, &self.session, &self.client, &token, password.into(), now).await;
        self.answer(verified).map(drop)
    }

    async fn request_password_reset(&self, email: String) -> Result<(), AppError> {
        let now = clock::now();
        self.answer(password::request_reset(&self.app.people, &self.client, &email, now).await)?;
        self.answer(sent_mail::keep(&self.session, &email, now).await)
    }

    async fn mail_sent_to(&self) -> Result<Option<String>, AppError> {
        self.answer(sent_mail::find(&self.session, clock::now()).await)
    }

    async fn address_of_link(&self, purpose: Purpose, token: String) -> Result<Option<String>, AppError> {
        let found = people::address_of_link(&self.app.people, purpose, &token, clock::now()).await;
        Ok(self.answer(found)?.map(|email| email.to_string()))
    }

    async fn reset_password(&self, token: String, password: String) -> Result<(), AppError> {
        self.answer(password::reset(&self.app.people, &token, password.into(), clock::now()).await)
    }

    async fn confirm_email(&self, token: String) -> Result<(), AppError> {
        self.answer(email::confirm_change(&self.app.people, self.user()?, &token, clock::now()).await)
    }

    async fn plans(&self) -> Result<Vec<(Plan, Money)>, AppError> {
        let plans = self.plans.get_or_try_init(|| self.plans_for_sale()).await;
        plans.cloned()
    }
}
