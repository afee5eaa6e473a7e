//! A new key on its way to the page that shows it once.

use std::sync::Arc;

use platen_core::{
    clock,
    service::{
        api_keys::{CreatedKey, new_key},
        people::account::accounts_of,
    },
};
use platen_domain::{
    api_key::PlaintextKey,
    encryption::{SecretKey, SecretKeys},
    ids::{AccountId, ApiKeyId},
};
use time::Duration;

use crate::support::people::{Browser, Town};

struct Maker {
    town: Town,
    browser: Browser,
    account: AccountId,
    secret_keys: SecretKeys,
    id: ApiKeyId,
    key: String,
}

impl Maker {
    /// Creates a user who has just created a key.
    async fn with_key() -> Self {
        let town = Town::build().await;
        let mut browser = town.browser("192.0.2.1");
        let user = town.welcome(&mut browser, "ann@example.org").await;
        let accounts = accounts_of(&town.people, user).await;
        let account = accounts.expect("a list")[0].account;
        let created = CreatedKey {
            id: ApiKeyId::generate(),
            key: PlaintextKey::from_random([7; 32], true),
        };
        let mut maker = Self {
            town,
            browser,
            account,
            secret_keys: SecretKeys {
                current: Arc::new(SecretKey::from_random([1; 32])),
                former: None,
            },
            id: created.id,
            key: created.key.expose().to_owned(),
        };
        let (db, keys) = (&maker.town.people.db, &maker.secret_keys);
        let kept = maker
            .browser
            .visit(async |session| new_key::keep(db, keys, session, account, &created, clock::now()).await)
            .await;
        kept.expect("a sealed key");
        maker
    }

    /// Returns the key that its page shows `later` after its creation.
    async fn shown(&mut self, later: Duration) -> Option<String> {
        self.shown_as(self.id, later).await
    }

    /// Returns the key that the page of a key shows.
    async fn shown_as(&mut self, id: ApiKeyId, later: Duration) -> Option<String> {
        let (db, keys, account) = (&self.town.people.db, &self.secret_keys, self.account);
        let taken = self
            .browser
            .visit(async |session| new_key::take(db, keys, session, account, id, clock::now() + later).await)
            .await;
        let taken = taken.expect("an answer");
        taken.map(|created| created.key.expose().to_owned())
    }
}

#[tokio::test]
async fn a_new_key_is_shown_once_and_lies_nowhere_in_the_clear() {
    let mut maker = Maker::with_key().await;
    let digits = &maker.key[8..];
    let waiting = "select count(*) from sessions where data ? 'new_key'";
    assert_eq!(maker.town.number(waiting).await, 1);
    let clear = format!("select count(*) from sessions where data::text like '%{digits}%'");
    assert_eq!(maker.town.number(&clear).await, 0);

    assert_eq!(maker.shown(Duration::ZERO).await, Some(maker.key.clone()));
    assert_eq!(maker.town.number(waiting).await, 0);
    assert_eq!(maker.shown(Duration::ZERO).await, None);
}

#[tokio::test]
async fn a_new_key_waits_for_its_own_page() {
    let mut maker = Maker::with_key().await;
    assert_eq!(maker.shown_as(ApiKeyId::generate(), Duration::ZERO).await, None);
    assert_eq!(maker.shown(Duration::ZERO).await, Some(maker.key.clone()));
}

#[tokio::test]
async fn a_new_key_does_not_wait_for_ever() {
    let mut maker = Maker::with_key().await;
    assert_eq!(maker.shown(Duration::minutes(5)).await, None);
    assert_eq!(maker.shown(Duration::ZERO).await, None);
}
