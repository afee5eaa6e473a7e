//! Second factor, remembered browsers, and confirmation of the user's identity.

use async_trait::async_trait;
use platen_app::{
    backend::second_factor::SecondFactorBackend,
    error::AppError,
    model::{
        person::Proof,
        second_factor::{NewPasskey, SetUp},
    },
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
    ids::{DeviceId, PasskeyId},
    second_factor::{App, Ways, picture},
};
use secrecy::ExposeSecret;

use crate::web::backend::RequestBackend;

#[async_trait]
impl SecondFactorBackend for RequestBackend {
    async fn ask_for_second_factor(&self) -> Result<Ways, AppError> {
        let user = self.user()?;
        self.answer(second_factor::ask(&self.app.people, &self.session, user, clock::now()).await)
    }

    async fn second_factor(&self) -> Result<SetUp, AppError> {
        let (people, user, now) = (&self.app.people, self.user()?, clock::now());
        let new_codes = self.answer(new_codes::take(people, &self.session, user, now).await)?;
        let new_codes = new_codes.unwrap_or_default();
        let state = self.answer(second_factor::of_user(people, user, now).await)?;
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
        self.answer(second_factor::begin(&self.app.people, self.confirmed_user()?, clock::now()).await)
    }

    async fn turn_second_factor_on(&self, code: String) -> Result<(), AppError> {
        let (people, user, now) = (&self.app.people, self.confirmed_user()?, clock::now());
        self.answer(second_factor::turn_on(people, &self.session, user, &self.client, &code.into(), now).await)
    }

    async fn turn_second_factor_off(&self) -> Result<(), AppError> {
        let user = self.confirmed_user()?;
        self.answer(second_factor::turn_off(&self.app.people, user, &self.client, clock::now()).await)
    }

    async fn begin_passkey(&self) -> Result<(), AppError> {
        self.confirmed_user().map(drop)
    }

    async fn ask_for_new_passkey(&self) -> Result<NewPasskey, AppError> {
        let user = self.user()?;
        if self.confirmed().is_err() {
            return Ok(NewPasskey::Unconfirmed);
        }
        match passkeys::ask_for_new(&self.app.people, &self.session, user, clock::now()).await {
            Err(PeopleError::NoPasskeysHere) => Ok(NewPasskey::NotHere),
            asked => self.answer(asked).map(NewPasskey::Asked),
        }
    }

    async fn add_passkey(&self, name: String, answer: String) -> Result<bool, AppError> {
        let (people, user, now) = (&self.app.people, self.confirmed_user()?, clock::now());
        let answer = answer.into();
        let form = NewPasskeyForm { name, answer };
        let added = passkeys::add(people, &self.session, user, &self.client, form, now).await;
        Ok(self.answer(added)? == Added::WithCodes)
    }

    async fn remove_passkey(&self, id: PasskeyId) -> Result<(), AppError> {
        let user = self.confirmed_user()?;
        self.answer(passkeys::remove(&self.app.people, user, &self.client, id, clock::now()).await)
    }

    async fn renew_recovery_codes(&self) -> Result<(), AppError> {
        let (people, user, now) = (&self.app.people, self.confirmed_user()?, clock::now());
        self.answer(second_factor::renew_codes(people, &self.session, user, &self.client, now).await)
    }

    async fn forget_device(&self, id: DeviceId) -> Result<(), AppError> {
        self.answer(devices::forget(&self.app.people, self.user()?, id).await)
    }

    async fn confirm(&self, proof: Proof) -> Result<(), AppError> {
        let (people, session, client) = (&self.app.people, &self.session, &self.client);
        let (user, now) = (self.user()?, clock::now());
        let shown = match proof {
            Proof::Password(password) => {
                return self.answer(confirm::by_password(people, session, user, client, password.into(), now).await);
            }
            Proof::Code(code) => Shown::Code(code.into()),
            Proof::Passkey(answer) => Shown::Passkey(answer.into()),
        };
        self.answer(confirm::by_second_factor(people, session, user, client, &shown, now).await)
    }
}
