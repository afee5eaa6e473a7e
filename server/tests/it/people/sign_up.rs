//! Sign-up, from an address to a user.

use platen_core::{
    clock,
    service::people::{
        PeopleError,
        account::{accounts_of, person},
        sign_up::{SignUpForm, send_again, sign_up, verify},
    },
};
use time::Duration;

use crate::support::people::{PASSWORD, Town, form, token_in};

#[tokio::test]
async fn an_address_becomes_a_user_by_its_link_and_the_password() {
    let town = Town::build().await;
    let mut browser = town.browser("192.0.2.1");
    let now = clock::now();
    sign_up(&town.people, &browser.client, form("Ann@Example.org"), now)
        .await
        .unwrap();
    assert_eq!(town.number("select count(*) from users").await, 0);
    let mails = town.mails().await;
    assert_eq!(mails.len(), 1);
    assert_eq!(mails[0].recipient, "ann@example.org");
    let (text, html) = (&mails[0].written.text, &mails[0].written.html);
    let token = token_in(text);
    let link = format!("https://platen.example/sign-up/verify?token={token}");
    assert!(text.lines().any(|line| line == link), "{text}");
    assert!(html.contains(&format!("href=\"{link}\"")), "{html}");

    let client = browser.client.clone();
    let user = browser
        .visit(async |session| verify(&town.people, session, &client, &token, PASSWORD.into(), now).await)
        .await
        .unwrap();
    assert_eq!(browser.user().await, Some(user));
    let person = person(&town.people, user).await.unwrap().expect("a user");
    assert_eq!(
        (person.email.as_str(), person.name.as_str()),
        ("ann@example.org", "Ann Example")
    );
    let accounts = accounts_of(&town.people, user).await.unwrap();
    assert_eq!(accounts.len(), 1);
    assert_eq!(
        (accounts[0].name.as_str(), accounts[0].role.into_str()),
        ("Example & Sons", "owner")
    );

    // The link is valid once.
    let again = browser
        .visit(async |session| verify(&town.people, session, &client, &token, PASSWORD.into(), now).await)
        .await;
    assert!(matches!(again, Err(PeopleError::WorthlessLink)), "{again:?}");
    assert_eq!(town.number("select count(*) from sign_ups").await, 0);
}

#[tokio::test]
async fn account_pre_hijacking_is_prevented() {
    let town = Town::build().await;
    let (mut ann, mallory) = (town.browser("192.0.2.1"), town.browser("192.0.2.2"));
    let now = clock::now();
    let theirs = SignUpForm {
        password: "mallory knows this".into(),
        ..form("ann@example.org")
    };
    sign_up(&town.people, &mallory.client, theirs, now).await.unwrap();
    let token = town.token_for("ann@example.org").await;
    let client = ann.client.clone();
    // Ann follows the link and enters her own password.
    let followed = ann
        .visit(async |session| verify(&town.people, session, &client, &token, PASSWORD.into(), now).await)
        .await;
    assert!(matches!(followed, Err(PeopleError::WrongPassword)), "{followed:?}");
    assert_eq!(
        (ann.user().await, town.number("select count(*) from users").await),
        (None, 0)
    );
    // Her own sign-up doesn't conflict with the other one; every link leads to the one with her password.
    let hers = SignUpForm {
        name: "Ann herself".to_owned(),
        ..form("ann@example.org")
    };
    sign_up(&town.people, &ann.client, hers, now).await.unwrap();
    let user = ann
        .visit(async |session| verify(&town.people, session, &client, &token, PASSWORD.into(), now).await)
        .await
        .unwrap();
    assert_eq!(
        person(&town.people, user).await.unwrap().expect("a user").name,
        "Ann herself"
    );
    let mut mallory = mallory;
    let entered = town.log_in(&mut mallory, "ann@example.org", "mallory knows this").await;
    assert!(matches!(entered, Err(PeopleError::WrongCredentials)), "{entered:?}");
}

