//! The second factor: set-up, log-in, recovery codes, and removal.

mod confirm;
mod devices;
mod passkeys;

use data_encoding::HEXLOWER;
use platen_core::{
    clock,
    service::{
        people::{
            PeopleError,
            log_in::{LogInStep, SecondStepForm, ask_for_second_factor, log_in_by_second_factor},
            password,
            second_factor::{self, Shown, new_codes},
        },
        sessions::waiting,
    },
};
use platen_domain::{
    ids::UserId,
    second_factor::{App, AppSecret, RECOVERY_CODES},
};
use secrecy::{ExposeSecret, SecretString};
use time::{Duration, OffsetDateTime};

use crate::support::people::{Browser, PASSWORD, Town};

const ANN: &str = "ann@example.org";

/// A user with a second factor, logged in with one browser.
struct Ann {
    user: UserId,
    laptop: Browser,
    app: AppSecret,
    recovery_codes: Vec<String>,
    /// The time at which the second factor was turned on.
    now: OffsetDateTime,
}

impl Town {
    async fn ann(&self) -> Ann {
        let mut laptop = self.browser("192.0.2.1");
        let (user, now) = (self.welcome(&mut laptop, ANN).await, clock::now());
        let (app, recovery_codes) = self.set_up_second_factor(&mut laptop, user, now).await;
        Ann {
            user,
            laptop,
            app,
            recovery_codes,
            now,
        }
    }

    /// Submits the second step of a log-in with a code.
    async fn second_step(
        &self,
        browser: &mut Browser,
        code: &str,
        remember: bool,
        now: OffsetDateTime,
    ) -> Result<UserId, PeopleError> {
        let shown = Shown::Code(code.into());
        self.second_step_by(browser, shown, remember, now).await
    }

    /// Submits the second step of a log-in with any proof.
    async fn second_step_by(
        &self,
        browser: &mut Browser,
        shown: Shown,
        remember: bool,
        now: OffsetDateTime,
    ) -> Result<UserId, PeopleError> {
        let form = SecondStepForm { shown, remember };
        let client = browser.client.clone();
        browser
            .visit(async |session| log_in_by_second_factor(&self.people, session, &client, form, now).await)
            .await
    }

    /// Returns the passkey challenge for a browser at the second step.
    async fn passkey_asked(&self, browser: &mut Browser, now: OffsetDateTime) -> String {
        let ways = browser
            .visit(async |session| ask_for_second_factor(&self.people, session, now).await)
            .await;
        let ways = ways.expect("an answer").expect("the second step");
        ways.passkey.expect("passkeys")
    }

    /// Returns a browser at the second step.
    async fn at_second_step(&self, address: &str) -> Browser {
        let mut browser = self.browser(address);
        self.comes_to_second_step(&mut browser, PASSWORD).await;
        browser
    }

    async fn comes_to_second_step(&self, browser: &mut Browser, password: &str) {
        let step = self.begin_log_in(browser, ANN, password).await.expect("the password");
        assert_eq!(step, LogInStep::SecondFactor);
        assert_eq!(browser.user().await, None);
    }
}

impl Ann {
    /// Returns an unused code and the time at which it is shown.
    fn code(&mut self) -> (String, OffsetDateTime) {
        self.now += Duration::seconds(30);
        (self.app.code_at(self.now), self.now)
    }
}

