//! Invitations to an account.

use platen_core::{
    clock,
    service::{
        people::{PeopleError, account, invitations, team},
        sessions,
    },
};
use platen_domain::{caller::Caller, ids::UserId, role::Role, team::Guest};
use time::{Duration, OffsetDateTime};

use crate::support::people::{Browser, PASSWORD, Town};

const SUBJECT: &str = "You're invited to a Platen account";

impl Town {
    /// Sends an invitation and returns its token.
    async fn invited(&self, caller: &Caller, email: &str, role: Role) -> String {
        let client = caller.client.clone().expect("a client");
        let now = clock::now();
        invitations::invite(&self.people, caller, &client, email, role, now)
            .await
            .expect("invited");
        self.token_for(email).await
    }

    async fn join_as_new(&self, browser: &mut Browser, token: &str) -> Result<(), PeopleError> {
        let (client, now) = (browser.client.clone(), clock::now());
        let join = async |session: &_| {
            invitations::join_as_new(&self.people, session, &client, token, "Bob", PASSWORD.into(), now).await
        };
        browser.visit(join).await
    }

    async fn accept(&self, browser: &mut Browser, user: UserId, token: &str) -> Result<(), PeopleError> {
        let (client, now) = (browser.client.clone(), clock::now());
        browser
            .visit(async |session| invitations::accept(&self.people, session, user, &client, token, now).await)
            .await
    }

    async fn opened(&self, token: &str, user: Option<UserId>, now: OffsetDateTime) -> Result<Guest, PeopleError> {
        let opened = invitations::open(&self.people, token, user, now).await;
        opened.map(|(_, guest)| guest)
    }

    async fn members(&self, caller: &Caller) -> Vec<(String, Role)> {
        let members = team::list(&self.people, caller.account).await.expect("members");
        members.into_iter().map(|member| (member.email, member.role)).collect()
    }
}

fn is_worthless<T: std::fmt::Debug>(outcome: &Result<T, PeopleError>) -> bool {
    matches!(outcome, Err(PeopleError::WorthlessLink))
}

#[tokio::test]
async fn an_invitation_link_adds_one_new_user_once() {
    let town = Town::build().await;
    let mut ann = town.browser("192.0.2.1");
    let owner = town.welcome(&mut ann, "ann@example.org").await;
    let own = town.caller(owner, &ann.client).await;
    let token = town.invited(&own, "bob@example.org", Role::Admin).await;
    let mail = town.mails().await.pop().expect("a mail");
    assert_eq!(
        (mail.recipient.as_str(), mail.written.subject.as_str()),
        ("bob@example.org", SUBJECT)
    );
    assert!(
        mail.written.html.contains("Example &amp; Sons"),
        "{}",
        mail.written.html
    );
    // The database contains neither the token nor anything from which it could be derived.
    let digests = format!("select count(*) from invitations where invitations::text like '%{token}%'");
    assert_eq!(town.number(&digests).await, 0);

    let now = clock::now();
    assert_eq!(town.opened(&token, None, now).await.unwrap(), Guest::New);
    let (mut first, mut second) = (town.browser("192.0.2.2"), town.browser("192.0.2.3"));
    let (one, other) = tokio::join!(
        town.join_as_new(&mut first, &token),
        town.join_as_new(&mut second, &token)
    );
    assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
    let mut browser = if one.is_ok() { first } else { second };
    let bob = browser.user().await.expect("logged in");
    let chosen = browser
        .visit(async |session| sessions::chosen_account(session).await)
        .await;
    assert_eq!(chosen.unwrap(), Some(own.account));
    let members = [("ann@example.org", Role::Owner), ("bob@example.org", Role::Admin)];
    assert_eq!(
        town.members(&own).await,
        members.map(|(email, role)| (email.to_owned(), role))
    );
    assert!(is_worthless(&town.opened(&token, Some(bob), now).await));
    assert!(is_worthless(
        &town.join_as_new(&mut town.browser("192.0.2.4"), &token).await
    ));
    // They log in like everyone else.
    town.log_in(&mut town.browser("192.0.2.5"), "bob@example.org", PASSWORD)
        .await
        .unwrap();
}

#[tokio::test]
async fn an_invitation_of_an_existing_user_is_accepted_only_by_them() {
    let town = Town::build().await;
    let (mut ann, mut bob, mut eve) = (
        town.browser("192.0.2.1"),
        town.browser("192.0.2.2"),
        town.browser("192.0.2.3"),
    );
    let owner = town.welcome(&mut ann, "ann@example.org").await;
    let guest = town.welcome(&mut bob, "bob@example.org").await;
    let stranger = town.welcome(&mut eve, "eve@example.org").await;
    let own = town.caller(owner, &ann.client).await;
    let before = bob.cookie;
    let token = town.invited(&own, "bob@example.org", Role::Member).await;
    let now = clock::now();
    assert_eq!(town.opened(&token, None, now).await.unwrap(), Guest::LoggedOut);
    let other = Guest::OtherUser("eve@example.org".to_owned());
    assert_eq!(town.opened(&token, Some(stranger), now).await.unwrap(), other);
    assert_eq!(town.opened(&token, Some(guest), now).await.unwrap(), Guest::Themselves);
    let refused = town.accept(&mut eve, stranger, &token).await;
    assert!(matches!(refused, Err(PeopleError::OthersInvitation)), "{refused:?}");
    // A second user with the same address can't be created.
    let refused = town.join_as_new(&mut town.browser("192.0.2.4"), &token).await;
    assert!(matches!(refused, Err(PeopleError::EmailTaken)), "{refused:?}");

    town.accept(&mut bob, guest, &token).await.unwrap();
    assert_ne!(bob.cookie, before, "forms of the other account are refused from now on");
    assert_eq!(account::accounts_of(&town.people, guest).await.unwrap().len(), 2);
    assert_eq!(town.members(&own).await.len(), 2);
    assert!(is_worthless(&town.accept(&mut bob, guest, &token).await));
}

