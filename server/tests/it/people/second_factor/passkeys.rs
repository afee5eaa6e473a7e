//! Passkeys: creation, log-in, confirmation and removal.

use platen_core::{
    clock,
    service::{
        people::{
            PeopleError, confirm, devices,
            log_in::ask_for_second_factor,
            second_factor::{
                self, Shown, new_codes,
                passkeys::{self, Added, NewPasskeyForm},
            },
        },
        sessions,
    },
};
use platen_domain::{
    ids::UserId,
    passkey::MAX_PASSKEYS,
    second_factor::{App, RECOVERY_CODES},
};
use secrecy::ExposeSecret;
use time::{Duration, OffsetDateTime};

use super::ANN;
use crate::support::{
    authenticator::{Authenticator, ORIGIN},
    people::{Browser, PASSWORD, Town},
};

/// A user whose only second factor is a passkey, logged in with one browser.
struct Keeper {
    user: UserId,
    laptop: Browser,
    passkey: Authenticator,
    recovery_codes: Vec<String>,
}

impl Town {
    async fn keeper(&self) -> Keeper {
        let mut laptop = self.browser("192.0.2.1");
        let (user, mut passkey) = (self.welcome(&mut laptop, ANN).await, Authenticator::new());
        let added = self.add_passkey(&mut laptop, user, &mut passkey).await;
        assert_eq!(added.expect("added"), Added::WithCodes);
        let codes = laptop
            .visit(async |session| new_codes::take(&self.people, session, user, clock::now()).await)
            .await;
        let codes = codes.expect("codes").expect("codes");
        Keeper {
            user,
            laptop,
            passkey,
            recovery_codes: codes.iter().map(|code| code.expose_secret().to_owned()).collect(),
        }
    }

    async fn show(&self, browser: &mut Browser, answer: String, now: OffsetDateTime) -> Result<UserId, PeopleError> {
        self.second_step_by(browser, Shown::Passkey(answer.into()), false, now)
            .await
    }

    /// Attempts a complete log-in with a new browser.
    async fn log_in_by(&self, passkey: &mut Authenticator) -> Result<UserId, PeopleError> {
        let (mut browser, now) = (self.at_second_step("192.0.2.2").await, clock::now());
        let asked = self.passkey_asked(&mut browser, now).await;
        self.show(&mut browser, passkey.show(&asked), now).await
    }

    async fn remove_first_passkey(&self, keeper: &Keeper) -> Result<(), PeopleError> {
        let state = second_factor::of_user(&self.people, keeper.user, clock::now()).await?;
        let id = state.passkeys[0].id;
        passkeys::remove(&self.people, keeper.user, &keeper.laptop.client, id, clock::now()).await
    }
}

#[tokio::test]
async fn a_passkey_is_a_second_factor_of_its_own() {
    let town = Town::build().await;
    let mut ann = town.keeper().await;
    assert_eq!(ann.recovery_codes.len(), RECOVERY_CODES);
    let entered = town.log_in_by(&mut ann.passkey).await;
    assert_eq!(entered.expect("logged in"), ann.user);
    let state = second_factor::of_user(&town.people, ann.user, clock::now())
        .await
        .expect("a state");
    assert!(state.is_on() && state.more_passkeys && state.passkeys_work, "{state:?}");
    assert_eq!(state.passkeys[0].name, "My key");
    assert!(state.passkeys[0].used_at.is_some());
    let mails = town.mails().await;
    let told = mails.iter().find(|mail| mail.written.subject == "A passkey was added");
    assert!(told.expect("a mail").written.text.contains("“My key”"));
    let logged = "select count(*) from account_log where deed->>'kind' = 'passkey.added' and deed->>'name' = 'My key'";
    assert_eq!(town.number(logged).await, 1);
    // There is no authenticator app, so that no code is valid.
    let mut browser = town.at_second_step("192.0.2.3").await;
    let refused = town.second_step(&mut browser, "000000", false, clock::now()).await;
    assert!(matches!(refused, Err(PeopleError::WrongCode)), "{refused:?}");
}

