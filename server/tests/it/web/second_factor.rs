//! Log-in with a second factor, actions that require confirmation, and accounts that require a second factor.

use leptos::server_fn::axum::server_fn_paths;
use platen_core::{clock, service::people::second_factor::passkeys::Added};
use tempfile::TempDir;
use time::Duration;

use super::{PUBLIC_FUNCTIONS, site};
use crate::support::{
    authenticator::Authenticator,
    people::{PASSWORD, Town},
    service::{TestAccount, TestService},
    studio::header,
    visitor::Visitor,
};

const ANN: &str = "ann@example.org";
const SECOND_STEP: &str = "/log-in/second-factor";
const SET_UP: &str = "/dashboard/settings/second-factor";

/// A service with one account.
struct House {
    service: TestService,
    town: Town,
    account: TestAccount,
    _site: TempDir,
}

impl House {
    async fn build() -> Self {
        let site = site();
        let settings = [("PLATEN_SITE_DIR", site.path().to_str().expect("text"))];
        let service = TestService::start_with(&settings).await;
        Self {
            account: service.account(ANN),
            town: Town::at(service.database_url()).await,
            service,
            _site: site,
        }
    }

    /// Sets up a second factor for Ann in another browser, and returns her recovery codes.
    async fn with_second_factor(&self) -> Vec<String> {
        let mut browser = self.town.browser("192.0.2.1");
        let user = self.town.log_in(&mut browser, ANN, PASSWORD).await.expect("logged in");
        let (_, codes) = self.town.set_up_second_factor(&mut browser, user, clock::now()).await;
        codes
    }

    /// Logs in Ann as of more than ten minutes ago.
    async fn ann_of_before(&self) -> Visitor {
        let ann = Visitor::log_in(&self.service, ANN).await;
        self.town
            .execute("update sessions set data = jsonb_set(data, '{person,confirmed}', to_jsonb('2026-11-22T10:00:00Z'::text))")
            .await;
        ann
    }
}

#[tokio::test]
async fn a_password_alone_gives_access_to_no_page_and_no_function() {
    let house = House::build().await;
    let codes = house.with_second_factor().await;
    let mut ann = Visitor::log_in(&house.service, ANN).await;
    for path in [
        "/dashboard",
        "/dashboard/api-keys",
        "/dashboard/settings",
        SET_UP,
        "/dashboard/settings/passkey",
        "/dashboard/confirm",
        "/dashboard/events/renders",
        "/dashboard/renders/019a0000-0000-7000-8000-000000000000/pages/1.png",
        "/settings/confirm-email?token=x",
    ] {
        let answer = ann.get(path).await;
        assert_eq!(answer.status(), 303, "{path}");
        assert!(header(&answer, "location").starts_with("/log-in?next="), "{path}");
    }
    let mut refused = 0;
    for (path, _) in server_fn_paths() {
        let name = path.strip_prefix("/web/").expect("a path of ours");
        if PUBLIC_FUNCTIONS.contains(&name) {
            continue;
        }
        let answer = ann.submit_from(SECOND_STEP, name, &[]).await;
        assert_eq!(
            (answer.status().as_u16(), header(&answer, "location")),
            (303, "/log-in"),
            "{name}"
        );
        refused += 1;
    }
    assert!(refused > 30, "{refused}");

    let wrong = ann
        .submit_from(SECOND_STEP, "show-second-factor", &[("code", "000000")])
        .await;
    assert!(header(&wrong, "location").contains("__err="));
    assert_eq!(ann.get("/dashboard").await.status(), 303);
    let fields = [("recovery_code", codes[0].as_str()), ("next", "/dashboard/renders")];
    let entered = ann.log_in_from(SECOND_STEP, "show-second-factor", &fields).await;
    assert_eq!(header(&entered, "location"), "/dashboard/renders");
    assert_eq!(ann.get("/dashboard").await.status(), 200);
}

