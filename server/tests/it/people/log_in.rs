//! Log-in, and what it must not disclose.

use argon2::{Algorithm, Argon2, Params, Version, password_hash::PasswordHasher};
use platen_core::{
    clock,
    service::{
        people::{PeopleError, password},
        sessions,
    },
};

use crate::support::people::{PASSWORD, Town};

#[tokio::test]
async fn a_wrong_password_and_an_unknown_address_are_one_answer_and_one_piece_of_work() {
    let town = Town::build().await;
    let user = town.welcome(&mut town.browser("192.0.2.1"), "ann@example.org").await;
    let mut browser = town.browser("192.0.2.2");
    let mut told = Vec::new();
    for (email, password) in [("ann@example.org", "a wrong password"), ("bob@example.org", PASSWORD)] {
        let before = town.people.passwords.computed();
        let refused = town.log_in(&mut browser, email, password).await.unwrap_err();
        told.push((refused.to_string(), town.people.passwords.computed() - before));
        assert_eq!(browser.cookie, None);
    }
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0].1, 1);
    assert_eq!(
        town.log_in(&mut browser, " Ann@Example.org", PASSWORD).await.unwrap(),
        user
    );
    assert_eq!(browser.user().await, Some(user));
}

#[tokio::test]
async fn a_session_id_from_before_is_worth_nothing_after() {
    let town = Town::build().await;
    town.welcome(&mut town.browser("192.0.2.1"), "ann@example.org").await;
    let mut mallory = town.browser("192.0.2.66");
    mallory
        .visit(async |session| session.insert("page", "anything").await.unwrap())
        .await;
    let planted = mallory.cookie.expect("a session");
    let mut ann = town.browser("192.0.2.1");
    ann.cookie = Some(planted);
    let user = town.log_in(&mut ann, "ann@example.org", PASSWORD).await.unwrap();
    assert_ne!(ann.cookie, Some(planted));
    assert_eq!(ann.user().await, Some(user));
    assert_eq!(mallory.user().await, None);
    // A session id that was not issued by the service isn't accepted either.
    let mut guess = town.browser("192.0.2.66");
    guess.cookie = Some(planted);
    guess
        .visit(async |session| session.insert("page", "again").await.unwrap())
        .await;
    assert_ne!(guess.cookie, Some(planted));
}

#[tokio::test]
async fn what_the_cookie_holds_is_not_in_the_database() {
    let town = Town::build().await;
    let mut ann = town.browser("192.0.2.1");
    town.welcome(&mut ann, "ann@example.org").await;
    let id = ann.cookie.expect("a session");
    let hexadecimal = format!("{:032x}", u128::from_be_bytes(id.0.to_le_bytes()));
    let everything = "select count(*) from sessions where sessions::text like '%' || ";
    assert_eq!(town.number(&format!("{everything} '{id}' || '%'")).await, 0);
    assert_eq!(town.number(&format!("{everything} '{hexadecimal}' || '%'")).await, 0);
    assert_eq!(town.number("select count(*) from sessions").await, 1);
}

#[tokio::test]
async fn logging_out_ends_the_session_itself() {
    let town = Town::build().await;
    let mut ann = town.browser("192.0.2.1");
    town.welcome(&mut ann, "ann@example.org").await;
    let cookie = ann.cookie;
    ann.visit(async |session| sessions::log_out(session).await.unwrap())
        .await;
    assert_eq!(ann.cookie, None);
    ann.cookie = cookie;
    assert_eq!(ann.user().await, None);
    assert_eq!(town.number("select count(*) from sessions").await, 0);
}

#[tokio::test]
async fn a_hash_with_former_parameters_is_replaced_at_the_next_log_in() {
    let town = Town::build().await;
    let mut ann = town.browser("192.0.2.1");
    let user = town.welcome(&mut ann, "ann@example.org").await;
    let params = Params::new(1024, 1, 1, None).unwrap();
    let former = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let hash = former.hash_password(PASSWORD.as_bytes()).unwrap().to_string();
    town.execute(&format!("update users set password_hash = '{hash}'"))
        .await;
    let current = "select count(*) from users where password_hash like '$argon2id$v=19$m=19456,t=2,p=1$%'";
    let mut phone = town.browser("192.0.2.2");
    town.log_in(&mut phone, "ann@example.org", "a wrong password")
        .await
        .unwrap_err();
    assert_eq!(town.number(current).await, 0);
    assert_eq!(
        town.log_in(&mut phone, "ann@example.org", PASSWORD).await.unwrap(),
        user
    );
    assert_eq!(town.number(current).await, 1);
    assert_eq!(
        town.log_in(&mut phone, "ann@example.org", PASSWORD).await.unwrap(),
        user
    );
    // The password is unchanged, so that no session ends.
    assert_eq!(ann.user().await, Some(user));
}