#[tokio::test]
async fn what_is_asked_counts_once_and_for_ten_minutes() {
    let town = Town::build().await;
    let mut ann = town.keeper().await;
    let (mut phone, now) = (town.at_second_step("192.0.2.2").await, clock::now());
    let first = town.passkey_asked(&mut phone, now).await;
    let asked = town.passkey_asked(&mut phone, now).await;
    // Only the latest challenge is valid, and the first response consumes it.
    let refused = town.show(&mut phone, ann.passkey.show(&first), now).await;
    assert!(matches!(refused, Err(PeopleError::PasskeyRefused)), "{refused:?}");
    let refused = town.show(&mut phone, ann.passkey.show(&asked), now).await;
    assert!(matches!(refused, Err(PeopleError::PasskeyTooLate)), "{refused:?}");
    let asked = town.passkey_asked(&mut phone, now).await;
    let answer = ann.passkey.show(&asked);
    town.show(&mut phone, answer.clone(), now).await.expect("logged in");
    // The other browser has another challenge.
    let mut thief = town.at_second_step("192.0.2.3").await;
    let refused = town.show(&mut thief, answer.clone(), now).await;
    assert!(matches!(refused, Err(PeopleError::PasskeyTooLate)), "{refused:?}");
    town.passkey_asked(&mut thief, now).await;
    let refused = town.show(&mut thief, answer, now).await;
    assert!(matches!(refused, Err(PeopleError::PasskeyRefused)), "{refused:?}");

    let (client, user) = (ann.laptop.client.clone(), ann.user);
    let late = ann
        .laptop
        .visit(async |session| {
            let asked = passkeys::ask(&town.people, session, user, now)
                .await?
                .expect("passkeys");
            let shown = Shown::Passkey(ann.passkey.show(&asked).into());
            let late = now + Duration::minutes(10);
            confirm::by_second_factor(&town.people, session, user, &client, &shown, late).await
        })
        .await;
    assert!(matches!(late, Err(PeopleError::PasskeyTooLate)), "{late:?}");
}

#[tokio::test]
async fn a_passkey_counts_only_here_and_only_for_its_user_who_shows_themselves() {
    let town = Town::build().await;
    let mut ann = town.keeper().await;
    let mut laptop = town.browser("192.0.2.8");
    let (bob, mut of_bob) = (town.welcome(&mut laptop, "bob@example.org").await, Authenticator::new());
    town.add_passkey(&mut laptop, bob, &mut of_bob).await.expect("added");
    let refused = town.log_in_by(&mut of_bob).await;
    assert!(matches!(refused, Err(PeopleError::PasskeyRefused)), "{refused:?}");
    // Bob claims that his passkey is hers.
    of_bob.id.clone_from(&ann.passkey.id);
    let refused = town.log_in_by(&mut of_bob).await;
    assert!(matches!(refused, Err(PeopleError::PasskeyRefused)), "{refused:?}");
    let again = town.add_passkey(&mut laptop, bob, &mut of_bob).await;
    assert!(matches!(again, Err(PeopleError::PasskeyRefused)), "{again:?}");
    for origin in [
        "https://platen.example.evil.example",
        "http://platen.example",
        "https://platen.example:8443",
    ] {
        ann.passkey.origin = origin;
        let refused = town.log_in_by(&mut ann.passkey).await;
        assert!(
            matches!(refused, Err(PeopleError::PasskeyRefused)),
            "{origin}: {refused:?}"
        );
        let mut new = Authenticator::new();
        new.origin = origin;
        let refused = town.add_passkey(&mut laptop, bob, &mut new).await;
        assert!(
            matches!(refused, Err(PeopleError::PasskeyRefused)),
            "{origin}: {refused:?}"
        );
    }
    ann.passkey.origin = ORIGIN;
    ann.passkey.verifies = false;
    let refused = town.log_in_by(&mut ann.passkey).await;
    assert!(matches!(refused, Err(PeopleError::PasskeyRefused)), "{refused:?}");
    ann.passkey.verifies = true;
    town.log_in_by(&mut ann.passkey).await.expect("logged in");
}