#[tokio::test]
async fn what_a_session_alone_is_not_enough_for_asks_who_it_is() {
    let house = House::build().await;
    let ann = house.ann_of_before().await;
    let id = house.account.key_id.as_str();
    let tomorrow = (clock::now() + Duration::DAY).date().to_string();
    let forms: [(&str, &[(&str, &str)]); 13] = [
        (
            "create-key",
            &[
                ("key_name", "New"),
                ("key_mode", "live"),
                ("expiry", "never"),
                ("expiry_day", ""),
                ("networks", ""),
                ("scopes[0]", "render"),
            ],
        ),
        ("rotate-key", &[("subject", id), ("overlap", "0")]),
        ("revoke-key", &[("subject", id), ("confirmation", "tests")]),
        ("request-email-change", &[("new_email", "new@example.org")]),
        ("change-password", &[("password", "another long password")]),
        ("request-deletion", &[("confirmation", ANN)]),
        ("begin-second-factor", &[]),
        ("turn-second-factor-on", &[("code", "000000")]),
        ("turn-second-factor-off", &[]),
        ("begin-passkey", &[]),
        ("add-passkey", &[("passkey_name", "Laptop"), ("passkey", "{}")]),
        ("remove-passkey", &[("subject", id)]),
        ("require-second-factor", &[("second_factor_from", &tomorrow)]),
    ];
    for (function, fields) in forms {
        let answer = ann.submit(function, fields).await;
        let location = header(&answer, "location");
        assert!(
            location.starts_with("/dashboard/confirm?next=%2Fdashboard&form="),
            "{function}: {location}"
        );
    }
    let changed = "select (select count(*) from api_keys where name = 'New' or revoked_at is not null)
                        + (select count(*) from accounts where delete_at is not null or second_factor_from is not null)
                        + (select count(*) from mails) + (select count(*) from second_factors)";
    assert_eq!(house.town.number(changed).await, 0);

    let page = "/dashboard/confirm?next=/dashboard/api-keys";
    assert!(ann.page(page).await.contains("Confirm your identity"));
    let wrong = [("password", "not the password"), ("next", "/dashboard/api-keys")];
    let refused = ann.submit_from(page, "confirm", &wrong).await;
    assert!(header(&refused, "location").contains("__err="));
    let still = ann.submit("rotate-key", forms[1].1).await;
    assert!(header(&still, "location").starts_with("/dashboard/confirm"));
    let right = [("password", PASSWORD), ("next", "//evil.example")];
    let confirmed = ann.submit_from(page, "confirm", &right).await;
    assert_eq!(header(&confirmed, "location"), "/dashboard");
    let rotated = ann.submit("rotate-key", forms[1].1).await;
    assert!(header(&rotated, "location").starts_with("/dashboard/api-keys?done=rotated&new="));
}

#[tokio::test]
async fn a_refused_form_continues_once_after_its_own_confirmation() {
    let house = House::build().await;
    let ann = house.ann_of_before().await;
    let key = |name| {
        [
            ("key_name", name),
            ("key_mode", "test"),
            ("expiry", "never"),
            ("expiry_day", ""),
            ("networks", ""),
            ("scopes[0]", "render"),
        ]
    };
    let refuse = async |name| {
        let answer = ann.submit_from("/dashboard/api-keys", "create-key", &key(name)).await;
        let location = header(&answer, "location").to_owned();
        assert!(
            location.starts_with("/dashboard/confirm?next=%2Fdashboard&form="),
            "{location}"
        );
        assert!(!location.contains(name), "{location}");
        location
    };
    let confirm = async |page: &str, password| {
        let form = page.split("form=").nth(1).expect("the id of a form");
        let fields = [("password", password), ("next", "/dashboard/api-keys"), ("form", form)];
        let answer = ann.submit_from(page, "confirm", &fields).await;
        header(&answer, "location").to_owned()
    };
    let keys = async || {
        let named = "select count(*) from api_keys where name in ('First', 'Second')";
        house.town.number(named).await
    };

    let first = refuse("First").await;
    let second = refuse("Second").await;
    assert!(ann.page(&second).await.contains("name=\"form\""));
    let wrong = confirm(&second, "not the password").await;
    assert!(wrong.contains("__err="), "{wrong}");
    assert_eq!(keys().await, 0);
    let created = confirm(&second, PASSWORD).await;
    assert!(
        created.starts_with("/dashboard/api-keys?done=created&new="),
        "{created}"
    );
    assert_eq!(keys().await, 1);
    // It was replaced by the second form, which has ended.
    assert_eq!(confirm(&first, PASSWORD).await, "/dashboard/api-keys");
    assert_eq!(confirm(&second, PASSWORD).await, "/dashboard/api-keys");
    assert_eq!(keys().await, 1);
}

