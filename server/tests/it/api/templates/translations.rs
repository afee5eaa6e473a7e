//! Translations of templates.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    pdf,
    studio::{Studio, header, problems},
};

const CONTENT: &str =
    "<html lang=\"{{ language }}\"><p>{{ t('greeting', name=name) }} {{ t('pages', count=2) }} {{ 1234.5|number }}";

fn translations() -> Value {
    json!({
        "de": {"greeting": "Guten Tag, {name}!", "pages": {"one": "{count} Seite", "other": "{count} Seiten"}},
        "en": {"greeting": "Hello, {name}!", "pages": {"one": "{count} page", "other": "{count} pages"}},
    })
}

fn part(path: &str) -> Value {
    let id = path.rsplit('/').next().expect("an id");
    json!({"type": "template", "content": {"template_id": id, "context": {"name": "Ann"}}})
}

async fn text(studio: &Studio, path: &str, options: Value) -> String {
    pdf::text(&studio.pdf(part(path), options).await).trim().to_owned()
}

async fn get(studio: &Studio, path: &str) -> Value {
    let answer = studio.request(Method::GET, path).send().await.expect("an answer");
    answer.json::<Value>().await.expect("JSON")["data"].take()
}

#[tokio::test]
async fn a_document_has_the_texts_of_the_requested_language() {
    let studio = Studio::start().await;
    let path = studio.template("Letter", CONTENT).await;
    let before = get(&studio, &path).await;
    assert_eq!(before.get("translations"), None);
    studio
        .change_template(&path, json!({"translations": translations()}))
        .await;
    for (language, expected) in [
        (Value::Null, "Guten Tag, Ann! 2 Seiten 1.234,5"),
        (json!("en-GB"), "Hello, Ann! 2 pages 1,234.5"),
        (json!("de-CH"), "Guten Tag, Ann! 2 Seiten 1'234.5"),
        (json!("fr"), "Guten Tag, Ann! 2 Seiten 1.234,5"),
    ] {
        let options = match &language {
            Value::Null => json!({}),
            language => json!({"language": language}),
        };
        assert_eq!(text(&studio, &path, options).await, expected, "{language}");
    }
    // A change of other members keeps them, and so do versions and copies.
    studio.change_template(&path, json!({"name": "Brief"})).await;
    assert_eq!(get(&studio, &path).await["translations"], translations());
    assert_eq!(
        get(&studio, &format!("{path}/versions/2")).await["translations"],
        translations()
    );
    assert_eq!(
        get(&studio, &format!("{path}/versions/1")).await.get("translations"),
        None
    );
    let languages: Vec<_> = get(&studio, &path).await["translations"]
        .as_object()
        .expect("an object")
        .keys()
        .cloned()
        .collect();
    assert_eq!(languages, ["de", "en"]);
    studio.service.storage_is_counted().await;
}

#[tokio::test]
async fn missing_texts_are_warnings_and_errors_of_strict_templates() {
    let studio = Studio::start().await;
    let path = studio.template("Letter", "<p>{{ t('alpha') }}\n{{ t('beta') }}").await;
    let translations = json!({"en": {"alpha": "Alpha"}, "fr": {}});
    studio
        .change_template(&path, json!({"translations": translations}))
        .await;
    let answer = studio.render(part(&path), json!({"language": "fr"})).await;
    let render = format!("/api/v1/renders/{}", header(&answer, "x-render-id"));
    assert_eq!(pdf::text(&answer.bytes().await.expect("a body")).trim(), "Alpha beta");
    let warnings = get(&studio, &render).await["warnings"].take();
    let warnings: Vec<_> = warnings
        .as_array()
        .expect("a list")
        .iter()
        .map(|warning| (warning["code"].as_str().unwrap(), warning["message"].as_str().unwrap()))
        .collect();
    let [(code, first), (_, second)] = warnings.as_slice() else {
        panic!("{warnings:?}");
    };
    assert_eq!(*code, "template_translation");
    assert!(first.contains("line 1, column ") && first.contains("fr"), "{first}");
    assert!(
        second.contains("line 2, column ") && second.contains("beta"),
        "{second}"
    );

    let strict = json!({"settings": {"strict": true}});
    let change = studio.request(Method::PATCH, &format!("{path}/settings")).json(&strict);
    assert_eq!(change.send().await.unwrap().status(), 200);
    let (pointer, detail) = studio.problem(part(&path), json!({"language": "fr"})).await;
    assert_eq!(pointer, "/parts/0");
    assert!(detail.contains("Line 1, column "), "{detail}");
}

