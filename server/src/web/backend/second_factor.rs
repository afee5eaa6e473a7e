//! The logged-in user's second factor, and confirmation of their identity for sensitive actions.

use async_trait::async_trait;
use platen_app::{
    backend::second_factor::{Proof, SecondFactorBackend},
    error::AppError,
    model::second_factor::{NewPasskey, SetUp},
};
use platen_core::{
    clock,
    service::people::{
        PeopleError, confirm, devices,
        second_factor::{
            self, Shown, new_codes,
            passkeys::{self, Added, NewPasskeyForm},
        },
    },
};
use platen_domain::{
    ids::{DeviceId, PasskeyId, UserId},
    second_factor::{App, SecondFactor, Ways, picture},
};
use secrecy::ExposeSecret;
use time::OffsetDateTime;

use super::RequestBackend;

#[async_trait]
impl SecondFactorBackend for RequestBackend {
    async fn ask_for_second_factor(&self) -> Result<Ways, AppError> {
        let (people, user) = (&self.app.people, self.user()?);
        let ways = second_factor::ask(people, &self.session, user, clock::now()).await;
        ways.map_err(|error| self.refused(error))
    }

    async fn second_factor(&self) -> Result<SetUp, AppError> {
        let (people, user, now) = (&self.app.people, self.user()?, clock::now());
        let new_codes = new_codes::take(people, &self.session, user, now).await;
        let new_codes = new_codes.map_err(|error| self.refused(error))?.unwrap_or_default();
        let state = self.state_of_second_factor(user, now).await?;
        let secret = match &state.app {
            App::Off | App::On { .. } => None,
            App::Begun { secret, email } => {
                let picture = picture::draw(secret.to_url(email).expose_secret());
                let picture = picture.map_err(|error| self.internal(&error))?;
                Some((secret.to_text().expose_secret().to_owned(), picture))
            }
        };
        Ok(SetUp {
            state,
            secret,
            new_codes: new_codes.iter().map(|code| code.expose_secret().to_owned()).collect(),
        })
    }

    async fn begin_second_factor(&self) -> Result<(), AppError> {
        self.confirmed()?;
        let begun = second_factor::begin(&self.app.people, self.user()?, clock::now()).await;
        begun.map_err(|error| self.refused(error))
    }

    async fn turn_second_factor_on(&self, code: String) -> Result<(), AppError> {
        self.confirmed()?;
        let (people, user, now) = (&self.app.people, self.user()?, clock::now());
        let on = second_factor::turn_on(people, &self.session, user, &self.client, &code.into(), now).await;
        on.map_err(|error| self.refused(error))
    }

    async fn turn_second_factor_off(&self) -> Result<(), AppError> {
        self.confirmed()?;
        let off = second_factor::turn_off(&self.app.people, self.user()?, &self.client, clock::now()).await;
        off.map_err(|error| self.refused(error))
    }

    async fn begin_passkey(&self) -> Result<(), AppError> {
        self.confirmed()?;
        self.user().map(drop)
    }

    async fn ask_for_new_passkey(&self) -> Result<NewPasskey, AppError> {
        let user = self.user()?;
        if self.confirmed().is_err() {
            return Ok(NewPasskey::Unconfirmed);
        }
        match passkeys::ask_for_new(&self.app.people, &self.session, user, clock::now()).await {
            Ok(options) => Ok(NewPasskey::Asked(options)),
            Err(PeopleError::NoPasskeysHere) => Ok(NewPasskey::NotHere),
            Err(error) => Err(self.refused(error)),
        }
    }

    async fn add_passkey(&self, name: String, answer: String) -> Result<bool, AppError> {
        self.confirmed()?;
        let (people, user, now) = (&self.app.people, self.user()?, clock::now());
        let form = NewPasskeyForm {
            name,
            answer: answer.into(),
        };
        let added = passkeys::add(people, &self.session, user, &self.client, form, now).await;
        added
            .map(|added| added == Added::WithCodes)
            .map_err(|error| self.refused(error))
    }

    async fn remove_passkey(&self, id: String) -> Result<(), AppError> {
        self.confirmed()?;
        let (user, id) = (self.user()?, PasskeyId::parse(&id).ok_or(AppError::NotFound)?);
        let removed = passkeys::remove(&self.app.people, user, &self.client, id, clock::now()).await;
        removed.map_err(|error| self.refused(error))
    }

    async fn renew_recovery_codes(&self) -> Result<(), AppError> {
        self.confirmed()?;
        let (people, user, now) = (&self.app.people, self.user()?, clock::now());
        let renewed = second_factor::renew_codes(people, &self.session, user, &self.client, now).await;
        renewed.map_err(|error| self.refused(error))
    }

    async fn forget_device(&self, id: String) -> Result<(), AppError> {
        let (user, id) = (self.user()?, DeviceId::parse(&id).ok_or(AppError::NotFound)?);
        let forgotten = devices::forget(&self.app.people, user, id).await;
        forgotten.map_err(|error| self.refused(error))
    }

    async fn confirm(&self, proof: Proof) -> Result<(), AppError> {
        let (people, session, user, now) = (&self.app.people, &self.session, self.user()?, clock::now());
        let shown = match proof {
            Proof::Password(password) => {
                let confirmed = confirm::by_password(people, session, user, &self.client, password.into(), now).await;
                return confirmed.map_err(|error| self.refused(error));
            }
            Proof::Code(code) => Shown::Code(code.into()),
            Proof::Passkey(answer) => Shown::Passkey(answer.into()),
        };
        let confirmed = confirm::by_second_factor(people, session, user, &self.client, &shown, now).await;
        confirmed.map_err(|error| self.refused(error))
    }
}

impl RequestBackend {
    pub(super) async fn state_of_second_factor(
        &self,
        user: UserId,
        now: OffsetDateTime,
    ) -> Result<SecondFactor, AppError> {
        let state = second_factor::of_user(&self.app.people, user, now).await;
        state.map_err(|error| self.refused(error))
    }
}
