//! The logged-in user's second factor, and confirmation of their identity for sensitive actions.

use async_trait::async_trait;
use platen_app::{
    backend::second_factor::{Proof, SecondFactorBackend},
    error::AppError,
    model::second_factor::{
        App as ShownApp, AppSecret, NewPasskey, Passkey, RememberedDevice as ShownDevice, SecondFactor as ShownFactor,
        SetUp, Ways as ShownWays,
    },
};
use platen_core::{
    clock,
    service::people::{
        PeopleError, confirm, devices,
        second_factor::{
            self, App, Shown, Ways, new_codes,
            passkeys::{self, Added, NewPasskeyForm},
        },
    },
    store::{devices::RememberedDevice, passkeys::ListedPasskey},
};
use platen_domain::{
    client::device,
    ids::{DeviceId, PasskeyId, UserId},
    second_factor::picture,
};
use secrecy::ExposeSecret;
use time::OffsetDateTime;

use super::RequestBackend;

#[async_trait]
impl SecondFactorBackend for RequestBackend {
    async fn ask_for_second_factor(&self) -> Result<ShownWays, AppError> {
        let (people, user) = (&self.app.people, self.user()?);
        let ways = second_factor::ask(people, &self.session, user, clock::now()).await;
        ways.map(shown_ways).map_err(|error| self.refused(error))
    }

    async fn second_factor(&self) -> Result<SetUp, AppError> {
        let (people, user, now) = (&self.app.people, self.user()?, clock::now());
        let new_codes = new_codes::take(people, &self.session, user, now).await;
        let new_codes = new_codes.map_err(|error| self.refused(error))?.unwrap_or_default();
        Ok(SetUp {
            state: self.state_of_second_factor(user, now).await?,
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
    ) -> Result<ShownFactor, AppError> {
        let state = second_factor::of_user(&self.app.people, user, now).await;
        let state = state.map_err(|error| self.refused(error))?;
        Ok(ShownFactor {
            app: self.shown_app(state.app)?,
            passkeys: state.passkeys.into_iter().map(shown_passkey).collect(),
            codes_left: state.codes_left,
            more_passkeys: state.more_passkeys,
        })
    }

    fn shown_app(&self, app: App) -> Result<ShownApp, AppError> {
        match app {
            App::Off => Ok(ShownApp::Off),
            App::On { since } => Ok(ShownApp::On { since }),
            App::Begun { secret, email } => {
                let picture = picture::draw(secret.to_url(&email).expose_secret());
                let picture = picture.map_err(|error| self.internal(&error))?;
                Ok(ShownApp::Begun(AppSecret {
                    text: secret.to_text().expose_secret().to_owned(),
                    side: picture.side,
                    path: picture.path,
                }))
            }
        }
    }
}

pub(super) fn shown_ways(ways: Ways) -> ShownWays {
    ShownWays {
        app: ways.app,
        passkey: ways.passkey,
    }
}

fn shown_passkey(found: ListedPasskey) -> Passkey {
    Passkey {
        id: found.id.to_string(),
        name: found.name,
        added_at: found.inserted_at,
        used_at: found.used_at,
    }
}

pub(super) fn shown_device(found: RememberedDevice) -> ShownDevice {
    ShownDevice {
        id: found.id.to_string(),
        device: device(&found.user_agent),
        address: found.address,
        used_at: found.used_at,
        until: found.remembered_until,
    }
}
