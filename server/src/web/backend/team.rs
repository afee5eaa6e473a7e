//! Members of an account.

use async_trait::async_trait;
use platen_app::{
    backend::{people::PeopleBackend as _, team::TeamBackend},
    error::AppError,
    model::team::{LogPage, LogSearch, OwnAccount, Team},
};
use platen_core::{
    clock,
    service::{
        account_log, account_summary,
        people::{account, invitations, team},
        sessions,
    },
    store::account_log::ActivityFilter,
};
use platen_domain::{
    ids::{AccountId, EventId, InvitationId, UserId},
    role::{Permission, Role},
    team::{Guest, OpenedInvitation},
};

use super::{RequestBackend, called};

#[async_trait]
impl TeamBackend for RequestBackend {
    async fn team(&self) -> Result<Team, AppError> {
        let (caller, now) = (self.caller_who_may(Permission::SeeAccount).await?, clock::now());
        let people = &self.app.people;
        let members = team::list(people, caller.account).await;
        let members = members.map_err(|error| self.refused(error))?;
        let invitations = if caller.may(Permission::ManagePeople) {
            let found = invitations::list(people, caller.account).await;
            found.map_err(|error| self.refused(error))?
        } else {
            Vec::new()
        };
        let own = self.own_accounts().await?;
        let account = own.iter().find(|own| own.current);
        Ok(Team {
            now,
            account: account.map_or_else(String::new, |account| account.name.clone()),
            viewer: caller.user.id,
            role: caller.role.ok_or(AppError::NoAccount)?,
            only_account: own.len() == 1,
            members,
            invitations,
        })
    }

    async fn invite(&self, emails: String, role: Role) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(Permission::ManagePeople).await?;
        let invited = invitations::invite(&self.app.people, &caller, &self.client, &emails, role, clock::now()).await;
        invited.map(drop).map_err(|error| self.refused(error))
    }

    async fn invite_again(&self, id: String) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(Permission::ManagePeople).await?;
        let id = InvitationId::parse(&id).ok_or(AppError::NotFound)?;
        let sent = invitations::send_again(&self.app.people, &caller, &self.client, id, clock::now()).await;
        sent.map_err(|error| self.refused(error))
    }

    async fn withdraw_invitation(&self, id: String) -> Result<(), AppError> {
        let caller = self.caller_who_may(Permission::ManagePeople).await?;
        let id = InvitationId::parse(&id).ok_or(AppError::NotFound)?;
        let withdrawn = invitations::withdraw(&self.app.people, &caller, id, clock::now()).await;
        withdrawn.map_err(|error| self.refused(error))
    }

    async fn change_role(&self, user: String, role: Role) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(Permission::ManagePeople).await?;
        let user = UserId::parse(&user).ok_or(AppError::NotFound)?;
        let changed = team::change_role(&self.app.people, &caller, user, role, clock::now()).await;
        changed.map_err(|error| self.refused(error))
    }

    async fn remove_member(&self, user: String) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(Permission::ManagePeople).await?;
        let user = UserId::parse(&user).ok_or(AppError::NotFound)?;
        let removed = team::remove(&self.app.people, &caller, user, clock::now()).await;
        removed.map_err(|error| self.refused(error))
    }

    async fn leave_account(&self) -> Result<(), AppError> {
        let caller = self.caller_who_may(Permission::SeeAccount).await?;
        let (people, user) = (&self.app.people, caller.user.id);
        let refused = |error| self.refused(error);
        team::leave(people, &caller, clock::now()).await.map_err(refused)?;
        let rest = account::accounts_of(people, user).await.map_err(refused)?;
        match rest.first() {
            Some(next) => account::switch(people, &self.session, user, next.account)
                .await
                .map_err(refused),
            None => self.log_out().await,
        }
    }

    async fn hand_over(&self, user: String) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(Permission::TransferOwnership).await?;
        let to = UserId::parse(&user).ok_or(AppError::NotFound)?;
        let (people, now) = (&self.app.people, clock::now());
        let handed = team::hand_over(people, &caller, to, now).await;
        handed.map_err(|error| self.refused(error))
    }

    async fn invitation(&self, token: String) -> Result<(OpenedInvitation, Guest), AppError> {
        let opened = invitations::open(&self.app.people, &token, self.user().ok(), clock::now()).await;
        opened.map_err(|error| self.refused(error))
    }

    async fn accept_invitation(&self, token: String) -> Result<(), AppError> {
        let (people, user, now) = (&self.app.people, self.user()?, clock::now());
        let accepted = invitations::accept(people, &self.session, user, &self.client, &token, now).await;
        accepted.map_err(|error| self.refused(error))
    }

    async fn join_as_new(&self, token: String, name: String, password: String) -> Result<(), AppError> {
        let (people, password, now) = (&self.app.people, password.into(), clock::now());
        let joined = invitations::join_as_new(people, &self.session, &self.client, &token, &name, password, now).await;
        joined.map_err(|error| self.refused(error))
    }

    async fn own_accounts(&self) -> Result<Vec<OwnAccount>, AppError> {
        let user = self.user()?;
        if let Some(look) = self.look() {
            // During impersonation the operator acts only for the account in view, of which they are not a member.
            let called = account_summary::called(&self.app.db, look.account).await;
            return Ok(vec![OwnAccount {
                id: look.account.to_string(),
                name: called.map_err(|error| self.internal(&error))?,
                current: true,
            }]);
        }
        let chosen = sessions::chosen_account(&self.session).await;
        let chosen = chosen.map_err(|error| self.internal(&error))?;
        let own = account::accounts_of(&self.app.people, user).await;
        let own = own.map_err(|error| self.refused(error))?.into_iter();
        let shown = own.map(|own| OwnAccount {
            id: own.account.to_string(),
            name: called(own.name, &own.owner),
            current: Some(own.account) == chosen,
        });
        Ok(shown.collect())
    }

    async fn switch_account(&self, id: String) -> Result<(), AppError> {
        let account = AccountId::parse(&id).ok_or(AppError::NotFound)?;
        let switched = account::switch(&self.app.people, &self.session, self.user()?, account).await;
        switched.map_err(|error| self.refused(error))
    }

    async fn account_log(&self, search: LogSearch) -> Result<LogPage, AppError> {
        let account = self.caller_who_may(Permission::ReadLog).await?.account;
        let (db, internal) = (&self.app.db, |error| self.internal(&error));
        let filter = ActivityFilter {
            person: search.person.as_deref().and_then(UserId::parse),
            topic: search.topic,
        };
        let after = search.after.as_deref().and_then(EventId::parse);
        let found = account_log::page(db, account, &filter, after).await.map_err(internal)?;
        let authors = account_log::authors(db, account).await.map_err(internal)?;
        Ok(LogPage {
            entries: found.items,
            next: found.next.map(|id| id.to_string()),
            people: authors
                .into_iter()
                .map(|author| (author.id.to_string(), author.email))
                .collect(),
            topics: account_log::topics(),
            days: account_log::days_kept(db, account).await.map_err(internal)?,
        })
    }
}