#[tokio::test]
async fn a_copy_of_a_passkey_is_found_by_its_count() {
    let town = Town::build().await;
    let mut ann = town.keeper().await;
    ann.passkey.count = 40;
    town.log_in_by(&mut ann.passkey).await.expect("logged in");
    for count in [12, 40] {
        ann.passkey.count = count;
        let refused = town.log_in_by(&mut ann.passkey).await;
        assert!(
            matches!(refused, Err(PeopleError::PasskeyRefused)),
            "{count}: {refused:?}"
        );
    }
    town.log_in_by(&mut ann.passkey).await.expect("logged in");
    // Of two concurrent log-ins with the same counter, one succeeds.
    let now = clock::now();
    let mut one = town.at_second_step("192.0.2.10").await;
    let mut other = town.at_second_step("192.0.2.11").await;
    let (asked_one, asked_other) = (
        town.passkey_asked(&mut one, now).await,
        town.passkey_asked(&mut other, now).await,
    );
    let first = ann.passkey.show(&asked_one);
    ann.passkey.count -= 1;
    let second = ann.passkey.show(&asked_other);
    let (one, other) = tokio::join!(town.show(&mut one, first, now), town.show(&mut other, second, now));
    assert_eq!([one, other].iter().filter(|entered| entered.is_ok()).count(), 1);

    // Synchronized passkeys don't count.
    let mut synchronised = Authenticator::new();
    synchronised.counts = false;
    let added = town.add_passkey(&mut ann.laptop, ann.user, &mut synchronised).await;
    assert_eq!(added.expect("added"), Added::Beside);
    for _ in 0..2 {
        town.log_in_by(&mut synchronised).await.expect("logged in");
    }
}

#[tokio::test]
async fn one_is_added_once_and_there_are_ten() {
    let town = Town::build().await;
    let mut ann = town.keeper().await;
    let asked = town
        .asked_for_new_passkey(&mut ann.laptop, ann.user)
        .await
        .expect("asked");
    let id = data_encoding::BASE64URL_NOPAD.encode(&ann.passkey.id);
    assert!(asked.contains(&id), "the browser is told which are there: {asked}");
    let answer = ann.passkey.make(&asked);
    let again = town.add_made_passkey(&mut ann.laptop, ann.user, &answer).await;
    assert!(matches!(again, Err(PeopleError::PasskeyRefused)), "{again:?}");
    let twice = town.add_made_passkey(&mut ann.laptop, ann.user, &answer).await;
    assert!(matches!(twice, Err(PeopleError::PasskeyTooLate)), "{twice:?}");
    for _ in 1..MAX_PASSKEYS {
        let added = town
            .add_passkey(&mut ann.laptop, ann.user, &mut Authenticator::new())
            .await;
        assert_eq!(added.expect("added"), Added::Beside);
    }
    let refused = town.asked_for_new_passkey(&mut ann.laptop, ann.user).await;
    assert!(matches!(refused, Err(PeopleError::TooManyPasskeys)), "{refused:?}");
    for faulty in ["", " \n", &"x".repeat(201)] {
        let (client, form) = (
            ann.laptop.client.clone(),
            NewPasskeyForm {
                name: faulty.to_owned(),
                answer: "{}".into(),
            },
        );
        let refused = ann
            .laptop
            .visit(async |session| passkeys::add(&town.people, session, ann.user, &client, form, clock::now()).await)
            .await;
        assert!(matches!(refused, Err(PeopleError::Invalid(_))), "{refused:?}");
    }
}

