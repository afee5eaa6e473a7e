//! Deletion of accounts by their owners, and its cancellation.

use std::fs;

use platen_core::{
    clock,
    service::{
        exports::request as request_export,
        people::{
            PeopleError,
            account::{accounts_of, rename, rename_account, request_deletion, undo_deletion},
        },
    },
};
use platen_domain::{
    caller::Caller,
    ids::{AccountId, UserId},
};
use rustix::process::Signal;
use serde_json::json;
use time::Duration;

use crate::support::{
    people::{PASSWORD, Town},
    service::TestService,
};

/// Returns the account that was created when the user signed up.
async fn own_account(town: &Town, user: UserId) -> AccountId {
    accounts_of(&town.people, user).await.expect("accounts")[0].account
}

#[tokio::test]
async fn an_owner_can_take_an_account_back_for_a_week() {
    let town = Town::build().await;
    let mut ann = town.browser("192.0.2.1");
    let user = town.welcome(&mut ann, "ann@example.org").await;
    let own = town.caller(user, &ann.client).await;
    let now = clock::now();
    let request = async || request_deletion(&town.people, &own, now).await;
    let delete_at = request().await.unwrap();
    assert_eq!(delete_at, now + Duration::days(7));
    let shown = accounts_of(&town.people, user).await.unwrap();
    assert_eq!(shown[0].delete_at, Some(delete_at));
    let mail = town.mails().await.pop().expect("a mail");
    assert_eq!(mail.written.subject, "Your account will be deleted");
    assert!(mail.written.text.contains("Example & Sons"), "{}", mail.written.text);
    assert!(
        mail.written.html.contains("Example &amp; Sons"),
        "{}",
        mail.written.html
    );
    // They log in and cancel the deletion.
    town.log_in(&mut town.browser("192.0.2.2"), "ann@example.org", PASSWORD)
        .await
        .unwrap();
    undo_deletion(&town.people, &own, delete_at - Duration::seconds(1))
        .await
        .unwrap();
    assert_eq!(accounts_of(&town.people, user).await.unwrap()[0].delete_at, None);
    request().await.unwrap();
    let late = undo_deletion(&town.people, &own, delete_at).await;
    assert!(matches!(late, Err(PeopleError::NotFound)), "{late:?}");
}

#[tokio::test]
async fn only_the_owner_deletes_or_renames_an_account() {
    let town = Town::build().await;
    let (mut ann, mut bob) = (town.browser("192.0.2.1"), town.browser("192.0.2.2"));
    let user = town.welcome(&mut ann, "ann@example.org").await;
    let other = town.welcome(&mut bob, "bob@example.org").await;
    let own = town.caller(user, &ann.client).await;
    let account = own.account;
    let foreign = Caller {
        account,
        ..town.caller(other, &bob.client).await
    };
    let now = clock::now();
    for role in [None, Some("member"), Some("admin")] {
        if let Some(role) = role {
            town.execute(&format!(
                "insert into members (account_id, user_id, role, inserted_at) values ('{account}', '{other}', '{role}', now())
                 on conflict (account_id, user_id) do update set role = excluded.role"
            ))
            .await;
        }
        let refused = request_deletion(&town.people, &foreign, now).await;
        assert!(matches!(refused, Err(PeopleError::NotFound)), "{role:?}: {refused:?}");
        let refused = rename_account(&town.people, &foreign, "Mine", now).await;
        assert!(matches!(refused, Err(PeopleError::NotFound)), "{role:?}: {refused:?}");
    }
    request_deletion(&town.people, &own, now).await.unwrap();
    let refused = undo_deletion(&town.people, &foreign, now).await;
    assert!(matches!(refused, Err(PeopleError::NotFound)), "{refused:?}");
    rename_account(&town.people, &own, " Ann's ", now).await.unwrap();
    rename(&town.people, user, "Ann").await.unwrap();
    assert_eq!(accounts_of(&town.people, user).await.unwrap()[0].name, "Ann's");
    let problem = rename(&town.people, user, "").await.unwrap_err();
    assert!(problem.to_string().starts_with("/name: "), "{problem}");
}

