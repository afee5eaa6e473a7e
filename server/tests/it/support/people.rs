//! Users and their browsers, with their own database and without a server process.

use std::{net::IpAddr, sync::Arc, time::Duration};

use futures::future::join_all;
use platen_core::{
    clock,
    config::limits::LimitsConfig,
    service::{
        mail::{self, Delivery, Mailing},
        people::{
            People, PeopleError, callers,
            log_in::{LogInForm, LogInStep, log_in},
            second_factor::{
                self, new_codes,
                passkeys::{self, Added, NewPasskeyForm},
            },
            sign_up::{SignUpForm, sign_up, verify},
        },
        sessions::{self, PostgresSessions, Stay},
    },
    store::{jobs::ClaimedJob, mails::StoredMail},
};
use platen_domain::{
    caller::Caller,
    client::{Client, DeviceToken},
    encryption::{SecretKey, SecretKeys},
    ids::UserId,
    job::JobKind,
    second_factor::{App, AppSecret},
};
use secrecy::ExposeSecret;
use sqlx::{AssertSqlSafe, PgPool};
use time::OffsetDateTime;
use tower_sessions::{Session, session::Id};
use url::Url;

use crate::support::{authenticator::Authenticator, postgres, queue::claim_due, service::SECRET_KEY};

/// The password of all users.
pub(crate) const PASSWORD: &str = "a long password";

/// Only the limits of plans.
pub(crate) const LIMITS: LimitsConfig = LimitsConfig {
    body_bytes: None,
    body_time: Duration::from_mins(1),
    sync_deadline: None,
    rate_per_minute: None,
    concurrency: None,
    queue_limit: 1,
    page_limit: 1,
};

/// The services for users. Mail is stored instead of being sent.
pub(crate) struct Town {
    pub(crate) people: People,
    pub(crate) mailing: Mailing,
}

/// A browser with its cookie.
pub(crate) struct Browser {
    sessions: Arc<PostgresSessions>,
    pub(crate) client: Client,
    pub(crate) cookie: Option<Id>,
}

impl Town {
    pub(crate) async fn build() -> Self {
        Self::at(&postgres::fresh_database().await).await
    }

    /// Creates a town on an existing database.
    pub(crate) async fn at(database_url: &str) -> Self {
        Self::with_key(database_url, SECRET_KEY).await
    }

    /// Like [`Self::at`], with another secret key than the services in tests.
    pub(crate) async fn with_key(database_url: &str, key: &str) -> Self {
        let db = PgPool::connect(database_url).await.expect("Postgres answers");
        let mailing = Mailing {
            db: db.clone(),
            delivery: Delivery::Stored,
            base_url: Url::parse("https://platen.example/").expect("a URL"),
            metrics: Arc::default(),
        };
        Self {
            people: People::new(db, secret_keys(key), &mailing.base_url),
            mailing,
        }
    }

    /// Returns a browser with this IP address.
    pub(crate) fn browser(&self, address: &str) -> Browser {
        let address: IpAddr = address.parse().expect("an address");
        Browser {
            sessions: Arc::new(PostgresSessions(self.people.db.clone())),
            client: Client::new(
                address,
                "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
            )
            .with_device(DeviceToken::from_random(rand::random()).digest()),
            cookie: None,
        }
    }

    /// Sends due mails, up to eight at once; returns their number.
    pub(crate) async fn sends(&self) -> usize {
        if !self.mailing.is_delivered() {
            return 0;
        }
        let claimed = claim_due(&self.mailing.db, JobKind::Mail).await;
        let sending = claimed.iter().map(async |job| match job {
            ClaimedJob::Mail(claim, id) => mail::send(&self.mailing, claim, *id).await.expect("sent"),
            job => panic!("no mail: {job:?}"),
        });
        join_all(sending).await.len()
    }

    /// Returns all mail so far in the order of its causes, after sending due mail.
    pub(crate) async fn mails(&self) -> Vec<StoredMail> {
        while self.sends().await > 0 {}
        let mut kept = mail::list_stored(&self.people.db).await.expect("kept");
        kept.reverse();
        kept
    }

    /// Returns the token in the latest mail to this address.
    pub(crate) async fn token_for(&self, recipient: &str) -> String {
        let mails = self.mails().await;
        let mail = mails.iter().rfind(|mail| mail.recipient == recipient).expect("a mail");
        token_in(&mail.written.text)
    }

    /// Signs up a user and verifies the address; the user is logged in afterwards.
    pub(crate) async fn welcome(&self, browser: &mut Browser, email: &str) -> UserId {
        let now = clock::now();
        sign_up(&self.people, &browser.client, form(email), now)
            .await
            .expect("signed up");
        let token = self.token_for(email).await;
        let client = browser.client.clone();
        browser
            .visit(async |session| verify(&self.people, session, &client, &token, PASSWORD.into(), now).await)
            .await
            .expect("verified")
    }

    /// Attempts to log in as a user without a second factor.
    pub(crate) async fn log_in(
        &self,
        browser: &mut Browser,
        email: &str,
        password: &str,
    ) -> Result<UserId, PeopleError> {
        match self.begin_log_in(browser, email, password).await? {
            LogInStep::LoggedIn(user) => Ok(user),
            LogInStep::SecondFactor => panic!("asked for a second factor"),
        }
    }

