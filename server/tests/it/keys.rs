//! How long a key is good for.

use reqwest::StatusCode;
use rustix::process::Signal;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::support::service::TestService;

async fn health(service: &TestService, key: &str) -> (StatusCode, Value) {
    let answer = service
        .client
        .get(service.url("/api/v1/health"))
        .bearer_auth(key)
        .send()
        .await
        .expect("an answer");
    (answer.status(), answer.json().await.expect("JSON"))
}

async fn execute(service: &TestService, statement: &str) {
    let mut connection = PgConnection::connect(service.database_url())
        .await
        .expect("Postgres answers");
    sqlx::raw_sql(AssertSqlSafe(statement.to_owned()))
        .execute(&mut connection)
        .await
        .expect("sound SQL");
}

#[tokio::test]
async fn expiry_revocation_and_suspension_count_from_the_next_request() {
    let service = TestService::start().await;
    let account = service.account("ann@example.org");
    assert_eq!(health(&service, &account.key).await.0, StatusCode::OK);

    let create = [
        "keys",
        "create",
        "--email",
        "ann@example.org",
        "--name",
        "short",
        "--expires",
        "2099-01-01T00:00:00Z",
    ];
    let short = service.command(&create, "").succeeded();
    assert_eq!(health(&service, &short).await.0, StatusCode::OK);
    execute(
        &service,
        "update api_keys set expires_at = now() where expires_at is not null",
    )
    .await;
    let (status, body) = health(&service, &short).await;
    assert_eq!(
        (status, &body["error"]),
        (StatusCode::UNAUTHORIZED, &"expired_token".into())
    );

    execute(&service, "update accounts set suspended_at = now()").await;
    let (status, body) = health(&service, &account.key).await;
    assert_eq!((status, &body["error"]), (StatusCode::FORBIDDEN, &"forbidden".into()));
    execute(&service, "update accounts set suspended_at = null").await;
    assert_eq!(health(&service, &account.key).await.0, StatusCode::OK);

    service.command(&["keys", "revoke", &account.key_id], "").succeeded();
    let (status, body) = health(&service, &account.key).await;
    assert_eq!(
        (status, &body["error"]),
        (StatusCode::UNAUTHORIZED, &"invalid_token".into())
    );
}

#[tokio::test]
async fn the_last_use_is_written_down() {
    let mut service = TestService::start().await;
    let account = service.account("ann@example.org");
    let list = ["keys", "list", "--account", &*account.id];
    assert!(service.command(&list, "").succeeded().contains("never"));
    assert_eq!(health(&service, &account.key).await.0, StatusCode::OK);
    service.process.signal(Signal::TERM);
    let ended = tokio::task::spawn_blocking(move || (service.process.ended(), service));
    let (_, service) = ended.await.unwrap();
    assert!(
        !service
            .command(&["keys", "list", "--account", &account.id], "")
            .succeeded()
            .contains("never")
    );
}
