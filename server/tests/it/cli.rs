//! The command line: accounts, keys and settings.

use sqlx::{Connection, PgConnection};

use crate::support::{
    command::{Answer, platen, run},
    postgres,
    service::SECRET_KEY,
};

fn command(database_url: &str, arguments: &[&str], input: &str) -> Answer {
    let mut command = platen();
    command.env("DATABASE_URL", database_url);
    run(command, arguments, input)
}

fn create_account(database_url: &str, email: &str) -> String {
    command(
        database_url,
        &["accounts", "create", "--email", email],
        "a long password\n",
    )
    .succeeded()
}

#[tokio::test]
async fn an_account_is_created_with_its_owner_and_a_hashed_password() {
    let database = postgres::fresh_database().await;
    let account = create_account(&database, "Ann@Example.org");
    let mut connection = PgConnection::connect(&database).await.unwrap();
    let (id, email, hash, role): (uuid::Uuid, String, String, String) = sqlx::query_as(
        "select members.account_id, users.email, users.password_hash, members.role
         from members join users on users.id = members.user_id",
    )
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert_eq!(
        (id.to_string(), email.as_str(), role.as_str()),
        (account, "ann@example.org", "owner")
    );
    assert!(hash.starts_with("$argon2id$"), "{hash}");
}

#[tokio::test]
async fn a_second_account_for_one_address_and_short_passwords_are_refused() {
    let database = postgres::fresh_database().await;
    create_account(&database, "ann@example.org");
    let again = command(
        &database,
        &["accounts", "create", "--email", "ANN@example.org"],
        "another password\n",
    );
    assert!(again.refused().contains("ann@example.org"));
    let short = command(
        &database,
        &["accounts", "create", "--email", "bob@example.org"],
        "short\n",
    );
    assert!(short.refused().contains("at least 12 characters"));
    let nothing = command(&database, &["keys", "list", "--email", "bob@example.org"], "");
    assert!(
        nothing
            .refused()
            .contains("platen accounts create --email bob@example.org")
    );
}

#[tokio::test]
async fn an_account_has_a_plan_and_credits_that_the_operator_may_change() {
    let database = postgres::fresh_database().await;
    let accounts = |arguments: &[&str]| {
        let input = "a long password\n";
        command(
            &database,
            &[&["accounts"], arguments, &["--email", "ann@example.org"]].concat(),
            input,
        )
    };
    let shows = |expected: &[&str]| {
        let shown = accounts(&["show"]).succeeded();
        for text in expected {
            assert!(shown.contains(text), "{text} is missing in:\n{shown}");
        }
    };
    let unknown = accounts(&["create", "--plan", "huge"]).refused();
    assert!(
        unknown.contains("huge") && unknown.contains("Free, Starter, Growth, Scale"),
        "{unknown}"
    );
    accounts(&["create", "--plan", "growth"]).succeeded();
    shows(&["Growth", "0 of 20000 used"]);
    accounts(&["set-plan", "--plan", "Starter"]).succeeded();
    shows(&["Starter", "0 of 2000 used"]);
    accounts(&["grant", "--credits", "5"]).succeeded();
    shows(&["Starter", "0 of 2005 used"]);
    accounts(&["set-plan", "--plan", "Free", "--credits", "7"]).succeeded();
    shows(&["Free", "0 of 12 used"]);
    assert!(accounts(&["set-plan", "--plan", "tiny"]).refused().contains("tiny"));
    assert!(accounts(&["grant", "--credits", "0"]).refused().contains("--credits"));
}

#[tokio::test]
async fn a_key_is_shown_once_alone_and_only_its_digest_is_kept() {
    let database = postgres::fresh_database().await;
    let account = create_account(&database, "ann@example.org");
    let created = command(
        &database,
        &["keys", "create", "--account", &account, "--name", "Nightly"],
        "",
    );
    let id = created.stderr.trim().to_owned();
    let key = created.succeeded();
    assert!(key.starts_with("pk_live_") && key.len() == 57, "{key}");

    let list = command(&database, &["keys", "list", "--email", "ann@example.org"], "").succeeded();
    let row = list
        .lines()
        .find(|line| line.starts_with(&id))
        .expect("the key is listed");
    assert!(
        row.contains("Nightly") && row.contains("never") && row.contains("connections:write"),
        "{row}"
    );
    assert!(!list.contains(&key));

    let mut connection = PgConnection::connect(&database).await.unwrap();
    let kept: String = sqlx::query_scalar("select api_keys::text from api_keys")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert!(!kept.contains(&key[12..]), "{kept}");
}