#[tokio::test]
async fn a_log_in_takes_two_steps_with_three_session_ids() {
    let town = Town::build().await;
    let mut ann = town.ann().await;
    assert_eq!(ann.recovery_codes.len(), RECOVERY_CODES);
    let mut phone = town.browser("192.0.2.2");
    phone
        .visit(async |session| session.insert("page", "anything").await.unwrap())
        .await;
    let first = phone.cookie.expect("a session");
    town.comes_to_second_step(&mut phone, PASSWORD).await;
    let second = phone.cookie.expect("a session");
    assert_eq!(
        town.number("select count(*) from sessions where user_id is not null")
            .await,
        1,
        "nobody but the laptop is logged in"
    );
    let minutes =
        "select round(extract(epoch from max(expires_at) filter (where user_id is null) - now()) / 60)::bigint
                   from sessions where data ? 'waiting'";
    assert_eq!(town.number(minutes).await, 10);
    let (code, now) = ann.code();
    for wrong in ["000000", "", "abcdef", &ann.recovery_codes[0][1..]] {
        let refused = town.second_step(&mut phone, wrong, false, now).await;
        assert!(matches!(refused, Err(PeopleError::WrongCode)), "{wrong}: {refused:?}");
    }
    let entered = town.second_step(&mut phone, &code, false, now).await;
    assert_eq!(entered.expect("logged in"), ann.user);
    let third = phone.cookie.expect("a session");
    assert!(first != second && second != third && first != third);
    assert_eq!(phone.user().await, Some(ann.user));
    for former in [first, second] {
        phone.cookie = Some(former);
        assert_eq!(phone.user().await, None);
    }
}

#[tokio::test]
async fn a_code_counts_once() {
    let town = Town::build().await;
    let mut ann = town.ann().await;
    let mut phone = town.at_second_step("192.0.2.2").await;
    // The code that turned on the second factor counts as used.
    let first = ann.app.code_at(ann.now);
    let refused = town.second_step(&mut phone, &first, false, ann.now).await;
    assert!(matches!(refused, Err(PeopleError::WrongCode)), "{refused:?}");
    let (code, now) = ann.code();
    town.second_step(&mut phone, &code, false, now)
        .await
        .expect("logged in");
    let mut tablet = town.at_second_step("192.0.2.3").await;
    for typed in [&code, &first] {
        let refused = town.second_step(&mut tablet, typed, false, now).await;
        assert!(matches!(refused, Err(PeopleError::WrongCode)), "{refused:?}");
    }
}

#[tokio::test]
async fn of_two_who_come_with_one_code_at_once_one_is_let_in() {
    let town = Town::build().await;
    let mut ann = town.ann().await;
    for round in 0..5 {
        let (code, now) = ann.code();
        let mut one = town.at_second_step(&format!("192.0.2.{}", 10 + round)).await;
        let mut other = town.at_second_step(&format!("192.0.2.{}", 20 + round)).await;
        let (one, other) = tokio::join!(
            town.second_step(&mut one, &code, false, now),
            town.second_step(&mut other, &code, false, now)
        );
        assert_eq!([one, other].iter().filter(|entered| entered.is_ok()).count(), 1);
        let recovery = ann.recovery_codes.pop().expect("a code");
        let mut one = town.at_second_step(&format!("192.0.2.{}", 30 + round)).await;
        let mut other = town.at_second_step(&format!("192.0.2.{}", 40 + round)).await;
        let (one, other) = tokio::join!(
            town.second_step(&mut one, &recovery, false, now),
            town.second_step(&mut other, &recovery, false, now)
        );
        assert_eq!([one, other].iter().filter(|entered| entered.is_ok()).count(), 1);
    }
}

#[tokio::test]
async fn a_recovery_code_stands_in_for_the_app_once_and_its_user_is_told() {
    let town = Town::build().await;
    let mut ann = town.ann().await;
    let code = ann.recovery_codes[3].to_uppercase().replace('-', " ");
    let mut phone = town.at_second_step("192.0.2.2").await;
    town.second_step(&mut phone, &code, false, ann.now)
        .await
        .expect("logged in");
    let mails = town.mails().await;
    let told = mails
        .iter()
        .find(|mail| mail.written.subject == "A recovery code was used")
        .expect("a mail");
    assert!(told.written.text.contains("You have 9 left."), "{}", told.written.text);
    let mut phone = town.at_second_step("192.0.2.2").await;
    let refused = town.second_step(&mut phone, &code, false, ann.now).await;
    assert!(matches!(refused, Err(PeopleError::WrongCode)), "{refused:?}");

    // New codes replace the old ones.
    let (user, now, client) = (ann.user, ann.now, phone.client.clone());
    let new = ann
        .laptop
        .visit(async |session| {
            second_factor::renew_codes(&town.people, session, user, &client, now).await?;
            new_codes::take(&town.people, session, user, now).await
        })
        .await
        .expect("made")
        .expect("codes");
    let refused = town.second_step(&mut phone, &ann.recovery_codes[4], false, now).await;
    assert!(matches!(refused, Err(PeopleError::WrongCode)), "{refused:?}");
    let code = new[0].expose_secret();
    town.second_step(&mut phone, code, false, now).await.expect("logged in");
    let state = second_factor::of_user(&town.people, user, now).await.expect("a state");
    assert!(state.is_on() && state.codes_left == 9, "{state:?}");
}