#[tokio::test]
async fn after_a_week_the_account_is_gone_with_its_owner_and_nothing_else() {
    let mut service = TestService::start().await;
    let bob = service.account("bob@example.org");
    let town = Town::at(service.database_url()).await;
    let mut browser = town.browser("192.0.2.1");
    // Owners of accounts created by an operator log in like everyone else.
    let ann = service.account("ann@example.org");
    let user = town.log_in(&mut browser, "ann@example.org", PASSWORD).await.unwrap();
    let account = own_account(&town, user).await;
    assert_eq!(account.to_string(), ann.id);
    let own = town.caller(user, &browser.client).await;
    request_deletion(&town.people, &own, clock::now()).await.unwrap();
    let health = async |service: &TestService, key: &str| {
        let request = service.client.get(service.url("/api/v1/health")).bearer_auth(key);
        request.send().await.unwrap().status().as_u16()
    };
    // The service deletes due accounts when it starts.
    service.restart(Signal::TERM).await;
    assert_eq!(health(&service, &ann.key).await, 200);
    town.execute("update accounts set delete_at = now() where delete_at is not null")
        .await;
    service.restart(Signal::TERM).await;
    service.number_is(1, "select count(*) from accounts").await;
    assert_eq!(health(&service, &ann.key).await, 401);
    assert_eq!(health(&service, &bob.key).await, 200);
    assert_eq!(browser.user().await, None);
    let answer = town.log_in(&mut browser, "ann@example.org", PASSWORD).await;
    assert!(matches!(answer, Err(PeopleError::WrongCredentials)), "{answer:?}");
}

#[tokio::test]
async fn a_proof_outlives_the_account_and_holds_nothing_of_it() {
    let mut service = TestService::start().await;
    let (ann, bob) = (service.account("ann@example.org"), service.account("bob@example.org"));
    let render = service
        .queued(&ann, &json!({"parts": ["<title>Top secret</title>"]}))
        .await;
    service.ended(&ann, &render).await;
    let town = Town::at(service.database_url()).await;
    let mut browser = town.browser("192.0.2.1");
    let user = town.log_in(&mut browser, "ann@example.org", PASSWORD).await.unwrap();
    let own = town.caller(user, &browser.client).await;
    request_export(&town.people.db, &own, clock::now()).await.unwrap();
    service
        .number_is(1, "select count(*) from exports where state = 'ready'")
        .await;
    request_deletion(&town.people, &own, clock::now()).await.unwrap();
    town.execute("update accounts set delete_at = now() where delete_at is not null")
        .await;
    service.restart(Signal::TERM).await;
    service.number_is(1, "select count(*) from deletions").await;
    let files = |folder: &str| fs::read_dir(service.data().join(folder)).unwrap().count();
    service.number_is(1, "select count(*) from accounts").await;
    let delete = ["accounts", "delete", "--email", "bob@example.org", "--yes"];
    service.command(&delete, "").succeeded();

    let printed = service.command(&["accounts", "deletions"], "").succeeded();
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines.len(), 2, "{printed}");
    assert!(
        lines[0].contains(&bob.id) && lines[0].contains("asked by an operator"),
        "{printed}"
    );
    for expected in [
        format!("account {}", ann.id),
        format!("asked by user {user}"),
        r#""api_keys":1"#.to_owned(),
        r#""renders":1"#.to_owned(),
        r#""documents":1"#.to_owned(),
        r#""exports":1"#.to_owned(),
    ] {
        assert!(lines[1].contains(&expected), "{expected} is missing in {printed}");
    }
    assert!(!printed.contains("ann@") && !printed.contains("secret"), "{printed}");
    for statement in [
        "update deletions set asked_by = null",
        "delete from deletions",
        "truncate deletions",
    ] {
        let refused = sqlx::raw_sql(statement).execute(&town.people.db).await;
        assert!(refused.is_err(), "{statement}");
    }
    // Files are deleted after the rows.
    service.number_is(0, "select count(*) from export_pieces").await;
    while files("renders") > 0 {
        tokio::task::yield_now().await;
    }
}
