//! Remembered browsers, and notices about new ones.

use platen_core::service::people::{PeopleError, devices};

use super::ANN;
use crate::support::people::{PASSWORD, Town};

#[tokio::test]
async fn a_browser_that_is_remembered_is_not_asked_for_a_month() {
    let town = Town::build().await;
    let mut ann = town.ann().await;
    let mut phone = town.at_second_step("192.0.2.2").await;
    let (code, now) = ann.code();
    town.second_step(&mut phone, &code, true, now).await.expect("logged in");
    town.log_in(&mut phone, ANN, PASSWORD).await.expect("logged in");
    // Other browsers are still asked, and it is remembered only for its user.
    town.at_second_step("192.0.2.2").await;
    let listed = devices::remembered(&town.people, ann.user, now).await.expect("a list");
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].remembered_until - now).whole_days(), 30);
    let bob = town.welcome(&mut town.browser("192.0.2.9"), "bob@example.org").await;
    let refused = devices::forget(&town.people, bob, listed[0].id).await;
    assert!(matches!(refused, Err(PeopleError::NotFound)), "{refused:?}");
    devices::forget(&town.people, ann.user, listed[0].id)
        .await
        .expect("forgotten");
    town.comes_to_second_step(&mut phone, PASSWORD).await;

    let (code, now) = ann.code();
    town.second_step(&mut phone, &code, true, now).await.expect("logged in");
    town.execute("update devices set remembered_until = now() where remembered_until is not null")
        .await;
    town.comes_to_second_step(&mut phone, PASSWORD).await;
}

#[tokio::test]
async fn a_browser_that_is_new_is_told_of_and_no_other() {
    let town = Town::build().await;
    let mut laptop = town.browser("192.0.2.1");
    town.welcome(&mut laptop, ANN).await;
    let told = async || {
        let mails = town.mails().await;
        let told = mails
            .into_iter()
            .filter(|mail| mail.written.subject == "New log-in to your account");
        told.map(|mail| mail.written.text).collect::<Vec<_>>()
    };
    // The browser used at sign-up is known, at any address.
    laptop.client.address = "198.51.100.7".parse().expect("an address");
    town.log_in(&mut laptop, ANN, PASSWORD).await.expect("logged in");
    assert_eq!(told().await, Vec::<String>::new());
    let mut phone = town.browser("2001:db8::2");
    town.log_in(&mut phone, ANN, "not the password").await.unwrap_err();
    assert_eq!(told().await, Vec::<String>::new());
    for _ in 0..2 {
        town.log_in(&mut phone, ANN, PASSWORD).await.expect("logged in");
    }
    let texts = told().await;
    assert_eq!(texts.len(), 1);
    assert!(
        texts[0].contains("Firefox on Linux, from 2001:db8::2, on "),
        "{}",
        texts[0]
    );
}
