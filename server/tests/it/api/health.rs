//! `/api/v1/health` and the probes.

use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

use crate::support::{process::Process, studio::Studio};

#[tokio::test]
async fn health_names_the_user_who_made_the_key() {
    let studio = Studio::start().await;
    let answer = studio.service.client.get(studio.service.url("/api/v1/health"));
    let answer = answer.bearer_auth(&studio.account.key).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "application/json");
    let health: Value = answer.json().await.unwrap();
    let mut connection = PgConnection::connect(studio.service.database_url()).await.unwrap();
    let user: uuid::Uuid = sqlx::query_scalar("select id from users")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    let expected = json!({"status": "operational", "current_user": {"id": user, "email": "ann@example.org"}});
    assert_eq!(health, expected);
}

#[tokio::test]
async fn probes_need_no_key() {
    let studio = Studio::start().await;
    let get = async |path: &str| {
        studio
            .service
            .client
            .get(studio.service.url(path))
            .send()
            .await
            .unwrap()
    };
    assert_eq!(get("/livez").await.status(), 200);
    let ready = get("/readyz").await;
    assert_eq!(ready.status(), 200);
    assert_eq!(
        ready.json::<Value>().await.unwrap(),
        json!({"database": "ok", "browser": "ok"})
    );
}

#[tokio::test]
async fn without_its_database_the_service_says_so_to_operators_and_nothing_to_clients() {
    let mut studio = Studio::start().await;
    let url = url::Url::parse(studio.service.database_url()).unwrap();
    let name = url.path().trim_start_matches('/').to_owned();
    let mut other = url.clone();
    other.set_path("/postgres");
    let mut connection = PgConnection::connect(other.as_str()).await.unwrap();
    let drop = format!("drop database {name} with (force)");
    sqlx::raw_sql(sqlx::AssertSqlSafe(drop))
        .execute(&mut connection)
        .await
        .unwrap();

    let ready = studio
        .service
        .client
        .get(studio.service.url("/readyz"))
        .send()
        .await
        .unwrap();
    assert_eq!(ready.status(), 503);
    assert_eq!(
        ready.json::<Value>().await.unwrap(),
        json!({"database": "missing", "browser": "ok"})
    );
    let answer = studio.render("<p>", json!({})).await;
    assert_eq!(answer.status(), 503);
    let body = answer.text().await.unwrap();
    assert!(!body.contains(&name), "{body}");
    let logged = |process: &Process| process.log().contains(&name).then_some(());
    studio.service.process.wait_for(logged);
}