#[tokio::test]
async fn a_taken_address_is_answered_like_a_free_one_and_its_owner_is_told() {
    let town = Town::build().await;
    town.welcome(&mut town.browser("192.0.2.1"), "ann@example.org").await;
    let stranger = town.browser("192.0.2.2");
    let mut hashes = Vec::new();
    for email in ["ann@example.org", "nobody@example.org"] {
        let before = town.people.passwords.computed();
        sign_up(&town.people, &stranger.client, form(email), clock::now())
            .await
            .unwrap();
        hashes.push(town.people.passwords.computed() - before);
    }
    assert_eq!(hashes, [1, 1]);
    let mails = town.mails().await;
    let [.., to_owner, to_nobody] = mails.as_slice() else {
        panic!("two mails")
    };
    assert_eq!(to_owner.written.subject, "You already have an account");
    assert!(!to_owner.written.text.contains("token="), "{}", to_owner.written.text);
    assert_eq!(to_nobody.written.subject, "Confirm your email address");
    // An address that is taken in the meantime can't be used a second time.
    let mut late = town.browser("192.0.2.3");
    let token = token_in(&to_nobody.written.text);
    town.execute("update users set email = 'nobody@example.org'").await;
    let client = late.client.clone();
    let refused = late
        .visit(async |session| verify(&town.people, session, &client, &token, PASSWORD.into(), clock::now()).await)
        .await;
    assert!(matches!(refused, Err(PeopleError::EmailTaken)), "{refused:?}");
    assert_eq!(late.user().await, None);
}

#[tokio::test]
async fn a_link_is_good_for_a_day_and_can_be_had_again() {
    let town = Town::build().await;
    let mut browser = town.browser("192.0.2.1");
    let (client, now) = (browser.client.clone(), clock::now());
    sign_up(&town.people, &client, form("ann@example.org"), now)
        .await
        .unwrap();
    let first = town.token_for("ann@example.org").await;
    let mut follow = async |token: &str, at| {
        let token = token.to_owned();
        browser
            .visit(async |session| verify(&town.people, session, &client, &token, PASSWORD.into(), at).await)
            .await
    };
    let late = follow(&first, now + Duration::hours(25)).await;
    assert!(matches!(late, Err(PeopleError::WorthlessLink)), "{late:?}");
    send_again(&town.people, &client, " ann@example.org ", now)
        .await
        .unwrap();
    let second = town.token_for("ann@example.org").await;
    assert_ne!(first, second);
    for wrong in ["", "x", &second[1..]] {
        let worthless = follow(wrong, now).await;
        assert!(matches!(worthless, Err(PeopleError::WorthlessLink)), "{worthless:?}");
    }
    follow(&second, now).await.unwrap();
    // Without a pending sign-up, no mail is sent.
    send_again(&town.people, &client, "bob@example.org", now).await.unwrap();
    assert!(
        town.mails()
            .await
            .iter()
            .all(|mail| mail.recipient == "ann@example.org")
    );
}

#[tokio::test]
async fn every_fault_of_the_form_is_told_at_its_field() {
    let town = Town::build().await;
    let client = town.browser("192.0.2.1").client;
    let form = SignUpForm {
        name: " ".to_owned(),
        email: "ann@example.org\r\nBcc: bob@example.org".to_owned(),
        account_name: "two\nlines".to_owned(),
        password: "too short".into(),
    };
    let refused = sign_up(&town.people, &client, form, clock::now()).await.unwrap_err();
    let PeopleError::Invalid(problems) = &refused else {
        panic!("{refused:?}")
    };
    let pointers: Vec<_> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
    assert_eq!(pointers, ["/name", "/email", "/account_name", "/password"]);
    assert!(refused.to_string().contains("at least 12 characters"), "{refused}");
    assert_eq!(town.number("select count(*) from mails").await, 0);
}

#[tokio::test]
async fn mail_to_an_address_is_limited() {
    let town = Town::build().await;
    let now = clock::now();
    for tried in 0..7 {
        // Each from another address.
        let client = town.browser(&format!("192.0.2.{tried}")).client;
        let asked = send_again(&town.people, &client, "ann@example.org", now).await;
        match asked {
            Ok(()) => assert!(tried < 5, "{tried}"),
            Err(PeopleError::TooMany { retry_after }) => {
                assert!(tried >= 5, "{tried}");
                assert!((1..=720).contains(&retry_after.as_secs()), "{retry_after:?}");
            }
            other => panic!("{other:?}"),
        }
    }
    // Requests for many addresses from one network are limited as well.
    let mut refused = 0;
    for tried in 0..40 {
        let client = town.browser(&format!("2001:db8:1:2::{tried}")).client;
        let asked = send_again(&town.people, &client, &format!("{tried}@example.org"), now).await;
        refused += usize::from(asked.is_err());
    }
    assert_eq!(refused, 10);
}
