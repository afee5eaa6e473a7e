//! Members of an account and their roles.

use platen_core::{
    clock,
    service::{
        account_log,
        api_keys::{self, CreatedKey, NewKeyRequest},
        people::{
            PeopleError, account,
            callers::{self, CallerError},
            team,
        },
    },
    store::{accounts::OwnedAccount, api_keys::KeySettings},
};
use platen_domain::{
    account_log::{ActivityFilter, Actor},
    caller::Caller,
    client::Client,
    ids::{AccountId, UserId},
    role::Role,
};

use crate::support::people::{LIMITS, Town};

impl Town {
    /// Creates a user with an account of their own who is also a member of this one.
    async fn member(&self, account: AccountId, email: &str, role: Role) -> (UserId, Client) {
        let mut browser = self.browser("192.0.2.9");
        let user = self.welcome(&mut browser, email).await;
        self.execute(&format!(
            "insert into members (account_id, user_id, role, inserted_at) values ('{account}', '{user}', '{}', now())",
            role.into_str()
        ))
        .await;
        (user, browser.client)
    }

    async fn caller_of(&self, user: UserId, client: &Client, account: AccountId) -> Result<Caller, CallerError> {
        callers::of_person(&self.people.db, &LIMITS, user, client, Some(account), clock::now()).await
    }

    async fn role_of(&self, account: AccountId, user: UserId) -> Option<Role> {
        let members = team::list(&self.people, account).await.expect("members");
        members
            .into_iter()
            .find(|member| member.user == user)
            .map(|member| member.role)
    }

    async fn key_of(&self, caller: &Caller) -> CreatedKey {
        let account = OwnedAccount {
            account: caller.account,
            owner: caller.user.id,
        };
        let request = NewKeyRequest {
            livemode: true,
            settings: KeySettings::unrestricted("Billing"),
        };
        let created = api_keys::create(
            &self.people.db,
            account,
            &Actor::of_caller(caller),
            request,
            clock::now(),
        )
        .await;
        created.expect("a key")
    }

    /// Returns the account's activity, latest first.
    async fn logged(&self, account: AccountId) -> Vec<String> {
        let page = account_log::page(&self.people.db, account, &ActivityFilter::default(), None).await;
        let entries = page.expect("a log").items;
        entries
            .iter()
            .map(|entry| format!("{} {}", entry.who(), entry.what()))
            .collect()
    }
}

#[tokio::test]
async fn a_removed_member_loses_access_at_once_and_their_keys_continue() {
    let town = Town::build().await;
    let mut ann = town.browser("192.0.2.1");
    let owner = town.welcome(&mut ann, "ann@example.org").await;
    let own = town.caller(owner, &ann.client).await;
    let (bob, client) = town.member(own.account, "bob@example.org", Role::Admin).await;
    let caller = town.caller_of(bob, &client, own.account).await.unwrap();
    let key = town.key_of(&caller).await;
    let now = clock::now();
    team::remove(&town.people, &own, bob, now).await.unwrap();
    let refused = town.caller_of(bob, &client, own.account).await;
    assert!(matches!(refused, Err(CallerError::NotMember)), "{refused:?}");
    assert!(api_keys::is_valid(&town.people.db, &key.key, now).await.unwrap());
    let whole = OwnedAccount {
        account: own.account,
        owner,
    };
    let listed = api_keys::list(&town.people.db, whole, now).await.unwrap();
    assert_eq!(
        listed[0].former_creator.as_deref(),
        Some("Ann Example"),
        "what Bob calls himself here"
    );
    let of_owner = format!("select count(*) from api_keys where created_by = '{owner}'");
    assert_eq!(town.number(&of_owner).await, 1);
    // Their own account is unchanged.
    assert_eq!(account::accounts_of(&town.people, bob).await.unwrap().len(), 1);
    let mail = town.mails().await.pop().expect("a mail");
    assert_eq!(mail.recipient, "bob@example.org");
    assert!(mail.written.text.contains("Example & Sons"), "{}", mail.written.text);
    let log = town.logged(own.account).await;
    let expected = [
        "ann@example.org removed bob@example.org",
        "bob@example.org created the API key Billing",
    ];
    assert_eq!(log, expected);
}