#[tokio::test]
async fn partials_previews_and_drafts_keep_translations() {
    let studio = Studio::start().await;
    let partial = studio
        .partial("footer", "<p>{{ t('thanks') }} {{ t('company') }}")
        .await;
    let texts =
        json!({"en": {"thanks": "Thanks", "company": "Platen"}, "de": {"thanks": "Danke", "company": "Platen"}});
    studio.change_template(&partial, json!({"translations": texts})).await;
    let path = studio
        .template("Letter", "{{ t('title') }}{% include 'footer' %}")
        .await;
    let own = json!({"de": {"title": "Brief", "company": "Finch"}, "en": {"title": "Letter"}});
    studio.change_template(&path, json!({"translations": own})).await;
    let words = async |options| {
        let text = text(&studio, &path, options).await;
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(words(json!({})).await, "Brief Danke Finch");
    assert_eq!(words(json!({"language": "en"})).await, "Letter Thanks Platen");
    // The published template keeps the version of its partial.
    let shorter = json!({"en": {"thanks": "Thx", "company": "Platen"}, "fr": {"thanks": "Merci"}});
    studio.change_template(&partial, json!({"translations": shorter})).await;
    assert_eq!(words(json!({"language": "en"})).await, "Letter Thanks Platen");

    // A template without translations has those of its partials.
    let plain = studio.template("Plain", "{% include 'footer' %}").await;
    assert_eq!(text(&studio, &plain, json!({"language": "de"})).await, "Thx Platen");
    assert_eq!(text(&studio, &plain, json!({"language": "fr"})).await, "Merci Platen");

    let preview = json!({"format": "pdf", "content": "{{ t('title') }}", "options": {"language": "en"}});
    let request = studio.request(Method::POST, &format!("{path}/preview")).json(&preview);
    let answer: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(answer["data"]["warnings"], json!([]));
    // The sets are saved with a draft, which has the translations, too.
    let sets = json!({"samples": [{"name": "Other", "context": {}}]});
    let request = studio.request(Method::PUT, &format!("{path}/samples")).json(&sets);
    assert_eq!(request.send().await.unwrap().status(), 200);
    assert_eq!(get(&studio, &format!("{path}/versions/3")).await["translations"], own);
}

#[tokio::test]
async fn faulty_translations_are_refused_where_they_are() {
    let studio = Studio::start().await;
    let path = studio.template("Letter", "x").await;
    let translations = json!({"de": {"a": 1, "b": {"one": "x"}, "c": "{"}, "no tag": {}, "fr": []});
    let body = json!({"template": {"translations": translations}});
    let answer = studio.request(Method::PATCH, &path).json(&body).send().await.unwrap();
    let found = problems(answer).await;
    let pointers: Vec<_> = found.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(pointers, ["/template/translations/fr"]);
    let translations = json!({"de": {"a": 1, "b": {"one": "x"}, "c": "{"}, "no tag": {}});
    let body = json!({"template": {"translations": translations}});
    let answer = studio.request(Method::PATCH, &path).json(&body).send().await.unwrap();
    let pointers: Vec<_> = problems(answer).await.into_iter().map(|(pointer, _)| pointer).collect();
    let of = |member: &str| format!("/template/translations/{member}");
    assert_eq!(pointers, [of("de/a"), of("de/b"), of("de/c"), of("no tag")]);
}

#[tokio::test]
async fn unsaved_translations_are_previewed_and_compared() {
    let studio = Studio::start().await;
    let path = studio
        .template("Letter", "<style>@page { size: a6 }</style>{{ t('title') }}")
        .await;
    studio
        .change_template(&path, json!({"translations": {"en": {"title": "Letter"}}}))
        .await;
    let post = async |operation: &str, body: Value| {
        let request = studio.request(Method::POST, &format!("{path}/{operation}")).json(&body);
        request.send().await.expect("an answer")
    };
    let unsaved = json!({"de": {"title": "Ein langer Brief"}});
    let preview = json!({"format": "pdf", "translations": unsaved});
    let answer: Value = post("preview", preview).await.json().await.expect("JSON");
    assert_eq!(answer["data"]["warnings"], json!([]));
    let document = BASE64_STANDARD.decode(answer["data"]["pdf"].as_str().expect("a document"));
    let printed = pdf::text(&document.expect("base64"));
    assert!(printed.contains("Ein langer Brief"), "{printed}");
    let compared: Value = post("compare", json!({"translations": unsaved}))
        .await
        .json()
        .await
        .expect("JSON");
    assert_eq!(compared["data"]["pages"][0]["change"], "changed", "{compared}");
    let compared: Value = post("compare", json!({})).await.json().await.expect("JSON");
    assert_eq!(compared["data"]["pages"][0]["change"], "unchanged", "{compared}");
    for operation in ["preview", "compare"] {
        let refused = problems(post(operation, json!({"translations": {"de": {"title": 1}}})).await).await;
        assert_eq!(refused[0].0, "/translations/de/title");
    }
}
