//! Changes of the email address.

use platen_core::{
    clock,
    service::people::{
        PeopleError,
        account::person,
        email::{confirm_change, request_change},
        password::{request_reset, reset},
    },
};
use time::Duration;

use crate::support::people::{PASSWORD, Town, token_in};

#[tokio::test]
async fn an_address_changes_by_the_link_that_it_was_sent() {
    let town = Town::build().await;
    let mut ann = town.browser("192.0.2.1");
    let user = town.welcome(&mut ann, "ann@example.org").await;
    let now = clock::now();
    request_reset(&town.people, &ann.client, "ann@example.org", now)
        .await
        .unwrap();
    let reset_link = town.token_for("ann@example.org").await;
    request_change(&town.people, user, &ann.client, "New@example.org", now)
        .await
        .unwrap();
    let mails = town.mails().await;
    let [.., link, notice] = mails.as_slice() else {
        panic!("two mails")
    };
    assert_eq!(
        (link.recipient.as_str(), notice.recipient.as_str()),
        ("new@example.org", "ann@example.org")
    );
    assert!(
        notice.written.text.contains("new@example.org"),
        "{}",
        notice.written.text
    );
    assert!(!notice.written.text.contains("token="));
    let token = token_in(&link.written.text);
    assert_eq!(
        person(&town.people, user).await.unwrap().unwrap().email,
        "ann@example.org"
    );
    let late = confirm_change(&town.people, user, &token, now + Duration::hours(25)).await;
    assert!(matches!(late, Err(PeopleError::WorthlessLink)), "{late:?}");

    confirm_change(&town.people, user, &token, now).await.unwrap();
    assert_eq!(
        person(&town.people, user).await.unwrap().unwrap().email,
        "new@example.org"
    );
    assert_eq!(ann.user().await, Some(user));
    let told = town.mails().await.pop().expect("a mail");
    assert_eq!(
        (told.recipient.as_str(), told.written.subject.as_str()),
        ("ann@example.org", "Your email address was changed")
    );
    for worthless in [
        confirm_change(&town.people, user, &token, now).await,
        reset(&town.people, &reset_link, "another password".into(), now).await,
    ] {
        assert!(matches!(worthless, Err(PeopleError::WorthlessLink)), "{worthless:?}");
    }
    let mut browser = town.browser("192.0.2.2");
    town.log_in(&mut browser, "ann@example.org", PASSWORD)
        .await
        .unwrap_err();
    town.log_in(&mut browser, "new@example.org", PASSWORD).await.unwrap();
}

#[tokio::test]
async fn a_link_changes_nothing_for_other_users() {
    let town = Town::build().await;
    let (mut ann, mut mallory) = (town.browser("192.0.2.1"), town.browser("192.0.2.66"));
    let user = town.welcome(&mut ann, "ann@example.org").await;
    let other = town.welcome(&mut mallory, "mallory@example.org").await;
    let now = clock::now();
    request_change(&town.people, user, &ann.client, "new@example.org", now)
        .await
        .unwrap();
    let token = town.token_for("new@example.org").await;
    let stolen = confirm_change(&town.people, other, &token, now).await;
    assert!(matches!(stolen, Err(PeopleError::WorthlessLink)), "{stolen:?}");
    assert_eq!(
        person(&town.people, other).await.unwrap().unwrap().email,
        "mallory@example.org"
    );
    confirm_change(&town.people, user, &token, now).await.unwrap();
}

#[tokio::test]
async fn it_asks_for_another_address() {
    let town = Town::build().await;
    let ann = &mut town.browser("192.0.2.1");
    let user = town.welcome(ann, "ann@example.org").await;
    let before = town.mails().await.len();
    for (email, detail) in [
        ("ANN@example.org", "already your email address"),
        ("nothing", "not an email address"),
    ] {
        let refused = request_change(&town.people, user, &ann.client, email, clock::now()).await;
        let refused = refused.unwrap_err();
        assert!(refused.to_string().contains(detail), "{refused}");
    }
    assert_eq!(town.mails().await.len(), before);
}

#[tokio::test]
async fn only_the_last_wish_counts() {
    let town = Town::build().await;
    let ann = &mut town.browser("192.0.2.1");
    let user = town.welcome(ann, "ann@example.org").await;
    let now = clock::now();
    for email in ["first@example.org", "second@example.org"] {
        request_change(&town.people, user, &ann.client, email, now)
            .await
            .unwrap();
        town.mails().await;
    }
    let mails = town.mails().await;
    let token_to = |recipient: &str| {
        let mail = mails.iter().find(|mail| mail.recipient == recipient);
        token_in(&mail.expect("a mail").written.text)
    };
    let first = confirm_change(&town.people, user, &token_to("first@example.org"), now).await;
    assert!(matches!(first, Err(PeopleError::WorthlessLink)), "{first:?}");
    confirm_change(&town.people, user, &token_to("second@example.org"), now)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_request_for_a_taken_address_does_not_reveal_it() {
    let town = Town::build().await;
    let (mut ann, mut bob) = (town.browser("192.0.2.1"), town.browser("192.0.2.2"));
    let user = town.welcome(&mut ann, "ann@example.org").await;
    town.welcome(&mut bob, "bob@example.org").await;
    let now = clock::now();
    request_change(&town.people, user, &ann.client, "bob@example.org", now)
        .await
        .unwrap();
    let mails = town.mails().await;
    let to_bob = mails.iter().rfind(|mail| mail.recipient == "bob@example.org").unwrap();
    assert_eq!(to_bob.written.subject, "You already have an account");
    // Another user takes the address after the mail was sent.
    request_change(&town.people, user, &ann.client, "eve@example.org", now)
        .await
        .unwrap();
    let token = town.token_for("eve@example.org").await;
    town.execute("update users set email = 'eve@example.org' where email = 'bob@example.org'")
        .await;
    let refused = confirm_change(&town.people, user, &token, now).await;
    assert!(matches!(refused, Err(PeopleError::EmailTaken)), "{refused:?}");
    assert_eq!(
        person(&town.people, user).await.unwrap().unwrap().email,
        "ann@example.org"
    );
}