#[tokio::test]
async fn password_guesses_are_rate_limited() {
    let town = Town::build().await;
    town.welcome(&mut town.browser("192.0.2.1"), "ann@example.org").await;
    let mut refused = 0;
    for tried in 0..8 {
        let mut browser = town.browser(&format!("192.0.2.{}", 10 + tried));
        match town.log_in(&mut browser, "ann@example.org", "a wrong password").await {
            Err(PeopleError::WrongCredentials) => assert!(tried < 5, "{tried}"),
            Err(PeopleError::TooMany { retry_after }) => {
                assert!((1..=180).contains(&retry_after.as_secs()), "{retry_after:?}");
                refused += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(refused, 3);
    // The right password has to wait as well, without being checked.
    let before = town.people.passwords.computed();
    let right = town
        .log_in(&mut town.browser("192.0.2.1"), "ann@example.org", PASSWORD)
        .await;
    assert!(matches!(right, Err(PeopleError::TooMany { .. })), "{right:?}");
    assert_eq!(town.people.passwords.computed(), before);
}

#[tokio::test]
async fn one_place_tries_so_many_addresses_and_no_more() {
    let town = Town::build().await;
    let mut browser = town.browser("2001:db8::1");
    let mut refused = 0;
    for tried in 0..60 {
        // Addresses of one IPv6 network share the limit.
        browser.client.address = format!("2001:db8::{tried:x}").parse().unwrap();
        let answer = town
            .log_in(&mut browser, &format!("{tried}@example.org"), PASSWORD)
            .await;
        refused += usize::from(matches!(answer, Err(PeopleError::TooMany { .. })));
    }
    assert_eq!(refused, 10);
    assert_eq!(town.people.passwords.computed(), 50);
}

#[tokio::test]
async fn a_successful_log_in_resets_the_limit_of_attempts() {
    let town = Town::build().await;
    let user = town.welcome(&mut town.browser("192.0.2.1"), "ann@example.org").await;
    let mut browser = town.browser("192.0.2.2");
    for _ in 0..4 {
        for _ in 0..4 {
            town.log_in(&mut browser, "ann@example.org", "a wrong password")
                .await
                .unwrap_err();
        }
        assert_eq!(
            town.log_in(&mut browser, "ann@example.org", PASSWORD).await.unwrap(),
            user
        );
    }
}

#[tokio::test]
async fn wrong_passwords_from_elsewhere_lock_no_known_browser_out() {
    let town = Town::build().await;
    let mut ann = town.browser("192.0.2.1");
    let user = town.welcome(&mut ann, "ann@example.org").await;
    let mut bob = town.browser("192.0.2.2");
    town.welcome(&mut bob, "bob@example.org").await;
    let mut elsewhere = town.browser("192.0.2.66");
    for _ in 0..8 {
        town.log_in(&mut elsewhere, "ann@example.org", "a wrong password")
            .await
            .unwrap_err();
    }
    // Other clients in Ann's network have exceeded the limit as well.
    let mut neighbour = town.browser("192.0.2.1");
    for tried in 0..60 {
        let _ = town
            .log_in(&mut neighbour, &format!("{tried}@example.org"), "a wrong password")
            .await;
    }
    for _ in 0..2 {
        assert_eq!(town.log_in(&mut ann, "ann@example.org", PASSWORD).await.unwrap(), user);
    }
    // Other browsers get no additional attempts; a browser is known only for users who have logged in with it.
    for browser in [&mut elsewhere, &mut bob, &mut town.browser("192.0.2.3")] {
        let refused = town.log_in(browser, "ann@example.org", PASSWORD).await;
        assert!(matches!(refused, Err(PeopleError::TooMany { .. })), "{refused:?}");
    }
}

#[tokio::test]
async fn a_known_browser_is_no_way_to_guess() {
    let town = Town::build().await;
    let mut ann = town.browser("192.0.2.1");
    let user = town.welcome(&mut ann, "ann@example.org").await;
    let mut told = Vec::new();
    for _ in 0..7 {
        let refused = town.log_in(&mut ann, "ann@example.org", "a wrong password").await;
        told.push(matches!(refused, Err(PeopleError::WrongCredentials)));
    }
    assert_eq!(told, [true, true, true, true, true, false, false]);
    // Only the browser's own attempts are used up.
    let mut phone = town.browser("192.0.2.2");
    assert_eq!(
        town.log_in(&mut phone, "ann@example.org", PASSWORD).await.unwrap(),
        user
    );
}

#[tokio::test]
async fn a_new_password_opens_every_door_again() {
    let town = Town::build().await;
    let mut ann = town.browser("192.0.2.1");
    let user = town.welcome(&mut ann, "ann@example.org").await;
    let mut phone = town.browser("192.0.2.2");
    for browser in [&mut ann, &mut phone] {
        for _ in 0..6 {
            town.log_in(browser, "ann@example.org", "a wrong password")
                .await
                .unwrap_err();
        }
    }
    let now = clock::now();
    password::request_reset(&town.people, &ann.client, "ann@example.org", now)
        .await
        .expect("mailed");
    let token = town.token_for("ann@example.org").await;
    password::reset(&town.people, &token, "another long password".into(), now)
        .await
        .expect("replaced");
    for browser in [&mut ann, &mut phone] {
        let entered = town.log_in(browser, "ann@example.org", "another long password").await;
        assert_eq!(entered.expect("logged in"), user);
    }
}
