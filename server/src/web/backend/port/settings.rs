//! Settings of the user and of the account.

use async_trait::async_trait;
use platen_app::{
    backend::settings::SettingsBackend,
    error::AppError,
    model::{
        person::Person,
        rejection::Field,
        settings::{OwnedAccount, Settings},
    },
};
use platen_core::{
    clock,
    service::{
        exports,
        people::{self, PeopleError, account, devices, email, password, second_factor},
        sessions,
        templates::channels,
    },
};
use platen_domain::{
    account_log::Actor,
    download_link::DocumentLinks,
    ids::SessionId,
    role::Permission::{DeleteAccount, ExportAccount, SeeAccount, SetPolicy},
    template::channels::Channels,
};
use time::{Date, OffsetDateTime, macros::format_description};

use crate::web::backend::{RequestBackend, called, visitor_errors::invalid};

#[async_trait]
impl SettingsBackend for RequestBackend {
    async fn settings(&self) -> Result<Settings, AppError> {
        let (caller, now) = (self.caller_who_may(SeeAccount).await?, clock::now());
        let (db, people, user) = (&self.app.db, &self.app.people, caller.user.id);
        let person = self.answer(account::person(people, user).await)?;
        let person = person.ok_or(AppError::LogInFirst)?;
        let owned = match self.answer(account::owned(people, user, caller.account).await)? {
            Some(owned) => Some(OwnedAccount {
                called: called(owned.name.clone(), &person.email),
                name: owned.name,
                keep_content: owned.keep_content,
                links: owned.links,
                plan_link_seconds: owned.plan_link_seconds,
                channels: self.answer(channels::find(db, caller.account).await)?,
                second_factor_from: owned.second_factor_from.map(OffsetDateTime::date),
                delete_at: owned.delete_at,
                exports: self.answer(exports::list(db, caller.account, now).await)?,
            }),
            None => None,
        };
        Ok(Settings {
            now,
            owned,
            password_changed_at: person.password_changed_at,
            second_factor: self.answer(second_factor::of_user(people, user, now).await)?,
            devices: self.answer(devices::remembered(people, user, now).await)?,
            sessions: self.answer(sessions::list(db, user, &self.session, now).await)?,
            person: Person {
                name: person.name,
                email: person.email,
            },
        })
    }

    async fn rename(&self, name: String) -> Result<(), AppError> {
        self.answer(account::rename(&self.app.people, self.user()?, &name).await)
    }

    async fn request_email_change(&self, address: String) -> Result<(), AppError> {
        let (people, user, now) = (&self.app.people, self.confirmed_user()?, clock::now());
        match email::request_change(people, user, &self.client, &address, now).await {
            Err(PeopleError::Invalid(_)) => Err(invalid(vec![Field::NewEmail])),
            requested => self.answer(requested),
        }
    }

    async fn change_password(&self, new: String) -> Result<(), AppError> {
        let (people, user, now) = (&self.app.people, self.confirmed_user()?, clock::now());
        self.answer(password::change(people, user, &self.session, &self.client, new.into(), now).await)
    }

    async fn rename_account(&self, name: String) -> Result<(), AppError> {
        let caller = self.caller_who_may(SetPolicy).await?;
        match account::rename_account(&self.app.people, &caller, &name, clock::now()).await {
            // The service calls the field `name`, but this page has two names.
            Err(PeopleError::Invalid(_)) => Err(invalid(vec![Field::AccountName])),
            renamed => self.answer(renamed),
        }
    }

    async fn keep_content(&self, keep: bool) -> Result<(), AppError> {
        let caller = self.caller_who_may(SetPolicy).await?;
        self.answer(account::keep_content(&self.app.people, &caller, keep, clock::now()).await)
    }

    async fn set_document_links(&self, links: DocumentLinks) -> Result<(), AppError> {
        let caller = self.caller_who_may(SetPolicy).await?;
        self.answer(account::set_document_links(&self.app.people, &caller, links, clock::now()).await)
    }

    async fn set_channels(&self, before_production: String, approval: bool) -> Result<(), AppError> {
        let caller = self.caller_who_may(SetPolicy).await?;
        let channels = Channels::parse(&before_production, approval);
        let channels = channels.map_err(|_| invalid(vec![Field::Channels]))?;
        let actor = Actor::of_caller(&caller);
        self.answer(channels::set(&self.app.db, caller.account, &actor, &channels).await)
    }

    async fn require_second_factor(&self, from: String) -> Result<(), AppError> {
        let (caller, now) = (self.confirmed_caller_who_may(SetPolicy).await?, clock::now());
        let from = match from.trim() {
            "" => None,
            day => {
                let day = Date::parse(day, format_description!("[year]-[month]-[day]")).ok();
                let day = day.filter(|day| *day >= now.date());
                Some(day.ok_or_else(|| invalid(vec![Field::SecondFactorFrom]))?)
            }
        };
        self.answer(account::require_second_factor(&self.app.people, &caller, from, now).await)
    }

    async fn request_export(&self) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(ExportAccount).await?;
        self.answer(exports::request(&self.app.db, &caller, clock::now()).await)
    }

    async fn end_session(&self, id: SessionId) -> Result<(), AppError> {
        let user = self.user()?;
        self.answer(people::sessions::end(&self.app.people, user, &self.client, id, clock::now()).await)
    }

    async fn end_other_sessions(&self) -> Result<(), AppError> {
        let (people, user, now) = (&self.app.people, self.user()?, clock::now());
        self.answer(people::sessions::end_all_others(people, user, &self.session, &self.client, now).await)
    }

    async fn request_deletion(&self, name: String) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(DeleteAccount).await?;
        let (people, user) = (&self.app.people, &caller.user);
        let owned = self.answer(account::owned(people, user.id, caller.account).await)?;
        let owned = owned.ok_or(AppError::NotFound)?;
        if called(owned.name, &user.email).trim() != name.trim() {
            return Err(invalid(vec![Field::Confirmation]));
        }
        self.answer(account::request_deletion(people, &caller, clock::now()).await)
            .map(drop)
    }

    async fn undo_deletion(&self) -> Result<(), AppError> {
        let caller = self.caller_who_may(DeleteAccount).await?;
        self.answer(account::undo_deletion(&self.app.people, &caller, clock::now()).await)
    }
}
