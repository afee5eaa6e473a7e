//! Changes and resets of passwords.

use platen_core::{
    clock,
    service::{
        people::{
            PeopleError, confirm,
            email::{confirm_change, request_change},
            log_in::{LogInForm, log_in},
            password::{change, request_reset, reset},
        },
        sessions::Stay,
    },
};
use time::Duration;

use crate::support::people::{PASSWORD, Town, token_in};

const OTHER: &str = "another password";

#[tokio::test]
async fn a_link_lets_the_reader_of_the_mail_choose_once() {
    let town = Town::build().await;
    let (mut ann, mut phone) = (town.browser("192.0.2.1"), town.browser("192.0.2.2"));
    let user = town.welcome(&mut ann, "ann@example.org").await;
    town.log_in(&mut phone, "ann@example.org", PASSWORD).await.unwrap();
    let now = clock::now();
    let mut links = Vec::new();
    for _ in 0..2 {
        request_reset(&town.people, &phone.client, "Ann@example.org", now)
            .await
            .unwrap();
        links.push(town.token_for("ann@example.org").await);
    }
    assert!(
        town.mails()
            .await
            .last()
            .unwrap()
            .written
            .text
            .contains("/reset-password?token=")
    );
    let weak = reset(&town.people, &links[0], "too short".into(), now)
        .await
        .unwrap_err();
    assert!(
        weak.to_string().contains("/password: a password has at least 12"),
        "{weak}"
    );
    let late = reset(&town.people, &links[0], OTHER.into(), now + Duration::minutes(61)).await;
    assert!(matches!(late, Err(PeopleError::WorthlessLink)), "{late:?}");

    reset(&town.people, &links[0], OTHER.into(), now).await.unwrap();
    assert_eq!((ann.user().await, phone.user().await), (None, None));
    for link in &links {
        let again = reset(&town.people, link, PASSWORD.into(), now).await;
        assert!(matches!(again, Err(PeopleError::WorthlessLink)), "{again:?}");
    }
    let former = town.log_in(&mut ann, "ann@example.org", PASSWORD).await;
    assert!(matches!(former, Err(PeopleError::WrongCredentials)), "{former:?}");
    assert_eq!(town.log_in(&mut ann, "ann@example.org", OTHER).await.unwrap(), user);
    let notice = town.mails().await.pop().expect("a mail");
    assert_eq!(notice.written.subject, "Your password was changed");
}

#[tokio::test]
async fn an_unknown_address_has_the_same_response_and_gets_no_mail() {
    let town = Town::build().await;
    town.welcome(&mut town.browser("192.0.2.1"), "ann@example.org").await;
    let client = town.browser("192.0.2.2").client;
    let (before, hashes) = (town.mails().await.len(), town.people.passwords.computed());
    request_reset(&town.people, &client, "bob@example.org", clock::now())
        .await
        .unwrap();
    assert_eq!(town.number("select count(*) from mails where kept is null").await, 1);
    assert_eq!(town.mails().await.len(), before);
    assert_eq!(town.number("select count(*) from mails where kept is null").await, 0);
    assert_eq!(town.people.passwords.computed(), hashes);
}

#[tokio::test]
async fn a_link_for_one_thing_is_good_for_nothing_else() {
    let town = Town::build().await;
    let mut ann = town.browser("192.0.2.1");
    let user = town.welcome(&mut ann, "ann@example.org").await;
    let now = clock::now();
    request_change(&town.people, user, &ann.client, "new@example.org", now)
        .await
        .unwrap();
    let token = town.token_for("new@example.org").await;
    let answer = reset(&town.people, &token, OTHER.into(), now).await;
    assert!(matches!(answer, Err(PeopleError::WorthlessLink)), "{answer:?}");
}