#[tokio::test]
async fn members_without_a_required_second_factor_are_blocked_after_the_grace_period() {
    let house = House::build().await;
    let ann = Visitor::log_in(&house.service, ANN).await;
    let require = async |day: &str| {
        let answer = ann
            .submit("require-second-factor", &[("second_factor_from", day)])
            .await;
        header(&answer, "location").to_owned()
    };
    let yesterday = (clock::now() - Duration::DAY).date().to_string();
    for problem in [yesterday.as_str(), "soon"] {
        assert!(require(problem).await.contains("__err="), "{problem}");
    }
    let later = (clock::now() + Duration::days(14)).date().to_string();
    assert_eq!(require(&later).await, "/dashboard/settings?done=factor-policy");
    let notice = "This account requires a second factor from";
    assert!(ann.page("/dashboard/api-keys").await.contains(notice));

    house
        .town
        .execute("update accounts set second_factor_from = now() where second_factor_from is not null")
        .await;
    for path in ["/dashboard", "/dashboard/templates", "/dashboard/settings"] {
        let answer = ann.get(path).await;
        assert_eq!(answer.status(), 303, "{path}");
        assert_eq!(header(&answer, "location"), format!("{SET_UP}?required=yes"), "{path}");
    }
    let answer = ann
        .submit_from(SET_UP, "rename-account", &[("account_name", "Mine")])
        .await;
    assert_eq!(header(&answer, "location"), format!("{SET_UP}?required=yes"));
    assert_eq!(ann.get("/dashboard/events/renders").await.status(), 403);
    let health = house.service.client.get(house.service.url("/api/v1/health"));
    let health = health.bearer_auth(&house.account.key).send().await.expect("an answer");
    assert_eq!(health.status(), 200);

    // They set it up and continue.
    let begun = ann.submit_from(SET_UP, "begin-second-factor", &[]).await;
    assert_eq!(header(&begun, "location"), SET_UP);
    assert!(ann.page(SET_UP).await.contains("Turn on"));
    house.with_second_factor().await;
    let page = ann.page("/dashboard").await;
    assert!(!page.contains(notice), "{page}");
}

#[tokio::test]
async fn an_operator_removes_the_second_factor_of_a_user() {
    let house = House::build().await;
    let mut browser = house.town.browser("192.0.2.2");
    let user = house.town.log_in(&mut browser, ANN, PASSWORD).await.expect("logged in");
    house.with_second_factor().await;
    let added = house
        .town
        .add_passkey(&mut browser, user, &mut Authenticator::new())
        .await;
    assert_eq!(added.expect("added"), Added::Beside);
    let remove = ["users", "remove-second-factor", "--email", ANN];
    assert_eq!(house.service.command(&remove, "").succeeded(), "");
    let logged =
        "select count(*) from account_log where actor = 'operator' and deed->>'kind' = 'second_factor.removed'";
    assert_eq!(house.town.number(logged).await, 1);
    let mut browser = house.town.browser("192.0.2.7");
    house.town.log_in(&mut browser, ANN, PASSWORD).await.expect("logged in");
    let again = house.service.command(&remove, "");
    assert_eq!(again.code, Some(2));
    assert!(
        again.stderr.contains("ann@example.org has no second factor"),
        "{}",
        again.stderr
    );
    let told = "select count(*) from mails where letter->>'kind' = 'second_factor_off'";
    assert_eq!(house.town.number(told).await, 1);
}

#[tokio::test]
async fn at_an_ip_address_pages_say_what_passkeys_need() {
    let needs = "Passkeys need a host name";
    let house = House::build().await;
    let ann = Visitor::log_in(&house.service, ANN).await;
    for path in ["/dashboard/settings", SET_UP, "/dashboard/settings/passkey"] {
        let page = ann.page(path).await;
        assert!(
            page.contains(needs) && !page.contains("Add a passkey"),
            "{path}: {page}"
        );
    }
    // A passkey from the time when the service had a name.
    let mut browser = house.town.browser("192.0.2.2");
    let user = house.town.log_in(&mut browser, ANN, PASSWORD).await.expect("logged in");
    let added = house
        .town
        .add_passkey(&mut browser, user, &mut Authenticator::new())
        .await;
    assert_eq!(added.expect("added"), Added::WithCodes);
    let page = Visitor::log_in(&house.service, ANN).await.page(SECOND_STEP).await;
    assert!(page.contains(needs) && page.contains("Recovery code"), "{page}");
}
