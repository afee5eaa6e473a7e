//! Requests that were stored by another release.

use platen_core::{clock, service::data_keys::data_key};
use platen_domain::{
    encryption::Place,
    ids::{AccountId, RenderId},
};
use serde_json::json;
use sqlx::PgPool;

use crate::support::{people::secret_keys, service::SECRET_KEY, studio::Studio};

const WORKER: (&str, &str) = ("PLATEN_ROLE", "worker");

/// Replaces the stored content of a queued render.
async fn store(studio: &Studio, render: &str, version: i16, content: &str) {
    let account = AccountId::parse(&studio.account.id).expect("an id");
    let id = RenderId::parse(render).expect("an id");
    let db = PgPool::connect(studio.service.database_url())
        .await
        .expect("a database");
    let key = data_key(&db, &secret_keys(SECRET_KEY), account, clock::now()).await;
    let place = Place::stored_request(account, id, version);
    let sealed = key
        .expect("a key")
        .encrypt(&place, [7; 12], content.as_bytes().to_vec());
    let changed = sqlx::query("update render_contents set version = $2, sealed = $3 where render_id = $1")
        .bind(id.0)
        .bind(version)
        .bind(sealed.expect("sealed"))
        .execute(&db)
        .await;
    assert_eq!(changed.expect("a change").rows_affected(), 1);
}

#[tokio::test]
async fn what_an_earlier_release_has_accepted_stays_accepted() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let id = studio.queued(&json!({"parts": ["<p>x"]})).await;
    // The current release doesn't accept such a body.
    let body = json!({"parts": ["<p>x"], "gone": {"since": "then"}, "size": "a5"}).to_string();
    assert_eq!(
        studio
            .service
            .queue(&studio.account, &serde_json::from_str(&body).unwrap())
            .await
            .status(),
        422
    );
    store(&studio, &id, 0, &body).await;
    let _worker = studio.service.beside(&[WORKER]).await;
    let render = studio.ended(&id).await;
    assert_eq!(
        (&render["state"], &render["error"]),
        (&json!("succeeded"), &json!(null))
    );
}

#[tokio::test]
async fn what_a_later_release_has_accepted_waits_for_a_worker_of_that_release() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let id = studio.queued(&json!({"parts": ["<p>x"]})).await;
    store(&studio, &id, 3, r#"{"unheard": "of"}"#).await;
    let _worker = studio.service.beside(&[WORKER]).await;
    studio
        .service
        .number_is(1, "select count(*) from jobs where failures > 0")
        .await;
    let render = studio.service.shown(&studio.account, &id).await;
    assert!(render["finished_at"].is_null(), "{render}");
}