#[tokio::test]
async fn a_link_is_worthless_once_it_is_replaced_withdrawn_or_seven_days_old() {
    let town = Town::build().await;
    let mut ann = town.browser("192.0.2.1");
    let owner = town.welcome(&mut ann, "ann@example.org").await;
    let own = town.caller(owner, &ann.client).await;
    let first = town.invited(&own, "bob@example.org", Role::Member).await;
    let now = clock::now();
    let late = town
        .opened(&first, None, now + Duration::days(7) + Duration::MINUTE)
        .await;
    assert!(is_worthless(&late), "{late:?}");
    let id = invitations::list(&town.people, own.account).await.unwrap()[0].id;
    let again = async || invitations::send_again(&town.people, &own, &ann.client, id, clock::now()).await;
    again().await.unwrap();
    let second = town.token_for("bob@example.org").await;
    assert!(is_worthless(&town.opened(&first, None, now).await));
    assert_eq!(town.opened(&second, None, now).await.unwrap(), Guest::New);

    // A queued mail for a withdrawn invitation is not sent.
    again().await.unwrap();
    invitations::withdraw(&town.people, &own, id, now).await.unwrap();
    let mails = town.mails().await.len();
    assert!(is_worthless(&town.opened(&second, None, now).await));
    assert_eq!(mails, 3, "of the sign-up, and two invitations");
    let refused = again().await;
    assert!(matches!(refused, Err(PeopleError::NotFound)), "{refused:?}");
}

#[tokio::test]
async fn another_account_can_do_nothing_with_an_invitation() {
    let town = Town::build().await;
    let (mut ann, mut bob) = (town.browser("192.0.2.1"), town.browser("192.0.2.2"));
    let owner = town.welcome(&mut ann, "ann@example.org").await;
    let other = town.welcome(&mut bob, "bob@example.org").await;
    let own = town.caller(owner, &ann.client).await;
    let foreign = town.caller(other, &bob.client).await;
    let token = town.invited(&own, "cat@example.org", Role::Member).await;
    let id = invitations::list(&town.people, own.account).await.unwrap()[0].id;
    assert_eq!(invitations::list(&town.people, foreign.account).await.unwrap(), []);
    let now = clock::now();
    let refused = [
        invitations::withdraw(&town.people, &foreign, id, now).await,
        invitations::send_again(&town.people, &foreign, &bob.client, id, now).await,
    ];
    for refused in refused {
        assert!(matches!(refused, Err(PeopleError::NotFound)), "{refused:?}");
    }
    assert_eq!(town.opened(&token, None, now).await.unwrap(), Guest::New);
}

#[tokio::test]
async fn inviting_tells_nothing_of_an_address_and_is_no_way_to_write_to_many() {
    let town = Town::build().await;
    let (mut ann, mut bob) = (town.browser("192.0.2.1"), town.browser("192.0.2.2"));
    let owner = town.welcome(&mut ann, "ann@example.org").await;
    town.welcome(&mut bob, "bob@example.org").await;
    let own = town.caller(owner, &ann.client).await;
    let invite = async |emails: &str, from: &Browser| {
        invitations::invite(&town.people, &own, &from.client, emails, Role::Member, clock::now()).await
    };
    // One address has a user, the other does not.
    let before = town.mails().await.len();
    assert_eq!(invite("bob@example.org, new@example.org", &ann).await.unwrap(), 2);
    assert_eq!(town.mails().await.len(), before + 2);
    for wrong in ["", "bob", "new@example.org, bob", "ann@example.org"] {
        let refused = invite(wrong, &ann).await;
        assert!(matches!(refused, Err(PeopleError::Invalid(_))), "{wrong}: {refused:?}");
    }
    let many = |from: usize, count: usize| {
        let emails: Vec<_> = (from..from + count)
            .map(|number| format!("a{number}@example.org"))
            .collect();
        emails.join(",")
    };
    assert_eq!(invite(&many(0, 20), &ann).await.unwrap(), 20);
    assert_eq!(invite(&many(20, 20), &town.browser("192.0.2.3")).await.unwrap(), 20);
    let refused = invite(&many(40, 9), &town.browser("192.0.2.4")).await;
    assert!(matches!(refused, Err(PeopleError::TooManyInvitations)), "{refused:?}");
    // Withdrawing invitations doesn't reset the limit.
    let listed = invitations::list(&town.people, own.account).await.unwrap();
    assert_eq!(listed.len(), 42);
    for invitation in listed {
        let now = clock::now();
        invitations::withdraw(&town.people, &own, invitation.id, now)
            .await
            .unwrap();
    }
    let refused = invite(&many(50, 9), &town.browser("192.0.2.5")).await;
    assert!(matches!(refused, Err(PeopleError::TooManyInvitations)), "{refused:?}");
}
