//! Settings of the user and of the account.

use async_trait::async_trait;
use platen_app::{
    backend::settings::SettingsBackend,
    error::AppError,
    model::{
        person::Person,
        rejection::{Field, Reason},
        settings::{OwnedAccount, Settings},
    },
};
use platen_core::{
    clock,
    service::{
        exports::{self, RequestExportError},
        people::{self, PeopleError, account, devices, email, password},
        sessions,
    },
};
use platen_domain::{ids::SessionId, role::Permission};

use time::{Date, OffsetDateTime, macros::format_description};

use super::{RequestBackend, called, invalid, rejected};

#[async_trait]
impl SettingsBackend for RequestBackend {
    async fn settings(&self) -> Result<Settings, AppError> {
        let (caller, now) = (self.caller_who_may(Permission::SeeAccount).await?, clock::now());
        let (people, user) = (&self.app.people, caller.user.id);
        let person = account::person(people, user).await;
        let person = person.map_err(|error| self.refused(error))?;
        let person = person.ok_or(AppError::LogInFirst)?;
        let owned = account::owned(people, user, caller.account).await;
        let owned = owned.map_err(|error| self.refused(error))?;
        let exports = match owned {
            Some(_) => exports::list(&self.app.db, caller.account, now).await,
            None => Ok(Vec::new()),
        };
        let exports = exports.map_err(|error| self.internal(&error))?;
        let sessions = sessions::list(&self.app.db, user, &self.session, now).await;
        let sessions = sessions.map_err(|error| self.internal(&error))?;
        let second_factor = self.state_of_second_factor(user, now).await?;
        let devices = devices::remembered(people, user, now).await;
        let devices = devices.map_err(|error| self.refused(error))?;
        Ok(Settings {
            now,
            owned: owned.map(|owned| OwnedAccount {
                called: called(owned.name.clone(), &person.email),
                name: owned.name,
                keep_content: owned.keep_content,
                second_factor_from: owned.second_factor_from.map(OffsetDateTime::date),
                delete_at: owned.delete_at,
                exports,
            }),
            password_changed_at: person.password_changed_at,
            second_factor,
            devices,
            person: Person {
                name: person.name,
                email: person.email,
            },
            sessions,
        })
    }

    async fn rename(&self, name: String) -> Result<(), AppError> {
        let renamed = account::rename(&self.app.people, self.user()?, &name).await;
        renamed.map_err(|error| self.refused(error))
    }

    async fn request_email_change(&self, address: String) -> Result<(), AppError> {
        self.confirmed()?;
        let (people, user, now) = (&self.app.people, self.user()?, clock::now());
        let asked = email::request_change(people, user, &self.client, &address, now).await;
        asked.map_err(|error| match error {
            PeopleError::Invalid(_) => invalid(vec![Field::NewEmail]),
            other => self.refused(other),
        })
    }

    async fn change_password(&self, new: String) -> Result<(), AppError> {
        self.confirmed()?;
        let (people, user, now) = (&self.app.people, self.user()?, clock::now());
        let changed = password::change(people, user, &self.session, &self.client, new.into(), now).await;
        changed.map_err(|error| self.refused(error))
    }

    async fn rename_account(&self, name: String) -> Result<(), AppError> {
        let caller = self.caller_who_may(Permission::SetPolicy).await?;
        let renamed = account::rename_account(&self.app.people, &caller, &name, clock::now()).await;
        renamed.map_err(|error| match error {
            // The service calls the field `name`, but this page has two names.
            PeopleError::Invalid(_) => invalid(vec![Field::AccountName]),
            other => self.refused(other),
        })
    }

    async fn keep_content(&self, keep: bool) -> Result<(), AppError> {
        let caller = self.caller_who_may(Permission::SetPolicy).await?;
        let decided = account::keep_content(&self.app.people, &caller, keep, clock::now()).await;
        decided.map_err(|error| self.refused(error))
    }

    async fn require_second_factor(&self, from: String) -> Result<(), AppError> {
        let (caller, now) = (
            self.confirmed_caller_who_may(Permission::SetPolicy).await?,
            clock::now(),
        );
        let from = match from.trim() {
            "" => None,
            day => {
                let day = Date::parse(day, format_description!("[year]-[month]-[day]")).ok();
                let day = day.filter(|day| *day >= now.date());
                Some(day.ok_or_else(|| invalid(vec![Field::SecondFactorFrom]))?)
            }
        };
        let decided = account::require_second_factor(&self.app.people, &caller, from, now).await;
        decided.map_err(|error| self.refused(error))
    }

    async fn request_export(&self) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(Permission::ExportAccount).await?;
        match exports::request(&self.app.db, &caller, clock::now()).await {
            Ok(()) => Ok(()),
            Err(RequestExportError::UnderWay) => Err(rejected(Reason::ExportUnderWay)),
            Err(RequestExportError::TooMany) => Err(rejected(Reason::ExportsSpent)),
            Err(RequestExportError::Store(error)) => Err(self.internal(&error)),
        }
    }

    async fn end_session(&self, id: String) -> Result<(), AppError> {
        let (people, user, now) = (&self.app.people, self.user()?, clock::now());
        let id = SessionId::parse(&id).ok_or(AppError::NotFound)?;
        let ended = people::sessions::end(people, user, &self.client, id, now).await;
        ended.map_err(|error| self.refused(error))
    }

    async fn end_other_sessions(&self) -> Result<(), AppError> {
        let (people, user, now) = (&self.app.people, self.user()?, clock::now());
        let ended = people::sessions::end_all_others(people, user, &self.session, &self.client, now).await;
        ended.map_err(|error| self.refused(error))
    }

    async fn request_deletion(&self, name: String) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(Permission::DeleteAccount).await?;
        let (people, user) = (&self.app.people, caller.user.id);
        let owned = account::owned(people, user, caller.account).await;
        let owned = owned.map_err(|error| self.refused(error))?;
        let owned = owned.ok_or(AppError::NotFound)?;
        if called(owned.name, &caller.user.email).trim() != name.trim() {
            return Err(invalid(vec![Field::Confirmation]));
        }
        let asked = account::request_deletion(people, &caller, clock::now()).await;
        asked.map(drop).map_err(|error| self.refused(error))
    }

    async fn undo_deletion(&self) -> Result<(), AppError> {
        let caller = self.caller_who_may(Permission::DeleteAccount).await?;
        let kept = account::undo_deletion(&self.app.people, &caller, clock::now()).await;
        kept.map_err(|error| self.refused(error))
    }
}