#[tokio::test]
async fn a_user_who_leaves_their_only_account_can_sign_up_again() {
    let town = Town::build().await;
    let mut ann = town.browser("192.0.2.1");
    let owner = town.welcome(&mut ann, "ann@example.org").await;
    let own = town.caller(owner, &ann.client).await;
    let (bob, client) = town.member(own.account, "bob@example.org", Role::Member).await;
    town.execute(&format!("delete from accounts where id <> '{}'", own.account))
        .await;
    let caller = town.caller(bob, &client).await;
    let key = town.key_of(&caller).await;
    team::leave(&town.people, &caller, clock::now()).await.unwrap();
    assert!(
        api_keys::is_valid(&town.people.db, &key.key, clock::now())
            .await
            .unwrap()
    );
    assert!(account::person(&town.people, bob).await.unwrap().is_none());
    assert_eq!(town.logged(own.account).await[0], "bob@example.org left the account");
    let mut again = town.browser("192.0.2.2");
    town.welcome(&mut again, "bob@example.org").await;
}

#[tokio::test]
async fn an_account_is_handed_over_by_its_owner() {
    let town = Town::build().await;
    let mut ann = town.browser("192.0.2.1");
    let owner = town.welcome(&mut ann, "ann@example.org").await;
    let own = town.caller(owner, &ann.client).await;
    let (bob, client) = town.member(own.account, "bob@example.org", Role::Admin).await;
    let (account, people, now) = (own.account, &town.people, clock::now());
    let hand = async |caller: &Caller, to: UserId| team::hand_over(people, caller, to, now).await;
    // An admin is not the owner, and a stranger is not a member.
    let admin = town.caller_of(bob, &client, account).await.unwrap();
    let refused = hand(&admin, owner).await;
    assert!(matches!(refused, Err(PeopleError::NotFound)), "{refused:?}");
    let refused = hand(&own, UserId::generate()).await;
    assert!(matches!(refused, Err(PeopleError::NotFound)), "{refused:?}");
    for refused in [
        team::remove(people, &admin, owner, now).await,
        team::change_role(people, &admin, owner, Role::Member, now).await,
        team::change_role(people, &own, bob, Role::Owner, now).await,
        team::leave(people, &own, now).await,
    ] {
        assert!(matches!(refused, Err(PeopleError::OwnerStays)), "{refused:?}");
    }
    hand(&own, bob).await.unwrap();
    assert_eq!(town.role_of(account, bob).await, Some(Role::Owner));
    assert_eq!(town.role_of(account, owner).await, Some(Role::Admin));
    let expected = "ann@example.org transferred the account from ann@example.org to bob@example.org";
    assert_eq!(town.logged(account).await, [expected]);
    let told: Vec<_> = town
        .mails()
        .await
        .into_iter()
        .rev()
        .take(2)
        .map(|mail| mail.recipient)
        .collect();
    assert_eq!(told, ["bob@example.org", "ann@example.org"]);
}

#[tokio::test]
async fn an_account_has_one_owner_after_concurrent_changes() {
    let town = Town::build().await;
    let mut ann = town.browser("192.0.2.1");
    let owner = town.welcome(&mut ann, "ann@example.org").await;
    let own = town.caller(owner, &ann.client).await;
    let account = own.account;
    let (bob, client) = town.member(account, "bob@example.org", Role::Admin).await;
    let (cat, _) = town.member(account, "cat@example.org", Role::Admin).await;
    let admin = town.caller_of(bob, &client, account).await.unwrap();
    let people = &town.people;
    for _ in 0..4 {
        town.execute(&format!(
            "delete from members where account_id = '{account}';
             insert into members (account_id, user_id, role, inserted_at) values
                ('{account}', '{owner}', 'owner', now()), ('{account}', '{bob}', 'admin', now()),
                ('{account}', '{cat}', 'admin', now())"
        ))
        .await;
        let now = clock::now();
        let hand = async |to| team::hand_over(people, &own, to, now).await;
        let (to_bob, to_cat, removed, changed, left) = tokio::join!(
            hand(bob),
            hand(cat),
            team::remove(people, &admin, cat, now),
            team::change_role(people, &admin, cat, Role::Member, now),
            team::leave(people, &admin, now),
        );
        let outcomes = format!("{to_bob:?} {to_cat:?} {removed:?} {changed:?} {left:?}");
        let owners = format!("select count(*) from members where account_id = '{account}' and role = 'owner'");
        assert_eq!(town.number(&owners).await, 1, "{outcomes}");
        assert!(to_bob.is_err() || to_cat.is_err(), "{outcomes}");
        for error in [to_bob.err(), to_cat.err(), removed.err(), changed.err(), left.err()]
            .into_iter()
            .flatten()
        {
            let understood = matches!(error, PeopleError::NotFound | PeopleError::OwnerStays);
            assert!(understood, "{error:?}");
        }
    }
}
