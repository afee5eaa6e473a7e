//! Lifetime and visibility of sessions.

use platen_core::{
    clock,
    service::{
        people::{
            PeopleError,
            log_in::{LogInForm, log_in},
            sessions::{end, end_all_others},
        },
        sessions::{self, Stay},
    },
};
use platen_domain::client::ListedSession;
use time::Duration;

use crate::support::people::{Browser, PASSWORD, Town};

impl Town {
    async fn listed(&self, browser: &mut Browser) -> Vec<ListedSession> {
        let user = browser.user().await.expect("logged in");
        browser
            .visit(async |session| sessions::list(&self.people.db, user, session, clock::now()).await)
            .await
            .expect("a list")
    }
}

#[tokio::test]
async fn users_see_and_end_only_their_own_sessions() {
    let town = Town::build().await;
    let (mut laptop, mut phone, mut bob) = (
        town.browser("192.0.2.1"),
        town.browser("2001:db8::2"),
        town.browser("192.0.2.3"),
    );
    let ann = town.welcome(&mut laptop, "ann@example.org").await;
    let other = town.welcome(&mut bob, "bob@example.org").await;
    town.log_in(&mut phone, "ann@example.org", PASSWORD).await.unwrap();
    let listed = town.listed(&mut laptop).await;
    let shown: Vec<_> = listed
        .iter()
        .map(|session| (session.address.to_string(), session.current))
        .collect();
    assert_eq!(
        shown,
        [("2001:db8::2".to_owned(), false), ("192.0.2.1".to_owned(), true)]
    );
    assert!(listed[0].user_agent.contains("Firefox/145.0"));
    assert_eq!(town.listed(&mut bob).await.len(), 1);

    // Bob knows the id of Ann's session, but can't end it.
    let client = laptop.client.clone();
    let end = async |user| end(&town.people, user, &client, listed[0].id, clock::now()).await;
    let refused = end(other).await;
    assert!(matches!(refused, Err(PeopleError::NotFound)), "{refused:?}");
    assert_eq!(phone.user().await, Some(ann));
    end(ann).await.unwrap();
    assert_eq!((laptop.user().await, phone.user().await), (Some(ann), None));
    let again = end(ann).await;
    assert!(matches!(again, Err(PeopleError::NotFound)), "{again:?}");
}

#[tokio::test]
async fn logging_out_everywhere_else_leaves_this_one() {
    let town = Town::build().await;
    let (mut laptop, mut phone, mut bob) = (
        town.browser("192.0.2.1"),
        town.browser("192.0.2.2"),
        town.browser("192.0.2.3"),
    );
    let ann = town.welcome(&mut laptop, "ann@example.org").await;
    let other = town.welcome(&mut bob, "bob@example.org").await;
    town.log_in(&mut phone, "ann@example.org", PASSWORD).await.unwrap();
    let client = laptop.client.clone();
    laptop
        .visit(async |session| end_all_others(&town.people, ann, session, &client, clock::now()).await)
        .await
        .unwrap();
    assert_eq!((laptop.user().await, phone.user().await), (Some(ann), None));
    assert_eq!(bob.user().await, Some(other));
}

#[tokio::test]
async fn a_request_that_was_under_way_does_not_bring_a_session_back() {
    let town = Town::build().await;
    let mut ann = town.browser("192.0.2.1");
    let user = town.welcome(&mut ann, "ann@example.org").await;
    let id = town.listed(&mut ann).await[0].id;
    let client = ann.client.clone();
    ann.visit(async |session| {
        assert!(sessions::current(session, clock::now()).await.unwrap().is_some());
        end(&town.people, user, &client, id, clock::now()).await.unwrap();
        session.insert("page", "anything").await.unwrap();
    })
    .await;
    assert_eq!(ann.user().await, None);
    assert_eq!(town.number("select count(*) from sessions").await, 0);
}

#[tokio::test]
async fn a_session_lasts_as_long_as_the_person_wants_and_three_months_at_most() {
    let town = Town::build().await;
    town.welcome(&mut town.browser("192.0.2.1"), "ann@example.org").await;
    town.execute("delete from sessions").await;
    let days = "select round(extract(epoch from expires_at - now()) / 86400)::bigint from sessions";
    for (stay, expected) in [(Stay::WhileOpen, 14), (Stay::LoggedIn, 30)] {
        let mut browser = town.browser("192.0.2.1");
        let form = LogInForm {
            email: "ann@example.org".to_owned(),
            password: PASSWORD.into(),
            stay,
        };
        let client = browser.client.clone();
        let logged_in = browser
            .visit(async |session| log_in(&town.people, session, &client, form, clock::now()).await)
            .await;
        assert!(logged_in.is_ok());
        assert_eq!(town.number(days).await, expected, "{stay:?}");
        // The session is used five minutes and eighty days later.
        town.execute("update sessions set expires_at = now() + interval '1 day'")
            .await;
        let now = clock::now();
        browser
            .visit(async |session| sessions::current(session, now + Duration::minutes(4)).await)
            .await
            .unwrap();
        assert_eq!(town.number(days).await, 1, "{stay:?}");
        browser
            .visit(async |session| sessions::current(session, now + Duration::minutes(6)).await)
            .await
            .unwrap();
        assert_eq!(town.number(days).await, expected, "{stay:?}");
        assert!(town.listed(&mut browser).await[0].seen > now);
        town.execute("update sessions set inserted_at = now() - interval '80 days'")
            .await;
        browser
            .visit(async |session| sessions::current(session, now + Duration::minutes(12)).await)
            .await
            .unwrap();
        assert_eq!(town.number(days).await, 10, "{stay:?}");
        town.execute("update sessions set expires_at = now()").await;
        assert_eq!(browser.user().await, None);
        town.execute("delete from sessions").await;
    }
}

#[tokio::test]
async fn a_session_written_by_another_version_belongs_to_no_user() {
    let town = Town::build().await;
    let mut ann = town.browser("192.0.2.1");
    town.welcome(&mut ann, "ann@example.org").await;
    town.execute(r#"update sessions set data = '{"person": {"name": "Ann"}}'"#)
        .await;
    assert_eq!(ann.user().await, None);
    town.log_in(&mut ann, "ann@example.org", PASSWORD).await.unwrap();
    assert!(ann.user().await.is_some());
}

#[tokio::test]
async fn a_visitor_who_only_looks_has_no_session() {
    let town = Town::build().await;
    let mut visitor = town.browser("192.0.2.1");
    assert_eq!(visitor.user().await, None);
    assert_eq!(
        (visitor.cookie, town.number("select count(*) from sessions").await),
        (None, 0)
    );
}
