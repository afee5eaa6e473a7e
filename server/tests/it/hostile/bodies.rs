//! Bodies that are expensive for other reasons than their size.

use futures::future::join_all;
use serde_json::{Value, json};

use crate::{
    support::{
        attack::{Answer, Plan, Stage},
        visitor::Visitor,
    },
    web::site,
};

const RENDER: &str = "/api/v1/renderers/pdf";
const QUEUE: &str = "/api/v1/renderers/pdf/async";
const TEMPLATES: &str = "/api/v1/templates";
const CONNECTIONS: &str = "/api/v1/connections";

/// A template that prints the number of rows.
const ROW_COUNT: &str = "<p>{{ rows|length }}</p>";
/// Maximum number of values in a body outside data, and in data.
const MOST_VALUES: usize = 10_000;
const MOST_DATA_VALUES: usize = 1_000_000;

/// Sends a body, asserts that the attack was harmless, and returns the response.
async fn attack(stage: &Stage, plan: Plan, path: &str, body: String) -> Answer {
    let report = stage
        .attack(plan, async |attacker| attacker.send(path, body).await)
        .await;
    report.was_harmless(plan);
    report.outcome
}

/// Attacks send more requests than a plan allows.
const NO_RATE: (&str, &str) = ("PLATEN_RATE_PER_MINUTE", "1000000");

fn ones(count: usize) -> String {
    format!("[{}]", vec!["1"; count].join(","))
}

