//! Members, invitations and activity.

use async_trait::async_trait;
use platen_app::{
    backend::{log_in::LogInBackend as _, team::TeamBackend},
    error::AppError,
    model::team::{LogPage, OwnAccount, Team},
};
use platen_core::{
    clock,
    service::{
        account_log, account_summary,
        people::{account, invitations, team},
        sessions,
    },
};
use platen_domain::{
    account_log::ActivityFilter,
    ids::{AccountId, EventId, InvitationId, UserId},
    role::{
        Permission::{ManagePeople, ReadLog, SeeAccount, TransferOwnership},
        Role,
    },
    team::{Guest, OpenedInvitation},
};

use crate::web::backend::{RequestBackend, called};

#[async_trait]
impl TeamBackend for RequestBackend {
    async fn team(&self) -> Result<Team, AppError> {
        let (caller, people) = (self.caller_who_may(SeeAccount).await?, &self.app.people);
        let invitations = if caller.may(ManagePeople) {
            self.answer(invitations::list(people, caller.account).await)?
        } else {
            Vec::new()
        };
        let own = self.own_accounts().await?;
        let account = own.iter().find(|own| own.current);
        Ok(Team {
            now: clock::now(),
            account: account.map_or_else(String::new, |account| account.name.clone()),
            viewer: caller.user.id,
            role: caller.role.ok_or(AppError::NoAccount)?,
            only_account: own.len() == 1,
            members: self.answer(team::list(people, caller.account).await)?,
            invitations,
        })
    }

    async fn invite(&self, emails: String, role: Role) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(ManagePeople).await?;
        let invited = invitations::invite(&self.app.people, &caller, &self.client, &emails, role, clock::now()).await;
        self.answer(invited).map(drop)
    }

    async fn invite_again(&self, id: InvitationId) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(ManagePeople).await?;
        self.answer(invitations::send_again(&self.app.people, &caller, &self.client, id, clock::now()).await)
    }

    async fn withdraw_invitation(&self, id: InvitationId) -> Result<(), AppError> {
        let caller = self.caller_who_may(ManagePeople).await?;
        self.answer(invitations::withdraw(&self.app.people, &caller, id, clock::now()).await)
    }

    async fn change_role(&self, user: UserId, role: Role) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(ManagePeople).await?;
        self.answer(team::change_role(&self.app.people, &caller, user, role, clock::now()).await)
    }

    async fn remove_member(&self, user: UserId) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(ManagePeople).await?;
        self.answer(team::remove(&self.app.people, &caller, user, clock::now()).await)
    }

    async fn leave_account(&self) -> Result<(), AppError> {
        let caller = self.caller_who_may(SeeAccount).await?;
        let (people, user) = (&self.app.people, caller.user.id);
        self.answer(team::leave(people, &caller, clock::now()).await)?;
        match self.answer(account::accounts_of(people, user).await)?.first() {
            Some(next) => self.answer(account::switch(people, &self.session, user, next.account).await),
            None => self.log_out().await,
        }
    }

    async fn hand_over(&self, user: UserId) -> Result<(), AppError> {
        let caller = self.confirmed_caller_who_may(TransferOwnership).await?;
        self.answer(team::hand_over(&self.app.people, &caller, user, clock::now()).await)
    }

    async fn invitation(&self, token: String) -> Result<(OpenedInvitation, Guest), AppError> {
        self.answer(invitations::open(&self.app.people, &token, self.user().ok(), clock::now()).await)
    }

    async fn accept_invitation(&self, token: String) -> Result<(), AppError> {
        let (people, user, now) = (&self.app.people, self.user()?, clock::now());
        self.answer(invitations::accept(people, &self.session, user, &self.client, &token, now).await)
    }

    async fn join_as_new(&self, token: String, name: String, password: String) -> Result<(), AppError> {
        let (people, session, client) = (&self.app.people, &self.session, &self.client);
        let joined = invitations::join_as_new(people, session, client, &token, &name, password.into(), clock::now());
        self.answer(joined.await)
    }

    async fn own_accounts(&self) -> Result<Vec<OwnAccount>, AppError> {
        let user = self.user()?;
        if let Some(look) = self.look() {
            // During impersonation the operator acts only for the account in view, of which they are not a member.
            return Ok(vec![OwnAccount {
                id: look.account,
                name: self.answer(account_summary::called(&self.app.db, look.account).await)?,
                current: true,
            }]);
        }
        let chosen = self.answer(sessions::chosen_account(&self.session).await)?;
        let own = self.answer(account::accounts_of(&self.app.people, user).await)?;
        let shown = own.into_iter().map(|own| OwnAccount {
            id: own.account,
            name: called(own.name, &own.owner),
            current: Some(own.account) == chosen,
        });
        Ok(shown.collect())
    }

    async fn switch_account(&self, id: AccountId) -> Result<(), AppError> {
        self.answer(account::switch(&self.app.people, &self.session, self.user()?, id).await)
    }

    async fn account_log(&self, filter: ActivityFilter, after: Option<EventId>) -> Result<LogPage, AppError> {
        let (account, db) = (self.caller_who_may(ReadLog).await?.account, &self.app.db);
        let authors = self.answer(account_log::authors(db, account).await)?;
        let members = self.answer(team::list(&self.app.people, account).await)?.into_iter();
        Ok(LogPage {
            entries: self.answer(account_log::page(db, account, &filter, after).await)?,
            people: authors.into_iter().map(|author| (author.id, author.email)).collect(),
            names: members
                .filter(|member| !member.name.is_empty())
                .map(|member| (member.email, member.name))
                .collect(),
            days: self.answer(account_log::days_kept(db, account).await)?,
        })
    }
}
