//! The second factor of the person who is logged in, and what a session alone is not enough for.

use async_trait::async_trait;
use platen_app::{
    backend::second_factor::{Proof, SecondFactorBackend},
    error::AppError,
    model::second_factor::{AppSecret, RememberedDevice as ShownDevice, SecondFactor as Shown, SetUp},
};
use secrecy::ExposeSecret;
use time::OffsetDateTime;

use super::RequestBackend;
use crate::{
    clock,
    domain::{
        client::device,
        ids::{DeviceId, UserId},
        second_factor::picture,
    },
    service::people::{
        confirm, devices,
        second_factor::{self, SecondFactor, new_codes},
    },
    store::devices::RememberedDevice,
};

#[async_trait]
impl SecondFactorBackend for RequestBackend {
    async fn has_second_factor(&self) -> Result<bool, AppError> {
        let state = self.state_of_second_factor(self.user()?, clock::now()).await?;
        Ok(matches!(state, Shown::On { .. }))
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
        let confirmed = match proof {
            Proof::Password(password) => {
                confirm::by_password(people, session, user, &self.client, password.into(), now).await
            }
            Proof::Code(code) => confirm::by_code(people, session, user, &self.client, &code.into(), now).await,
        };
        confirmed.map_err(|error| self.refused(error))
    }
}

impl RequestBackend {
    pub(super) async fn state_of_second_factor(&self, user: UserId, now: OffsetDateTime) -> Result<Shown, AppError> {
        let state = second_factor::of_user(&self.app.people, user, now).await;
        match state.map_err(|error| self.refused(error))? {
            SecondFactor::Off => Ok(Shown::Off),
            SecondFactor::On { since, codes_left } => Ok(Shown::On { since, codes_left }),
            SecondFactor::Begun { secret, email } => {
                let picture = picture::draw(secret.to_url(&email).expose_secret());
                let picture = picture.map_err(|error| self.internal(&error))?;
                Ok(Shown::Begun(AppSecret {
                    text: secret.to_text().expose_secret().to_owned(),
                    side: picture.side,
                    path: picture.path,
                }))
            }
        }
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
