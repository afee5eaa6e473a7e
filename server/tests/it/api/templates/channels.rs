//! Channels of templates, and promotions of releases to them.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::{Connection as _, PgConnection};

use crate::support::{
    pdf,
    studio::{Studio, header, problems},
};

/// Gives the account channels, as its owner does before there are templates.
async fn set_channels(studio: &Studio, channels: &[&str], approval: bool) {
    let mut db = PgConnection::connect(studio.service.database_url())
        .await
        .expect("a database");
    let set = "update accounts set template_channels = $1, template_approval = $2";
    let set = sqlx::query(set).bind(channels).bind(approval).execute(&mut db).await;
    set.expect("channels");
}

fn part(path: &str, channel: Option<&str>) -> Value {
    let id = path.rsplit('/').next().expect("an id");
    let mut content = json!({"template_id": id});
    if let Some(channel) = channel {
        content["channel"] = channel.into();
    }
    json!({"type": "template", "content": content})
}

async fn text(studio: &Studio, path: &str, channel: Option<&str>) -> String {
    pdf::text(&studio.pdf(part(path, channel), json!({})).await)
        .trim()
        .to_owned()
}

async fn get(studio: &Studio, path: &str) -> Value {
    let answer = studio.request(Method::GET, path).send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    answer.json::<Value>().await.expect("JSON")["data"].take()
}

async fn post_promotion(studio: &Studio, path: &str, promotion: &Value) -> reqwest::Response {
    let request = studio.request(Method::POST, &format!("{path}/promotions"));
    let answer = request.json(&json!({"promotion": promotion})).send().await;
    answer.expect("an answer")
}

/// Requests a promotion, which must be accepted.
async fn promote(studio: &Studio, path: &str, promotion: Value) -> Value {
    let answer = post_promotion(studio, path, &promotion).await;
    assert_eq!(answer.status(), StatusCode::CREATED);
    answer.json::<Value>().await.expect("JSON")["data"].take()
}

/// Returns the problem of a promotion, which must be refused.
async fn refused(studio: &Studio, path: &str, promotion: Value) -> (String, String) {
    problems(post_promotion(studio, path, &promotion).await).await.remove(0)
}

/// Publishes a version with this text.
async fn publish(studio: &Studio, path: &str, text: &str) {
    studio
        .change_template(path, json!({"content": format!("<p>{text} {{% include 'footer' %}}")}))
        .await;
}

#[tokio::test]
async fn a_release_is_promoted_with_its_partials_and_rolled_back() {
    let studio = Studio::start().await;
    set_channels(&studio, &["development", "staging"], false).await;
    let channels = get(&studio, "/api/v1/channels").await;
    assert_eq!(
        channels,
        json!({"channels": ["development", "staging", "production"], "approval": false})
    );
    let footer = studio.partial("footer", "first").await;
    let path = studio.template("Letter", "<p>One {% include 'footer' %}").await;
    // Nothing has been promoted: production has no release, and requests without a channel mean production.
    assert_eq!(text(&studio, &path, Some("development")).await, "One first");
    for channel in [None, Some("production"), Some("staging")] {
        let (pointer, detail) = studio.problem(part(&path, channel), json!({})).await;
        assert_eq!(pointer, "/parts/0/content/channel");
        assert!(
            detail.contains("no release in") && detail.contains("Promote one"),
            "{detail}"
        );
    }
    let (_, detail) = studio.problem(part(&path, Some("qa")), json!({})).await;
    assert!(
        detail.contains("The account has development, staging, production"),
        "{detail}"
    );

    // One channel after the other.
    let (pointer, detail) = refused(&studio, &path, json!({"channel": "production", "version": 1})).await;
    assert_eq!(pointer, "/promotion/version");
    assert!(detail.contains("has not been in staging yet"), "{detail}");
    let done = promote(&studio, &path, json!({"channel": "staging", "version": 1})).await;
    assert_eq!(
        (&done["state"], &done["previous_version"]),
        (&json!("done"), &Value::Null)
    );
    promote(&studio, &path, json!({"channel": "production", "version": 1})).await;
    assert_eq!(text(&studio, &path, None).await, "One first");

    // A changed partial and a new version reach only the first channel.
    studio.change_template(&footer, json!({"content": "second"})).await;
    publish(&studio, &path, "Two").await;
    assert_eq!(text(&studio, &path, Some("development")).await, "Two second");
    assert_eq!(text(&studio, &path, Some("staging")).await, "One first");
    assert_eq!(text(&studio, &path, None).await, "One first");
    studio.change_template(&footer, json!({"content": "third"})).await;
    promote(&studio, &path, json!({"channel": "staging", "version": 2})).await;
    let promoted = promote(&studio, &path, json!({"channel": "production", "version": 2})).await;
    assert_eq!(promoted["previous_version"], 1);
    // The release has the partials with which it was published.
    assert_eq!(text(&studio, &path, None).await, "Two second");

    promote(&studio, &path, json!({"channel": "production", "version": 1})).await;
    assert_eq!(text(&studio, &path, None).await, "One first");
    let releases = get(&studio, &format!("{path}/channels")).await;
    let releases: Vec<_> = releases.as_array().expect("a list").iter().collect();
    let versions: Vec<_> = releases
        .iter()
        .map(|release| (&release["channel"], &release["version"]))
        .collect();
    assert_eq!(
        versions,
        [
            (&json!("development"), &json!(2)),
            (&json!("staging"), &json!(2)),
            (&json!("production"), &json!(1))
        ]
    );
    let listed = get(&studio, &format!("{path}/promotions?page_size=2")).await;
    let listed: Vec<_> = listed
        .as_array()
        .expect("a list")
        .iter()
        .map(|promotion| &promotion["version"])
        .collect();
    assert_eq!(listed, [1, 2]);
    studio.service.storage_is_counted().await;
}

