//! The secret key can be replaced without losing encrypted data.

use platen_core::{
    clock,
    service::people::{confirm, second_factor::Shown},
};
use serde_json::json;
use time::Duration;

use crate::support::{
    command::{Answer, platen, run},
    people::{PASSWORD, Town},
    service::SECRET_KEY,
    studio::Studio,
};

#[tokio::test]
async fn what_is_sealed_opens_under_the_new_key() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let new_key = "f".repeat(64);
    let (new, former) = (
        ("PLATEN_SECRET_KEY", new_key.as_str()),
        ("PLATEN_FORMER_SECRET_KEY", SECRET_KEY),
    );
    let command = |arguments: &[&str], keys: &[(&str, &str)]| -> Answer {
        let mut command = platen();
        command
            .env("DATABASE_URL", studio.service.database_url())
            .envs(keys.iter().copied());
        run(command, arguments, "")
    };
    let secret = ["accounts", "webhook-secret", "--email", "ann@example.org"];
    let before = command(&secret, &[("PLATEN_SECRET_KEY", SECRET_KEY)]).succeeded();
    let town = Town::at(studio.service.database_url()).await;
    let mut browser = town.browser("192.0.2.1");
    let ann = town.log_in(&mut browser, "ann@example.org", PASSWORD).await.unwrap();
    let client = browser.client.clone();
    let (app, _) = town.set_up_second_factor(&mut browser, ann, clock::now()).await;
    let queued = [
        studio.queued(&json!({"parts": ["<p>1"]})).await,
        studio.queued(&json!({"parts": ["<p>2"]})).await,
    ];

    // The new key alone doesn't work before the rewrap; both keys together always work.
    let refused = command(&secret, &[new]);
    assert_ne!(refused.code, Some(0));
    assert!(
        refused.stderr.contains("another PLATEN_SECRET_KEY"),
        "{}",
        refused.stderr
    );
    assert_eq!(command(&secret, &[new, former]).succeeded(), before);
    assert_eq!(command(&["secret-key", "rewrap"], &[new, former]).succeeded(), "2");
    assert_eq!(command(&["secret-key", "rewrap"], &[new, former]).succeeded(), "0");
    assert_eq!(command(&secret, &[new]).succeeded(), before);
    let town = Town::with_key(studio.service.database_url(), &new_key).await;
    let now = clock::now() + Duration::seconds(30);
    let code = Shown::Code(app.code_at(now).into());
    let proved = browser
        .visit(async |session| confirm::by_second_factor(&town.people, session, ann, &client, &code, now).await)
        .await;
    assert!(proved.is_ok(), "{proved:?}");
    assert_ne!(command(&secret, &[("PLATEN_SECRET_KEY", SECRET_KEY)]).code, Some(0));

    let _worker = studio.service.beside(&[("PLATEN_ROLE", "worker"), new]).await;
    for id in queued {
        assert_eq!(studio.ended(&id).await["state"], "succeeded");
    }
}