    /// Attempts the first step of a log-in.
    pub(crate) async fn begin_log_in(
        &self,
        browser: &mut Browser,
        email: &str,
        password: &str,
    ) -> Result<LogInStep, PeopleError> {
        let form = LogInForm {
            email: email.to_owned(),
            password: password.into(),
            stay: Stay::WhileOpen,
        };
        let client = browser.client.clone();
        browser
            .visit(async |session| log_in(&self.people, session, &client, form, clock::now()).await)
            .await
    }

    /// Sets up a second factor for a logged-in user; returns the app's secret and the recovery codes.
    pub(crate) async fn set_up_second_factor(
        &self,
        browser: &mut Browser,
        user: UserId,
        now: OffsetDateTime,
    ) -> (AppSecret, Vec<String>) {
        let people = &self.people;
        second_factor::begin(people, user, now).await.expect("begun");
        let state = second_factor::of_user(people, user, now).await.expect("a state");
        let App::Begun { secret, .. } = state.app else {
            panic!("{state:?}");
        };
        let (code, client) = (secret.code_at(now).into(), browser.client.clone());
        let codes = browser
            .visit(async |session| {
                second_factor::turn_on(people, session, user, &client, &code, now).await?;
                let codes = new_codes::take(people, session, user, now).await?;
                assert!(new_codes::take(people, session, user, now).await?.is_none());
                Ok::<_, PeopleError>(codes.expect("codes"))
            })
            .await
            .expect("turned on");
        let codes = codes.iter().map(|code| code.expose_secret().to_owned()).collect();
        (secret, codes)
    }

    /// Returns the challenge for creating a passkey.
    pub(crate) async fn asked_for_new_passkey(
        &self,
        browser: &mut Browser,
        user: UserId,
    ) -> Result<String, PeopleError> {
        browser
            .visit(async |session| passkeys::ask_for_new(&self.people, session, user, clock::now()).await)
            .await
    }

    /// Submits the authenticator's response to that challenge.
    pub(crate) async fn add_made_passkey(
        &self,
        browser: &mut Browser,
        user: UserId,
        answer: &str,
    ) -> Result<Added, PeopleError> {
        let client = browser.client.clone();
        let form = NewPasskeyForm {
            name: " My key ".to_owned(),
            answer: answer.into(),
        };
        browser
            .visit(async |session| passkeys::add(&self.people, session, user, &client, form, clock::now()).await)
            .await
    }

    /// Adds a passkey for a logged-in user.
    pub(crate) async fn add_passkey(
        &self,
        browser: &mut Browser,
        user: UserId,
        passkey: &mut Authenticator,
    ) -> Result<Added, PeopleError> {
        let asked = self.asked_for_new_passkey(browser, user).await?;
        let answer = passkey.make(&asked);
        self.add_made_passkey(browser, user, &answer).await
    }

    /// Returns a logged-in user as a caller for their oldest membership.
    pub(crate) async fn caller(&self, user: UserId, client: &Client) -> Caller {
        let found = callers::of_person(&self.people.db, &LIMITS, user, client, None, clock::now()).await;
        found.expect("an account")
    }

    /// Executes a statement directly on the database, and returns the number of affected rows.
    pub(crate) async fn execute(&self, statement: &str) -> u64 {
        let done = sqlx::raw_sql(AssertSqlSafe(statement.to_owned()))
            .execute(&self.people.db)
            .await;
        done.expect("sound SQL").rows_affected()
    }

    /// Returns the numeric result of a query.
    pub(crate) async fn number(&self, query: &str) -> i64 {
        let number = sqlx::query_scalar(AssertSqlSafe(query.to_owned()))
            .fetch_one(&self.people.db)
            .await;
        number.expect("a number")
    }
}

impl Browser {
    /// Uses this browser's session in one request.
    pub(crate) async fn visit<T>(&mut self, act: impl AsyncFnOnce(&Session) -> T) -> T {
        let session = Session::new(self.cookie, Arc::clone(&self.sessions), None);
        let done = act(&session).await;
        if session.is_modified() && !session.is_empty().await {
            sessions::extend(&session).await.expect("a session");
            session.save().await.expect("saved");
        }
        self.cookie = session.id();
        done
    }

    /// Returns the user who is logged in with this browser.
    pub(crate) async fn user(&mut self) -> Option<UserId> {
        let current = self
            .visit(async |session| sessions::current(session, clock::now()).await)
            .await;
        current.expect("a session").map(|person| person.user)
    }
}

/// Returns secret keys with only a current one.
pub(crate) fn secret_keys(current: &str) -> Arc<SecretKeys> {
    let current = SecretKey::parse(current).expect("a key");
    Arc::new(SecretKeys {
        current: Arc::new(current),
        former: None,
    })
}

/// Returns the sign-up form for this address.
pub(crate) fn form(email: &str) -> SignUpForm {
    SignUpForm {
        name: "Ann Example".to_owned(),
        email: email.to_owned(),
        account_name: "Example & Sons".to_owned(),
        password: PASSWORD.into(),
    }
}

/// Returns the token of the first link with one.
#[track_caller]
pub(crate) fn token_in(text: &str) -> String {
    let (_, rest) = text.split_once("?token=").expect("a link");
    rest.chars()
        .take_while(|character| !character.is_whitespace())
        .collect()
}