#[tokio::test]
async fn renders_record_their_channel_and_version() {
    let studio = Studio::start().await;
    set_channels(&studio, &["staging"], false).await;
    let path = studio.template("Letter", "<p>One").await;
    promote(&studio, &path, json!({"channel": "production", "version": 1})).await;
    studio.change_template(&path, json!({"content": "<p>Two"})).await;
    // The same template twice, from different channels.
    let parts = json!({"parts": [part(&path, None), part(&path, Some("staging"))], "output_encoding": "binary"});
    let answer = studio.send(&parts).await;
    assert_eq!(answer.status(), 200);
    let id = header(&answer, "x-render-id").to_owned();
    let printed = pdf::text(&answer.bytes().await.expect("a document"));
    assert!(printed.contains("One") && printed.contains("Two"), "{printed}");
    let record = get(&studio, &format!("/api/v1/renders/{id}")).await;
    let kept: Vec<_> = record["options"]["parts"].as_array().expect("parts").iter().collect();
    assert_eq!((&kept[0]["version"], kept[0].get("channel")), (&json!(1), None));
    assert_eq!(
        (&kept[1]["version"], &kept[1]["channel"]),
        (&json!(2), &json!("staging"))
    );
}

#[tokio::test]
async fn a_key_for_a_channel_renders_and_releases_only_there() {
    let studio = Studio::start().await;
    set_channels(&studio, &["staging"], false).await;
    let path = studio.template("Letter", "<p>One").await;
    promote(&studio, &path, json!({"channel": "production", "version": 1})).await;
    let key = |channel: &str| {
        let arguments = ["--allow-channel", channel];
        studio.service.create_key("ann@example.org", channel, &arguments)
    };
    let unknown = key("qa");
    assert!(
        unknown.stderr.contains("the account has no channel qa"),
        "{}",
        unknown.stderr
    );
    let [of_staging, of_production] = ["staging", "production"].map(|channel| key(channel).succeeded());
    let ask = async |key: &str, method: Method, path: &str, body: Value| {
        let request = studio.service.client.request(method, studio.service.url(path));
        let answer = request.bearer_auth(key).json(&body).send().await.expect("an answer");
        (answer.status().as_u16(), answer.text().await.unwrap_or_default())
    };
    let render = async |key: &str, channel: Option<&str>| {
        let body = json!({"parts": [part(&path, channel)], "output_encoding": "binary"});
        ask(key, Method::POST, "/api/v1/renderers/pdf", body).await
    };
    let (status, refusal) = render(&of_staging, None).await;
    assert_eq!(status, 403);
    assert!(
        refusal.contains("for certain channels only, not for the channel production"),
        "{refusal}"
    );
    assert_eq!(render(&of_staging, Some("staging")).await.0, 200);
    assert_eq!(render(&of_production, Some("staging")).await.0, 403);
    assert_eq!(render(&of_production, None).await.0, 200);

    let new = json!({"template": {"name": "Other", "content": "<p>x"}});
    let change = json!({"template": {"content": "<p>Two"}});
    for (method, path, body) in [
        (Method::POST, "/api/v1/templates".to_owned(), new),
        (Method::PATCH, path.clone(), change),
        (Method::POST, format!("{path}/versions/1/restore"), Value::Null),
    ] {
        let (status, refusal) = ask(&of_production, method.clone(), &path, body.clone()).await;
        assert_eq!(status, 403, "{method} {path}: {refusal}");
        let (status, _) = ask(&of_staging, method.clone(), &path, body).await;
        assert!(status < 300, "{method} {path}: {status}");
    }
    // Kind, settings and deletion affect all channels.
    for (method, path, body) in [
        (
            Method::PATCH,
            path.clone(),
            json!({"template": {"kind": "partial", "handle": "letter"}}),
        ),
        (
            Method::PATCH,
            format!("{path}/settings"),
            json!({"settings": {"strict": true}}),
        ),
        (Method::DELETE, path.clone(), Value::Null),
    ] {
        let (status, refusal) = ask(&of_staging, method.clone(), &path, body).await;
        assert_eq!(status, 403, "{method} {path}: {refusal}");
    }
    let promotion = json!({"promotion": {"channel": "production", "version": 2}});
    let promotions = format!("{path}/promotions");
    assert_eq!(
        ask(&of_staging, Method::POST, &promotions, promotion.clone()).await.0,
        403
    );
    assert_eq!(ask(&of_production, Method::POST, &promotions, promotion).await.0, 201);
    // Its successor has the same restriction.
    let rotated = studio
        .service
        .text("select id::text from api_keys where name = 'staging'")
        .await;
    let successor = studio.service.command(&["keys", "rotate", &rotated], "").succeeded();
    assert_eq!(render(&successor, None).await.0, 403);
}