#[tokio::test]
async fn scopes_and_expiry_are_kept_and_checked() {
    let database = postgres::fresh_database().await;
    create_account(&database, "ann@example.org");
    let create = ["keys", "create", "--email", "ann@example.org", "--name", "n"];
    let with = |more: &[&'static str]| command(&database, &[&create, more].concat(), "");
    with(&[
        "--scope",
        "render",
        "--scope",
        "usage:read",
        "--expires",
        "2099-01-02T03:04:05Z",
    ])
    .succeeded();
    let list = command(&database, &["keys", "list", "--email", "ann@example.org"], "").succeeded();
    assert!(
        list.contains("(render usage:read)") && list.contains("2099-01-02T03:04:05Z"),
        "{list}"
    );

    assert!(with(&["--scope", "admin"]).refused().contains("templates:write"));
    assert!(
        with(&["--expires", "tomorrow"])
            .refused()
            .contains("2026-11-21T12:00:00Z")
    );
    assert!(with(&["--expires", "2020-01-01T00:00:00Z"]).refused().contains("past"));
    let nameless = command(
        &database,
        &["keys", "create", "--email", "ann@example.org", "--name", ""],
        "",
    );
    assert!(nameless.refused().contains("1 to 200 characters"));
}

#[tokio::test]
async fn a_revoked_key_is_listed_as_such_and_an_unknown_one_is_an_error() {
    let database = postgres::fresh_database().await;
    create_account(&database, "ann@example.org");
    let created = command(
        &database,
        &["keys", "create", "--email", "ann@example.org", "--name", "n"],
        "",
    );
    let id = created.stderr.trim();
    command(&database, &["keys", "revoke", id], "").succeeded();
    command(&database, &["keys", "revoke", id], "").succeeded();
    let list = command(&database, &["keys", "list", "--email", "ann@example.org"], "").succeeded();
    assert!(
        list.lines()
            .any(|line| line.starts_with(id) && line.contains("revoked")),
        "{list}"
    );
    let unknown = "01234567-89ab-7def-8123-456789abcdef";
    assert!(
        command(&database, &["keys", "revoke", unknown], "")
            .refused()
            .contains(unknown)
    );
}

#[tokio::test]
async fn migrate_makes_the_schema_and_may_be_repeated() {
    let database = postgres::empty_database().await;
    command(&database, &["migrate"], "").succeeded();
    command(&database, &["migrate"], "").succeeded();
    let mut connection = PgConnection::connect(&database).await.unwrap();
    let tables: i64 = sqlx::query_scalar(
        "select count(*) from information_schema.tables
         where table_name in ('users', 'accounts', 'members', 'api_keys', 'renders')",
    )
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert_eq!(tables, 5);
}

#[test]
fn bad_settings_are_all_named_before_anything_starts() {
    let mut command = platen();
    command
        .env("PLATEN_LISTEN", "3000")
        .env("PLATEN_SESSIONS", "many")
        .env("PLATEN_EGRESS_ALLOW", "http://intranet/")
        .env("PLATEN_TRUSTED_PROXIES", "10.0.0.0/8, proxy")
        .env("PLATEN_SECRET_KEY", "correct horse battery staple")
        .env("DATABASE_URL", "mysql://ann:hunter2@db/platen");
    let message = run(command, &["serve"], "").refused();
    for name in [
        "PLATEN_LISTEN: \"3000\"",
        "PLATEN_SESSIONS: \"many\"",
        "PLATEN_EGRESS_ALLOW",
        "PLATEN_TRUSTED_PROXIES",
        "PLATEN_SECRET_KEY: the value is not allowed; allowed: 32 bytes",
        "DATABASE_URL",
    ] {
        assert!(message.contains(name), "{name} is missing in:\n{message}");
    }
    assert!(!message.contains("hunter2") && !message.contains("staple"), "{message}");
}

#[tokio::test]
async fn a_service_with_its_own_database_needs_the_secret_key_that_the_database_knows() {
    let database = postgres::fresh_database().await;
    let serve = |key: Option<&str>| {
        let mut command = platen();
        command
            .env("DATABASE_URL", &database)
            .env("PLATEN_LISTEN", "127.0.0.1:0");
        if let Some(key) = key {
            command.env("PLATEN_SECRET_KEY", key);
        }
        run(command, &["serve"], "")
    };
    assert!(serve(None).refused().contains("openssl rand -base64 32"));

    create_account(&database, "ann@example.org");
    let mut connection = PgConnection::connect(&database).await.unwrap();
    sqlx::query(
        "insert into account_keys (account_id, secret_key_id, wrapped_key, inserted_at)
         select id, 'anotherkey', decode(repeat('00', 60), 'hex'), now() from accounts",
    )
    .execute(&mut connection)
    .await
    .unwrap();
    let answer = serve(Some(SECRET_KEY));
    assert_eq!(answer.code, Some(1), "{answer:#?}");
    assert!(answer.stderr.contains("anotherkey"), "{answer:#?}");
    assert!(!answer.stderr.contains(SECRET_KEY), "{answer:#?}");
}

#[test]
fn a_database_that_is_away_is_said_to_be_away_without_its_password() {
    let answer = command("postgres://ann:hunter2@127.0.0.1:1/platen", &["migrate"], "");
    assert_eq!(answer.code, Some(1), "{answer:#?}");
    assert!(
        answer.stderr.contains("DATABASE_URL") && !answer.stderr.contains("hunter2"),
        "{answer:#?}"
    );
}

#[test]
fn help_lists_commands_and_settings() {
    let help = run(platen(), &["--help"], "").succeeded();
    for expected in [
        "serve",
        "migrate",
        "accounts",
        "keys",
        "doctor",
        "PLATEN_LISTEN",
        "PLATEN_CHROMIUM_SANDBOX",
    ] {
        assert!(help.contains(expected), "{expected} is missing in:\n{help}");
    }
    let help = run(platen(), &["serve", "--help"], "").succeeded();
    assert!(help.contains("SIGTERM") && help.contains("DATABASE_URL"), "{help}");
}