fn with_parts(parts: &str) -> String {
    format!(r#"{{"output_encoding": "binary", "parts": {parts}}}"#)
}

/// Returns a body with one part for each context.
fn with_contexts(template: &str, contexts: &[String]) -> String {
    let part = |context: &String| {
        format!(r#"{{"type": "template", "content": {{"template_id": "{template}", "context": {context}}}}}"#)
    };
    let parts: Vec<_> = contexts.iter().map(part).collect();
    with_parts(&format!("[{}]", parts.join(",")))
}

/// Returns an object with one member.
fn data(value: &str) -> String {
    format!(r#"{{"rows": {value}}}"#)
}

#[tokio::test]
async fn parts_without_end_are_refused_at_the_first_one_too_many() {
    let stage = Stage::start(&[NO_RATE]).await;
    let plan = Plan::Free;
    for path in [RENDER, QUEUE] {
        let answer = attack(&stage, plan, path, with_parts(&ones(5_200_000))).await;
        assert!(
            answer.refused_at("/parts").contains("at most 50 items"),
            "{}",
            answer.body
        );
    }
    let million = with_parts(&ones(1_000_000));
    let report = stage
        .attack(plan, async |attacker| {
            join_all((0..6).map(|_| attacker.send(RENDER, million.clone()))).await
        })
        .await;
    report.was_harmless(plan);
    for answer in &report.outcome {
        answer.refused_at("/parts");
    }
    // The largest plan has the largest bodies.
    let answer = attack(&stage, Plan::Scale, RENDER, with_parts(&ones(26_000_000))).await;
    answer.refused_at("/parts");
}

#[tokio::test]
async fn members_without_end_are_refused_by_their_number() {
    let stage = Stage::start(&[NO_RATE]).await;
    let plan = Plan::Free;
    let members = |count: usize| -> Vec<_> { (0..count).map(|member| format!(r#""m{member}":1"#)).collect() };
    let unknown = format!("{{{}}}", members(800_000).join(","));
    let connection = format!(
        r#"{{"connection": {{"provider": "google_cloud_storage", "name": "n", "bucket": "bucket", "credentials": {unknown}}}}}"#
    );
    let settings = format!(r#"{{"settings": {unknown}}}"#);
    let id = stage.attacker(plan).template(ROW_COUNT).await;
    for (path, body) in [
        (RENDER, unknown.clone()),
        (TEMPLATES, unknown.clone()),
        (CONNECTIONS, connection),
        (
            &format!("{TEMPLATES}/{id}/preview"),
            format!(r#"{{"options": {unknown}}}"#),
        ),
    ] {
        let answer = attack(&stage, plan, path, body).await;
        assert!(
            answer.refused_at("").contains(&MOST_VALUES.to_string()),
            "{}",
            answer.body
        );
    }
    let changed = stage
        .service
        .client
        .patch(stage.service.url(&format!("{TEMPLATES}/{id}/settings")));
    let changed = changed
        .bearer_auth(&stage.attacker(plan).account.key)
        .header("content-type", "application/json");
    assert_eq!(changed.body(settings).send().await.expect("an answer").status(), 422);

    // Unknown members within the limit are listed up to a maximum.
    let answer = attack(
        &stage,
        plan,
        RENDER,
        format!("{{{}}}", members(MOST_VALUES - 1).join(",")),
    )
    .await;
    let errors = answer.body["errors"].as_array().expect("a list");
    assert_eq!(errors.len(), 201);
    let last = &errors[200];
    assert_eq!(last["source"]["pointer"], "");
    assert!(last["detail"].as_str().expect("text").contains("first 200"), "{last}");
}

#[tokio::test]
async fn names_and_texts_of_megabytes_come_to_short_answers() {
    let stage = Stage::start(&[NO_RATE]).await;
    let plan = Plan::Free;
    let long = "x".repeat(9_900_000);
    let member =
        |name: &str, value: &str| format!(r#"{{"parts": ["<p>"], "output_encoding": "binary", "{name}": {value}}}"#);
    for (body, pointer) in [
        (member(&long, "1"), ""),
        (with_parts(&format!(r#"["http://{long}/"]"#)), "/parts/0"),
        (
            with_parts(&format!(r#"[{{"type": "url", "content": "http://a/{long}"}}]"#)),
            "/parts/0/content",
        ),
        (with_parts(&format!(r#"["{long}"]"#)), "/parts/0"),
        (member("pages", &format!("\"{}1\"", "1,".repeat(4_900_000))), "/pages"),
        (
            member("wait_for", &format!(r#"{{"selector": "{long}", "attribute": "a"}}"#)),
            "/wait_for/selector",
        ),
        (
            member(
                "set_cookie",
                &format!(r#"{{"name": "a", "value": "b", "domain": "{long}"}}"#),
            ),
            "/set_cookie/domain",
        ),
        (member("scale", &"9".repeat(1_000_000)), ""),
    ] {
        let answer = attack(&stage, plan, RENDER, body).await;
        answer.refused_at(pointer);
        let length = answer.body.to_string().len();
        assert!(length < 4 << 20, "{pointer}: an answer of {length} bytes");
    }
    let key = json!({"connection": {"provider": "google_cloud_storage", "name": "n", "bucket": "bucket", "credentials": {
        "type": "service_account",
        "client_email": "a@b",
        "private_key_id": "1",
        "private_key": format!("-----BEGIN PRIVATE KEY-----\n{long}\n-----END PRIVATE KEY-----"),
    }}});
    let answer = attack(&stage, plan, CONNECTIONS, key.to_string()).await;
    answer.refused_at("/connection/credentials/private_key");
}

#[tokio::test]
async fn data_is_bounded_by_its_values() {
    let stage = Stage::start(&[NO_RATE]).await;
    let plan = Plan::Free;
    let id = stage.attacker(plan).template(ROW_COUNT).await;
    let preview = format!("{TEMPLATES}/{id}/preview");
    let three_million = data(&ones(3_000_000));
    let half = data(&ones(MOST_DATA_VALUES / 2));
    for (path, body, pointer) in [
        (
            RENDER,
            with_contexts(&id, std::slice::from_ref(&three_million)),
            "/parts/0/content/context",
        ),
        (
            RENDER,
            with_contexts(&id, &[half.clone(), half]),
            "/parts/1/content/context",
        ),
        (
            QUEUE,
            with_contexts(&id, std::slice::from_ref(&three_million)).replace(r#""output_encoding": "binary","#, ""),
            "/parts/0/content/context",
        ),
        (&preview, format!(r#"{{"context": {three_million}}}"#), "/context"),
        (
            TEMPLATES,
            format!(r#"{{"template": {{"name": "n", "content": "c", "preview_context": {three_million}}}}}"#),
            "/template/preview_context",
        ),
    ] {
        let answer = attack(&stage, plan, path, body).await;
        assert!(answer.refused_at(pointer).contains("values"), "{path}: {}", answer.body);
    }
    for (count, status) in [(200_000, 200), (300_000, 200)] {
        let answer = attack(&stage, plan, RENDER, with_contexts(&id, &[data(&ones(count))])).await;
        assert_eq!(answer.status, status, "{count}: {}", answer.body);
    }
    // The data of many parts is passed on part by part.
    let contexts: Vec<_> = (0..50).map(|_| data(&ones(MOST_DATA_VALUES / 50 - 2))).collect();
    let report = stage
        .attack(Plan::Scale, async |attacker| {
            let id = attacker.template(ROW_COUNT).await;
            attacker.send(RENDER, with_contexts(&id, &contexts)).await
        })
        .await;
    report.was_harmless(Plan::Scale);
    assert_eq!(report.outcome.status, 200, "{}", report.outcome.body);
}

#[tokio::test]
async fn data_in_odd_forms_is_refused_where_it_is_wrong() {
    let stage = Stage::start(&[NO_RATE]).await;
    let plan = Plan::Free;
    let id = stage.attacker(plan).template(ROW_COUNT).await;
    let context = |context: String| with_contexts(&id, &[context]);
    let repeated = format!("{{{}}}", vec![r#""a":1"#; 900_000].join(","));
    let keys: Vec<_> = (0..700_000).map(|key| format!(r#""{key:06}":1"#)).collect();
    let escaped: Vec<_> = (0..600_000).map(|key| format!(r#""\u0061{key:06}":1"#)).collect();
    for (body, pointer) in [
        (context(repeated), "/parts/0/content/context/a"),
        (
            context(data(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)))),
            "",
        ),
        (context(data(&"9".repeat(1_000_000))), ""),
        (context(data(&format!("\"{}\\ud800\"", "x".repeat(9_000_000)))), ""),
        (
            context(format!(r#"{{"{}": 1}}"#, "x".repeat(9_000_000))),
            "/parts/0/content/context",
        ),
    ] {
        attack(&stage, plan, RENDER, body).await.refused_at(pointer);
    }
    // The pointer of a deeply nested member with long names is long itself.
    let name = format!(r#""{}""#, "\\u0001".repeat(4000));
    let twice = vec![r#""a":1"#; 1000].join(",");
    let deep = format!("{}{{{twice}}}{}", format!("{{{name}:").repeat(100), "}".repeat(100));
    let answer = attack(&stage, plan, RENDER, context(deep)).await;
    assert_eq!(answer.status, 422);
    let length = answer.body.to_string().len();
    assert!(length < 4 << 20, "an answer of {length} bytes");
    let mut late = context(data(&format!("\"{}\"", "x".repeat(9_000_000)))).into_bytes();
    let end = late.len() - 20;
    late[end] = 0xff;
    let report = stage
        .attack(plan, async |attacker| attacker.send(RENDER, late).await)
        .await;
    report.was_harmless(plan);
    report.outcome.refused_at("");
    // Data within the limits results in a document, or reaches a limit of the worker process that fills the template.
    for body in [
        context(format!("{{{}}}", keys.join(","))),
        context(format!("{{{}}}", escaped.join(","))),
        context(data(&format!("0.{}1", "0".repeat(1_000_000)))),
        context(data(&format!("[{}]", " ".repeat(9_000_000)))),
    ] {
        let answer = attack(&stage, plan, RENDER, body).await;
        assert!(answer.status == 200 || answer.status == 422, "{}", answer.body);
        if answer.status == 422 {
            answer.refused_at("/parts/0");
        }
    }
}

#[tokio::test]
async fn drafts_and_previews_of_editors_are_bounded_too() {
    let site = site();
    let stage = Stage::start(&[NO_RATE, ("PLATEN_SITE_DIR", site.path().to_str().expect("text"))]).await;
    let plan = Plan::Free;
    let id = stage.attacker(plan).template(ROW_COUNT).await;
    let visitor = Visitor::log_in(&stage.service, "free@example.org").await;
    let many = data(&ones(500_000));
    // Long names above many members, whose paths would add up to gigabytes.
    let members: Vec<_> = (0..100_000).map(|member| format!(r#""{member}":1"#)).collect();
    let paths = format!(r#"{{"rows": [], "{}": {{{}}}}}"#, "x".repeat(4000), members.join(","));
    let wanted = |data: &str| {
        json!({"wanted": {
            "id": id, "content": "<p>{{ rows|length }}", "data": data, "dots_per_inch": 96, "page": 1,
            "paper": {"size": "A4", "landscape": false, "scale": "1", "margins": ["", "", "", ""],
                "prefer_css": false, "backgrounds": true},
        }})
    };
    let report = stage
        .attack(plan, async |_| {
            let draft = [
                ("id", id.clone()),
                ("seen", "1".to_owned()),
                ("template_name", "Rows".to_owned()),
                ("content", "<p>".to_owned()),
                ("data", many.clone()),
            ];
            let saved = visitor.call("save-template", &draft).await;
            let faulty = visitor.call_with_json("preview-template", &wanted(&many)).await;
            visitor.call_with_json("preview-template", &wanted(&paths)).await;
            (saved, faulty)
        })
        .await;
    report.was_harmless(plan);
    let (saved, faulty) = report.outcome;
    assert!(saved.to_string().contains("template_data"), "{saved}");
    assert!(faulty.to_string().contains("values"), "{faulty}");
    let path = format!("{TEMPLATES}/{id}/versions");
    let versions = stage.service.client.get(stage.service.url(&path));
    let versions = versions
        .bearer_auth(&stage.attacker(plan).account.key)
        .send()
        .await
        .expect("an answer");
    let versions: Value = versions.json().await.expect("JSON");
    assert_eq!(versions["data"].as_array().map(Vec::len), Some(1), "nothing was saved");
}