#[tokio::test]
async fn nothing_of_it_lies_in_the_database_in_the_open() {
    let town = Town::build().await;
    let mut laptop = town.browser("192.0.2.1");
    let (user, now) = (town.welcome(&mut laptop, ANN).await, clock::now());
    second_factor::begin(&town.people, user, now).await.expect("begun");
    let state = second_factor::of_user(&town.people, user, now).await.expect("a state");
    let App::Begun { secret, .. } = state.app else {
        panic!("{state:?}")
    };
    let hexadecimal = HEXLOWER.encode(secret.expose());
    let everything = "select count(*) from second_factors where second_factors::text ilike '%' || ";
    assert_eq!(town.number(&format!("{everything} '{hexadecimal}' || '%'")).await, 0);
    let (code, client) = (SecretString::from(secret.code_at(now)), laptop.client.clone());
    laptop
        .visit(async |session| second_factor::turn_on(&town.people, session, user, &client, &code, now).await)
        .await
        .expect("turned on");
    let codes = laptop
        .visit(async |session| {
            let everywhere = "select count(*) from sessions, recovery_codes where data ? 'recovery_codes'";
            assert_eq!(town.number(everywhere).await, 10);
            new_codes::take(&town.people, session, user, now).await
        })
        .await;
    for code in codes.expect("codes").expect("codes") {
        let code = code.expose_secret();
        for table in ["sessions", "recovery_codes", "mails"] {
            let query = format!("select count(*) from {table} where {table}::text ilike '%{code}%'");
            assert_eq!(town.number(&query).await, 0, "{table}");
        }
    }
}

#[tokio::test]
async fn another_password_does_not_get_round_it() {
    let town = Town::build().await;
    let mut ann = town.ann().await;
    let mut remembered = town.at_second_step("192.0.2.2").await;
    let (code, now) = ann.code();
    town.second_step(&mut remembered, &code, true, now)
        .await
        .expect("logged in");
    let mut waits = town.at_second_step("192.0.2.3").await;
    password::request_reset(&town.people, &waits.client, ANN, now)
        .await
        .expect("asked");
    let token = town.token_for(ANN).await;
    password::reset(&town.people, &token, "another password".into(), now)
        .await
        .expect("replaced");
    assert_eq!(ann.laptop.user().await, None);
    // A log-in that passed the first step with the former password has to start again, …
    let (code, now) = ann.code();
    let refused = town.second_step(&mut waits, &code, false, now).await;
    assert!(matches!(refused, Err(PeopleError::LogInAnew)), "{refused:?}");
    // … and no browser is remembered.
    town.comes_to_second_step(&mut remembered, "another password").await;
    town.second_step(&mut remembered, &code, false, now)
        .await
        .expect("logged in");
}

#[tokio::test]
async fn the_second_step_waits_for_ten_minutes() {
    let town = Town::build().await;
    let ann = town.ann().await;
    let mut phone = town.at_second_step("192.0.2.2").await;
    let late = clock::now() + Duration::minutes(10);
    let refused = town.second_step(&mut phone, &ann.app.code_at(late), false, late).await;
    assert!(matches!(refused, Err(PeopleError::LogInAnew)), "{refused:?}");
    let waiting = phone
        .visit(async |session| waiting::current(session, late).await.unwrap().is_some())
        .await;
    assert!(!waiting);
    let (mut stranger, code) = (town.browser("192.0.2.3"), ann.app.code_at(late));
    let refused = town.second_step(&mut stranger, &code, false, late).await;
    assert!(matches!(refused, Err(PeopleError::LogInAnew)), "{refused:?}");
}