#[tokio::test]
async fn wrong_promotions_name_what_is_wrong() {
    let studio = Studio::start().await;
    let path = studio.template("Letter", "<p>One").await;
    let (pointer, detail) = refused(&studio, &path, json!({"channel": "production", "version": 1})).await;
    assert_eq!(pointer, "/promotion/channel");
    assert!(detail.contains("no channels but production"), "{detail}");
    // Without other channels, requests may name production.
    assert_eq!(text(&studio, &path, Some("production")).await, "One");
    set_channels(&studio, &["staging"], false).await;
    let partial = studio.partial("footer", "x").await;
    let (_, detail) = refused(&studio, &partial, json!({"channel": "production", "version": 1})).await;
    assert!(detail.starts_with("Partials have no channels"), "{detail}");
    let samples = json!({"samples": [{"name": "Long", "context": {}}]});
    let draft = studio
        .request(Method::PUT, &format!("{path}/samples"))
        .json(&samples)
        .send()
        .await;
    assert_eq!(draft.expect("an answer").status(), 200);
    for (promotion, pointer, words) in [
        (
            json!({"channel": "staging", "version": 1}),
            "/promotion/channel",
            "Publish the version instead",
        ),
        (
            json!({"channel": "qa", "version": 1}),
            "/promotion/channel",
            "are staging, production",
        ),
        (
            json!({"channel": "production", "version": 9}),
            "/promotion/version",
            "no published version 9",
        ),
        (
            json!({"channel": "production", "version": 2}),
            "/promotion/version",
            "no published version 2",
        ),
        (
            json!({"channel": "production", "version": 1, "due_at": "2020-01-01T00:00:00Z"}),
            "/promotion/due_at",
            "in the future",
        ),
        (
            json!({"channel": "production", "version": 1, "due_at": "2999-01-01T00:00:00Z"}),
            "/promotion/due_at",
            "within a year",
        ),
    ] {
        let (found, detail) = refused(&studio, &path, promotion.clone()).await;
        assert_eq!(found, pointer, "{promotion}");
        assert!(detail.contains(words), "{promotion}: {detail}");
    }
    assert_eq!(get(&studio, &format!("{path}/promotions")).await, json!([]));
}

#[tokio::test]
async fn a_scheduled_promotion_is_done_when_it_is_due_or_cancelled() {
    let studio = Studio::start().await;
    set_channels(&studio, &["staging"], false).await;
    let path = studio.template("Letter", "<p>One").await;
    let due_at = (time::OffsetDateTime::now_utc() + time::Duration::HOUR)
        .format(&time::format_description::well_known::Rfc3339)
        .expect("a time");
    let promotion = json!({"channel": "production", "version": 1, "due_at": due_at});
    let [first, second] = [
        promote(&studio, &path, promotion.clone()).await,
        promote(&studio, &path, promotion.clone()).await,
    ];
    assert_eq!(first["state"], "scheduled");
    studio.problem(part(&path, None), json!({})).await;

    let address = |promotion: &Value| format!("{path}/promotions/{}", promotion["id"].as_str().expect("an id"));
    let cancel = async |promotion: &Value| {
        let answer = studio.request(Method::DELETE, &address(promotion)).send().await;
        answer.expect("an answer").status()
    };
    assert_eq!(cancel(&second).await, 204);
    assert_eq!(cancel(&second).await, 409);
    let other = studio.template("Other", "<p>x").await;
    let elsewhere = format!("{other}/promotions/{}", first["id"].as_str().expect("an id"));
    let answer = studio
        .request(Method::DELETE, &elsewhere)
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.status(), 404);

    // An hour later.
    let mut db = PgConnection::connect(studio.service.database_url())
        .await
        .expect("a database");
    let hour = "update template_promotions set due_at = due_at - interval '2 hours'";
    sqlx::query(hour).execute(&mut db).await.expect("rows");
    let released = "select count(*) from template_channels where channel = 'production'";
    studio.service.number_is(1, released).await;
    assert_eq!(text(&studio, &path, None).await, "One");
    let listed = get(&studio, &format!("{path}/promotions")).await;
    let states: Vec<_> = listed
        .as_array()
        .expect("a list")
        .iter()
        .map(|promotion| &promotion["state"])
        .collect();
    assert_eq!(states, ["cancelled", "done"]);

    for _ in 0..20 {
        promote(&studio, &path, promotion.clone()).await;
    }
    let (_, detail) = refused(&studio, &path, promotion).await;
    assert!(detail.starts_with("At most 20 promotions"), "{detail}");
    // A deleted template has none that wait.
    let answer = studio.request(Method::DELETE, &path).send().await.expect("an answer");
    assert_eq!(answer.status(), 204);
    let waiting = "select count(*) from template_promotions where ended_at is null";
    assert_eq!(studio.service.number(waiting).await, 0);
}
