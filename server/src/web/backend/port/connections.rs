//! Storage connections.

use async_trait::async_trait;
use platen_app::{
    backend::connections::ConnectionBackend,
    error::AppError,
    model::{
        connection::{ConnectionEdit, ConnectionForm, Connections},
        rejection::Field,
    },
};
use platen_core::{
    clock,
    service::connections::{self, probe, rejected_credentials},
};
use platen_domain::{account_log::Actor, ids::ConnectionId, page::PageRequest, role::Permission::ManageDestinations};

use crate::web::backend::{RequestBackend, connection_forms, visitor_errors::invalid};

#[async_trait]
impl ConnectionBackend for RequestBackend {
    async fn connections(&self) -> Result<Connections, AppError> {
        let (account, db) = (self.caller_who_may(ManageDestinations).await?.account, &self.app.db);
        let found = self.answer(connections::list(db, account, PageRequest::ALL).await)?;
        let mut tests = self.answer(probe::last_tests(db, account).await)?;
        let stores = self.app.buckets.stores();
        let listed = found.items.into_iter().map(|connection| {
            let test = tests.remove(&connection.id);
            (connection, test)
        });
        let now = clock::now();
        let rejected = self.answer(rejected_credentials::take(&self.session, account, now).await)?;
        Ok(Connections {
            now,
            account: account.to_string(),
            roles: stores.can_assume_roles(),
            impersonation: stores.can_impersonate(),
            connections: listed.collect(),
            rejected,
        })
    }

    async fn connect_bucket(&self, form: ConnectionForm) -> Result<Option<ConnectionId>, AppError> {
        let caller = self.caller_who_may(ManageDestinations).await?;
        let new = self.new_connection(&form)?;
        let created = connections::create(&self.app.buckets, caller.account, &Actor::of_caller(&caller), new).await;
        let created = self.answer_about(&form, created)?;
        self.test_connection(created.id).await
    }

    async fn edit_connection(&self, id: ConnectionId, form: ConnectionEdit) -> Result<Option<ConnectionId>, AppError> {
        let (caller, db) = (self.caller_who_may(ManageDestinations).await?, &self.app.db);
        let connection = self.answer(connections::get(db, caller.account, id).await)?;
        let form = connection_forms::edited(&connection, form);
        let settings = self.new_connection(&form)?.settings;
        let updated = connections::update(db, caller.account, &Actor::of_caller(&caller), id, &settings).await;
        self.answer_about(&form, updated)?;
        self.test_connection(id).await
    }

    async fn rotate_credentials(
        &self,
        id: ConnectionId,
        form: ConnectionForm,
    ) -> Result<Option<ConnectionId>, AppError> {
        let (caller, buckets) = (self.caller_who_may(ManageDestinations).await?, &self.app.buckets);
        let (account, actor) = (caller.account, Actor::of_caller(&caller));
        let connection = self.answer(connections::get(&self.app.db, account, id).await)?;
        let form = connection_forms::with_settings(&connection, form);
        let credentials = self.new_connection(&form)?.credentials;
        let rotated = connections::rotate_credentials(buckets, account, &actor, id, &credentials).await;
        let test = self.answer_about(&form, rotated)?;
        if test.delivers() {
            return Ok((!test.passed()).then_some(id));
        }
        Err(self.rejected_credentials(account, id, test.steps).await)
    }

    async fn test_connection(&self, id: ConnectionId) -> Result<Option<ConnectionId>, AppError> {
        let account = self.caller_who_may(ManageDestinations).await?.account;
        let test = self.answer(probe::test(&self.app.buckets, account, id).await)?;
        Ok((!test.passed()).then_some(id))
    }

    async fn delete_connection(&self, id: ConnectionId, name: String) -> Result<(), AppError> {
        let (caller, db) = (self.caller_who_may(ManageDestinations).await?, &self.app.db);
        let connection = self.answer(connections::get(db, caller.account, id).await)?;
        if connection.settings.name.trim() != name.trim() {
            return Err(invalid(vec![Field::Confirmation]));
        }
        self.answer(connections::delete(db, caller.account, &Actor::of_caller(&caller), id).await)
    }
}