#[tokio::test]
async fn code_attempts_are_rate_limited_per_user_except_in_a_known_browser() {
    let town = Town::build().await;
    let mut ann = town.ann().await;
    for tried in 0..12 {
        let mut browser = town.at_second_step(&format!("192.0.2.{}", 10 + tried)).await;
        match town.second_step(&mut browser, "000000", false, ann.now).await {
            Err(PeopleError::WrongCode) => assert!(tried < 10, "{tried}"),
            Err(PeopleError::TooMany { .. }) => assert!(tried >= 10, "{tried}"),
            other => panic!("{other:?}"),
        }
    }
    let (code, now) = ann.code();
    let mut phone = town.at_second_step("192.0.2.2").await;
    let right = town.second_step(&mut phone, &code, false, now).await;
    assert!(matches!(right, Err(PeopleError::TooMany { .. })), "{right:?}");
    // The failed attempts of others don't count for the browser that is known to be Ann's.
    let mut laptop = ann.laptop;
    laptop.cookie = None;
    town.comes_to_second_step(&mut laptop, PASSWORD).await;
    let entered = town.second_step(&mut laptop, &code, false, now).await;
    assert_eq!(entered.expect("logged in"), ann.user);
}

#[tokio::test]
async fn after_it_is_turned_off_the_password_is_enough() {
    let town = Town::build().await;
    let mut ann = town.ann().await;
    let mut waits = town.at_second_step("192.0.2.3").await;
    let again = second_factor::begin(&town.people, ann.user, ann.now).await;
    assert!(
        matches!(again, Err(PeopleError::NotFound)),
        "one that is on is not replaced"
    );
    second_factor::turn_off(&town.people, ann.user, &waits.client, ann.now)
        .await
        .expect("off");
    let subjects: Vec<_> = town
        .mails()
        .await
        .into_iter()
        .map(|mail| mail.written.subject)
        .collect();
    assert!(
        subjects.ends_with(&[
            "Your second factor is on".to_owned(),
            "Your second factor is off".to_owned()
        ]),
        "{subjects:?}"
    );
    let audit_events = "select count(*) from account_log
                 where deed->>'kind' in ('second_factor.turned_on', 'second_factor.turned_off')";
    assert_eq!(town.number(audit_events).await, 2);
    let (code, now) = ann.code();
    let refused = town.second_step(&mut waits, &code, false, now).await;
    assert!(matches!(refused, Err(PeopleError::LogInAnew)), "{refused:?}");
    let mut phone = town.browser("192.0.2.2");
    town.log_in(&mut phone, ANN, PASSWORD).await.expect("logged in");
    let again = second_factor::turn_off(&town.people, ann.user, &phone.client, now).await;
    assert!(matches!(again, Err(PeopleError::NotFound)), "{again:?}");
}

#[tokio::test]
async fn an_authenticator_app_is_required_only_after_a_valid_code() {
    let town = Town::build().await;
    let mut laptop = town.browser("192.0.2.1");
    let (user, now) = (town.welcome(&mut laptop, ANN).await, clock::now());
    second_factor::begin(&town.people, user, now).await.expect("begun");
    town.log_in(&mut town.browser("192.0.2.1"), ANN, PASSWORD)
        .await
        .expect("logged in");
    let client = laptop.client.clone();
    let late = now + Duration::hours(1);
    for (code, at) in [("000000", now), ("000000", late)] {
        let code = SecretString::from(code);
        let refused = laptop
            .visit(async |session| second_factor::turn_on(&town.people, session, user, &client, &code, at).await)
            .await;
        assert!(
            matches!(refused, Err(PeopleError::WrongCode | PeopleError::NotFound)),
            "{refused:?}"
        );
    }
    let state = second_factor::of_user(&town.people, user, late).await.expect("a state");
    assert!(!state.is_on() && matches!(state.app, App::Off), "{state:?}");
}