#[tokio::test]
async fn a_change_ends_the_other_sessions() {
    let town = Town::build().await;
    let (mut ann, mut thief) = (town.browser("192.0.2.1"), town.browser("192.0.2.66"));
    let user = town.welcome(&mut ann, "ann@example.org").await;
    town.log_in(&mut thief, "ann@example.org", PASSWORD).await.unwrap();
    let now = clock::now();
    // The thief has prepared a way to regain access.
    request_change(&town.people, user, &thief.client, "thief@example.org", now)
        .await
        .unwrap();
    let way_back = town.token_for("thief@example.org").await;
    request_reset(&town.people, &thief.client, "ann@example.org", now)
        .await
        .unwrap();
    let reset_link = town.token_for("ann@example.org").await;
    request_change(&town.people, user, &thief.client, "second@example.org", now)
        .await
        .unwrap();

    let (cookie, client) = (ann.cookie, ann.client.clone());
    ann.visit(async |session| change(&town.people, user, session, &client, OTHER.into(), now).await)
        .await
        .unwrap();
    assert_eq!((ann.user().await, thief.user().await), (Some(user), None));
    assert_ne!(ann.cookie, cookie);
    ann.cookie = cookie;
    assert_eq!(ann.user().await, None);
    let worthless = reset(&town.people, &reset_link, PASSWORD.into(), now).await;
    assert!(matches!(worthless, Err(PeopleError::WorthlessLink)), "{worthless:?}");
    let mails = town.mails().await;
    assert!(mails.iter().all(|mail| mail.recipient != "second@example.org"));
    let worthless = confirm_change(&town.people, user, &way_back, now).await;
    assert!(matches!(worthless, Err(PeopleError::WorthlessLink)), "{worthless:?}");
}

#[tokio::test]
async fn password_attempts_at_confirmation_are_rate_limited() {
    let town = Town::build().await;
    let mut ann = town.browser("192.0.2.1");
    let user = town.welcome(&mut ann, "ann@example.org").await;
    let client = ann.client.clone();
    for tried in 0..6 {
        let (people, client) = (&town.people, &client);
        let answer = ann
            .visit(async |session| {
                confirm::by_password(people, session, user, client, "a wrong password".into(), clock::now()).await
            })
            .await;
        match answer {
            Err(PeopleError::WrongPassword) => assert!(tried < 5),
            Err(PeopleError::TooMany { .. }) => assert_eq!(tried, 5),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_log_in_with_the_former_password_that_is_a_moment_late_is_none() {
    let town = Town::build().await;
    town.welcome(&mut town.browser("192.0.2.1"), "ann@example.org").await;
    let mut thief = town.browser("192.0.2.66");
    let now = clock::now();
    request_reset(&town.people, &thief.client, "ann@example.org", now)
        .await
        .unwrap();
    let token = town.token_for("ann@example.org").await;
    let form = LogInForm {
        email: "ann@example.org".to_owned(),
        password: PASSWORD.into(),
        stay: Stay::LoggedIn,
    };
    let client = thief.client.clone();
    thief
        .visit(async |session| {
            log_in(&town.people, session, &client, form, now).await.unwrap();
            // The password was correct, but is replaced before the session is written.
            reset(&town.people, &token, OTHER.into(), now).await.unwrap();
        })
        .await;
    assert_eq!(thief.user().await, None);
}

#[tokio::test]
async fn a_link_to_an_address_that_the_user_has_left_opens_nothing() {
    let town = Town::build().await;
    town.welcome(&mut town.browser("192.0.2.1"), "ann@example.org").await;
    let client = town.browser("192.0.2.2").client;
    request_reset(&town.people, &client, "ann@example.org", clock::now())
        .await
        .unwrap();
    let mails = town.mails().await;
    let token = token_in(&mails.last().unwrap().written.text);
    town.execute("update users set email = 'new@example.org'").await;
    let answer = reset(&town.people, &token, OTHER.into(), clock::now()).await;
    assert!(matches!(answer, Err(PeopleError::WorthlessLink)), "{answer:?}");
    let hash = town
        .number("select count(*) from users where password_changed_at is null")
        .await;
    assert_eq!(hash, 1);
}