#[tokio::test]
async fn recovery_codes_and_remembered_browsers_go_with_the_last_factor() {
    let town = Town::build().await;
    let mut ann = town.keeper().await;
    let mut phone = town.at_second_step("192.0.2.2").await;
    let (code, now) = (ann.recovery_codes[0].clone(), clock::now());
    town.second_step(&mut phone, &code, true, now).await.expect("logged in");
    town.log_in(&mut phone, ANN, PASSWORD).await.expect("remembered");
    let listed = devices::remembered(&town.people, ann.user, now).await.expect("a list");
    assert_eq!(listed.len(), 1);

    // The app is added without new codes, and removed again.
    second_factor::begin(&town.people, ann.user, now).await.expect("begun");
    let state = second_factor::of_user(&town.people, ann.user, now)
        .await
        .expect("a state");
    let App::Begun { secret, .. } = state.app else {
        panic!("{state:?}")
    };
    let (code, client) = (secret.code_at(now).into(), ann.laptop.client.clone());
    let codes = ann
        .laptop
        .visit(async |session| {
            second_factor::turn_on(&town.people, session, ann.user, &client, &code, now).await?;
            new_codes::take(&town.people, session, ann.user, now).await
        })
        .await;
    assert!(codes.expect("turned on").is_none());
    second_factor::turn_off(&town.people, ann.user, &client, now)
        .await
        .expect("off");
    let codes = "select count(*) from recovery_codes";
    assert_eq!(town.number(codes).await, 9);
    town.log_in(&mut phone, ANN, PASSWORD).await.expect("remembered");

    town.remove_first_passkey(&ann).await.expect("removed");
    assert_eq!(town.number(codes).await, 0);
    let remembered = "select count(*) from devices where remembered_until is not null";
    assert_eq!(town.number(remembered).await, 0);
    town.log_in(&mut town.browser("192.0.2.7"), ANN, PASSWORD)
        .await
        .expect("logged in");
    let mails = town.mails().await;
    let subjects: Vec<_> = mails.iter().map(|mail| mail.written.subject.as_str()).collect();
    let position = |subject: &str| subjects.iter().position(|told| *told == subject).expect(subject);
    assert!(
        position("Your authenticator app was turned off") < position("Your second factor is off"),
        "{subjects:?}"
    );
    let removed = "select count(*) from account_log where deed->>'kind' = 'passkey.removed'";
    assert_eq!(town.number(removed).await, 1);
    let stranger = town.welcome(&mut town.browser("192.0.2.9"), "bob@example.org").await;
    let state = second_factor::of_user(&town.people, stranger, now)
        .await
        .expect("a state");
    assert!(state.passkeys.is_empty());
}

#[tokio::test]
async fn another_passkey_takes_the_place_of_one_that_is_removed() {
    let town = Town::build().await;
    let mut ann = town.keeper().await;
    let mut new = Authenticator::new();
    town.add_passkey(&mut ann.laptop, ann.user, &mut new)
        .await
        .expect("added");
    town.remove_first_passkey(&ann).await.expect("removed");
    town.log_in_by(&mut new).await.expect("logged in");
    let refused = town.log_in_by(&mut ann.passkey).await;
    assert!(matches!(refused, Err(PeopleError::PasskeyRefused)), "{refused:?}");
}

#[tokio::test]
async fn passkeys_are_tried_as_often_as_codes() {
    let town = Town::build().await;
    let mut ann = town.keeper().await;
    for tried in 0..12 {
        let mut browser = town.at_second_step(&format!("192.0.2.{}", 10 + tried)).await;
        match town.show(&mut browser, "{}".to_owned(), clock::now()).await {
            Err(PeopleError::PasskeyTooLate) => assert!(tried < 10, "{tried}"),
            Err(PeopleError::TooMany { .. }) => assert!(tried >= 10, "{tried}"),
            other => panic!("{other:?}"),
        }
    }
    let right = town.log_in_by(&mut ann.passkey).await;
    assert!(matches!(right, Err(PeopleError::TooMany { .. })), "{right:?}");
}

#[tokio::test]
async fn a_passkey_shows_once_more_that_it_is_its_user() {
    let town = Town::build().await;
    let mut ann = town.keeper().await;
    let (user, client, later) = (
        ann.user,
        ann.laptop.client.clone(),
        clock::now() + Duration::minutes(11),
    );
    ann.laptop
        .visit(async |session| {
            let is_confirmed = async || {
                let person = sessions::current(session, later).await.unwrap().expect("logged in");
                person.is_confirmed(later)
            };
            assert!(!is_confirmed().await);
            let ways = second_factor::ask(&town.people, session, user, later)
                .await
                .expect("asked");
            assert!(!ways.app);
            let shown = Shown::Passkey(ann.passkey.show(&ways.passkey.expect("passkeys")).into());
            confirm::by_second_factor(&town.people, session, user, &client, &shown, later)
                .await
                .expect("confirmed");
            assert!(is_confirmed().await);
        })
        .await;
    // The session is not at the second step of a log-in.
    let nobody = ann
        .laptop
        .visit(async |session| ask_for_second_factor(&town.people, session, later).await)
        .await;
    assert!(nobody.expect("an answer").is_none());
}
