//! Partials: templates that others use by their handle.

use reqwest::{Method, Response};
use serde_json::{Value, json};

use super::{PATH, create};
use crate::support::{
    pdf,
    studio::{Studio, header, problems},
};

async fn update(studio: &Studio, path: &str, template: Value) -> Response {
    let request = studio.request(Method::PATCH, path).json(&json!({"template": template}));
    request.send().await.expect("an answer")
}

/// Returns pointer and detail of the only error.
async fn problem(answer: Response) -> (String, String) {
    let problems = problems(answer).await;
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems.into_iter().next().expect("one")
}

fn part(path: &str, context: &Value) -> Value {
    json!({"type": "template", "content": {"template_id": id(path), "context": context}})
}

fn id(path: &str) -> &str {
    path.rsplit('/').next().expect("an id")
}

/// Returns the text of the document that a template yields.
async fn text(studio: &Studio, path: &str) -> String {
    pdf::text(&studio.pdf(part(path, &json!({"name": "Ada"})), json!({})).await)
}

#[tokio::test]
async fn a_changed_partial_alters_no_template_until_that_is_published_again() {
    let studio = Studio::start().await;
    let logo = studio.partial("logo", "<b>Logo one</b>").await;
    studio
        .partial("letterhead", "{% include 'logo' %}<p>{% block body %}{% endblock %}")
        .await;
    let content = "{% extends 'letterhead' %}{% block body %}Dear {{ name }}{% endblock %}";
    let letter = studio.template("Letter", content).await;
    for (content, expected) in [("<b>Logo two</b>", "Logo one"), ("<b>Logo three</b>", "Logo one")] {
        studio.change_template(&logo, json!({"content": content})).await;
        let text = text(&studio, &letter).await;
        assert!(text.contains(expected) && text.contains("Dear Ada"), "{text}");
    }
    // A preview of the published version shows what renders print; unsaved content uses the published partials.
    let preview = async |body: Value| {
        let request = studio.request(Method::POST, &format!("{letter}/preview")).json(&body);
        let shown: Value = request.send().await.expect("an answer").json().await.expect("JSON");
        let pdf = shown["data"]["pdf"].as_str().expect("a PDF").to_owned();
        pdf::text(&base64::Engine::decode(&base64::prelude::BASE64_STANDARD, pdf).expect("Base64"))
    };
    assert!(preview(json!({"format": "pdf"})).await.contains("Logo one"));
    assert!(
        preview(json!({"format": "pdf", "content": content}))
            .await
            .contains("Logo three")
    );
    // Any update publishes the template.
    studio.change_template(&letter, json!({"name": "Letter, new"})).await;
    assert!(text(&studio, &letter).await.contains("Logo three"));
    let versions = "select string_agg(handle || ' ' || partial_version, ', ' order by version, handle)
                    from template_version_partials where template_id = ";
    let stored = studio.service.text(&format!("{versions}'{}'", id(&letter))).await;
    assert_eq!(stored, "letterhead 1, logo 1, letterhead 1, logo 3");
    studio.service.storage_is_counted().await;
}

#[tokio::test]
async fn a_restored_version_uses_the_published_partials() {
    let studio = Studio::start().await;
    let footer = studio.partial("footer", "Footer one").await;
    let letter = studio.template("Letter", "<p>First {% include 'footer' %}").await;
    studio.change_template(&letter, json!({"content": "<p>Second"})).await;
    studio.change_template(&footer, json!({"content": "Footer two"})).await;
    let restored = studio.request(Method::POST, &format!("{letter}/versions/1/restore"));
    assert_eq!(restored.send().await.expect("an answer").status(), 200);
    let text = text(&studio, &letter).await;
    assert!(text.contains("First Footer two"), "{text}");
    // The partial that it needs is gone.
    studio.change_template(&letter, json!({"content": "<p>Third"})).await;
    assert_eq!(
        studio
            .request(Method::DELETE, &footer)
            .send()
            .await
            .expect("an answer")
            .status(),
        204
    );
    let restored = studio.request(Method::POST, &format!("{letter}/versions/1/restore"));
    let (pointer, detail) = problem(restored.send().await.expect("an answer")).await;
    assert_eq!(pointer, "");
    assert!(
        detail.contains("Line 1, column 21") && detail.contains("there is no partial with this handle"),
        "{detail}"
    );
}

#[tokio::test]
async fn what_can_not_be_resolved_is_refused_where_it_is() {
    let studio = Studio::start().await;
    let document = json!({"name": "Cover", "handle": "cover", "content": "x"});
    assert_eq!(create(&studio, document).await.status(), 201);
    studio.partial("plain", "x").await;
    let large = "x".repeat(1 << 20);
    studio.partial("large", &large).await;
    studio.partial("larger", &format!("{large}y")).await;
    let outer = studio.partial("outer", "<p>\n{% include 'plain' %}").await;
    for (content, place, reason) in [
        ("{% include name %}", "Line 1, column 12", "constant text"),
        (
            "<p>\n{% extends 'Nothing' %}",
            "Line 2, column 12",
            "there is no partial with this handle",
        ),
        (
            "{% include 'Outr' %}",
            "Line 1, column 12",
            "with this handle; did you mean \"outer\"?",
        ),
        ("{% include 'cover' %}", "Line 1, column 12", "is a document"),
        (
            "{% include 'large' %}{% include 'larger' %}",
            "Line 1, column",
            "2097152 bytes together",
        ),
    ] {
        let (pointer, detail) = problem(create(&studio, json!({"name": "n", "content": content})).await).await;
        assert_eq!(pointer, "/template/content");
        assert!(
            detail.starts_with(place) && detail.contains(reason),
            "{content}: {detail}"
        );
    }
    // A cycle can only be closed by an update.
    let (pointer, detail) = problem(update(&studio, &outer, json!({"content": "{% include 'outer' %}"})).await).await;
    assert_eq!(pointer, "/template/content");
    assert!(detail.contains("outer → outer"), "{detail}");
    let inner = studio.partial("inner", "{% include 'outer' %}").await;
    let (_, detail) = problem(update(&studio, &outer, json!({"content": "\n{% include 'inner' %}"})).await).await;
    assert!(
        detail.starts_with("Partial inner, line 1, column 12") && detail.contains("outer → inner → outer"),
        "{detail}"
    );
    assert_eq!(
        text(&studio, &studio.template("n", "{% include 'inner' %}").await)
            .await
            .trim(),
        "x"
    );
    drop(inner);
}

#[tokio::test]
async fn errors_and_warnings_name_the_partial() {
    let studio = Studio::start().await;
    studio
        .partial("total", "<p>\nTotal: {{ total / count }}{{ nam }}")
        .await;
    let path = studio
        .template("Invoice", "<h1>Invoice</h1>{% include 'total' %}")
        .await;
    let (pointer, detail) = studio
        .problem(part(&path, &json!({"total": 1, "count": 0})), json!({}))
        .await;
    assert_eq!(pointer, "/parts/0");
    assert!(detail.starts_with("Partial total, line 2, column 11: "), "{detail}");
    assert!(
        detail.ends_with("the line is: Total: {{ total / count }}{{ nam }}"),
        "{detail}"
    );
    let answer = studio
        .render(part(&path, &json!({"total": 1, "count": 2})), json!({}))
        .await;
    let row = studio.recorded(header(&answer, "x-render-id")).await;
    let message = row["warnings"][0]["message"].as_str().expect("a warning");
    assert_eq!(
        message,
        "/parts/0: partial total, line 2, column 30: nam is undefined and counts as empty"
    );
    // Names that only a partial uses are part of the schema.
    let schema = studio
        .request(Method::GET, &format!("{path}/schema"))
        .send()
        .await
        .expect("an answer");
    let schema: Value = schema.json().await.expect("JSON");
    assert_eq!(schema["data"]["schema"]["required"], json!(["total", "count", "nam"]));
}

#[tokio::test]
async fn partials_are_not_rendered_and_documents_are_not_used() {
    let studio = Studio::start().await;
    let footer = studio.partial("footer", "x").await;
    let (pointer, detail) = studio.problem(part(&footer, &json!({})), json!({})).await;
    assert_eq!(pointer, "/parts/0/content/template_id");
    assert!(detail.starts_with("The template is a partial"), "{detail}");
    let queued = studio
        .service
        .queue(&studio.account, &json!({"parts": [part(&footer, &json!({}))]}))
        .await;
    assert_eq!(queued.status(), 422);
    // Its preview shows it alone.
    let preview = studio
        .request(Method::POST, &format!("{footer}/preview"))
        .json(&json!({}));
    assert_eq!(preview.send().await.expect("an answer").status(), 200);
}

#[tokio::test]
async fn kind_and_handle_are_optional_unique_and_stay_while_they_are_used() {
    let studio = Studio::start().await;
    let answer = create(
        &studio,
        json!({"name": "F", "content": "x", "kind": "partial", "handle": "footer"}),
    )
    .await;
    assert_eq!(answer.status(), 201);
    let footer = header(&answer, "location").to_owned();
    let body: Value = answer.json().await.expect("JSON");
    assert_eq!(
        (&body["data"]["kind"], &body["data"]["handle"]),
        (&json!("partial"), &json!("footer"))
    );
    let listed: Value = studio
        .request(Method::GET, PATH)
        .send()
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON");
    assert_eq!(listed["data"][0]["handle"], "footer");
    for (template, pointer, reason) in [
        (
            json!({"kind": "partial"}),
            "/template/handle",
            "A partial needs a handle",
        ),
        (
            json!({"handle": "footer"}),
            "/template/handle",
            "another one has \"footer\"",
        ),
        (
            json!({"handle": "Foot er"}),
            "/template/handle",
            "1 to 64 of the letters a to z",
        ),
        (
            json!({"handle": ""}),
            "/template/handle",
            "1 to 64 of the letters a to z",
        ),
        (json!({"kind": "layout"}), "/template/kind", "\"document\", \"partial\""),
    ] {
        let mut template = template;
        template["name"] = "n".into();
        template["content"] = "x".into();
        let (found, detail) = problem(create(&studio, template).await).await;
        assert_eq!(found, pointer);
        assert!(detail.contains(reason), "{detail}");
    }
    // No template uses it yet.
    studio
        .change_template(&footer, json!({"kind": "document", "handle": null}))
        .await;
    studio
        .change_template(&footer, json!({"kind": "partial", "handle": "foot"}))
        .await;
    let invoice = studio.template("Invoice", "{% include 'foot' %}").await;
    for (template, pointer) in [
        (json!({"handle": "footer"}), "/template/handle"),
        (json!({"kind": "document"}), "/template/kind"),
    ] {
        let (found, detail) = problem(update(&studio, &footer, template).await).await;
        assert_eq!(found, pointer);
        assert!(
            detail.ends_with("while published templates use the partial: Invoice"),
            "{detail}"
        );
    }
    let refused = studio.request(Method::DELETE, &footer).send().await.expect("an answer");
    assert_eq!(refused.status(), 409);
    let refused: Value = refused.json().await.expect("JSON");
    let message = refused["error"]["message"].as_str().expect("a message");
    assert!(
        message.starts_with("1 published template uses this partial: Invoice."),
        "{message}"
    );
    // A handle is free once its template is deleted.
    studio
        .request(Method::DELETE, &invoice)
        .send()
        .await
        .expect("an answer");
    assert_eq!(
        studio
            .request(Method::DELETE, &footer)
            .send()
            .await
            .expect("an answer")
            .status(),
        204
    );
    studio.partial("foot", "y").await;
}

#[tokio::test]
async fn handles_of_other_accounts_do_not_resolve() {
    let mut studio = Studio::start().await;
    studio.partial("footer", "Of Ann").await;
    let bob = studio.service.account("bob@example.org");
    studio.account = bob;
    let template = json!({"name": "n", "content": "{% include 'footer' %}"});
    let (_, detail) = problem(create(&studio, template).await).await;
    assert!(detail.contains("there is no partial with this handle"), "{detail}");
    studio.partial("footer", "Of Bob").await;
    let path = studio.template("n", "{% include 'footer' %}").await;
    assert_eq!(text(&studio, &path).await.trim(), "Of Bob");
}

#[tokio::test]
async fn a_queued_render_prints_the_partials_with_which_it_was_accepted() {
    let mut studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let footer = studio.partial("footer", "Footer one").await;
    let letter = studio
        .template("Letter", "<p>Dear {{ name }} {% include 'footer' %}")
        .await;
    let queued = studio
        .queued(&json!({"parts": [part(&letter, &json!({"name": "Ann"}))]}))
        .await;
    studio.change_template(&footer, json!({"content": "Footer two"})).await;
    studio.change_template(&letter, json!({})).await;
    for path in [&letter, &footer] {
        assert_eq!(
            studio
                .request(Method::DELETE, path)
                .send()
                .await
                .expect("an answer")
                .status(),
            204
        );
    }
    let aged = "update templates set deleted_at = deleted_at - interval '91 days';
                update renders set inserted_at = inserted_at - interval '91 days'";
    studio.service.execute(aged).await;
    let worker = studio.service.beside(&[]).await;
    let render = worker
        .shown_when(&studio.account, &queued, |render| !render["finished_at"].is_null())
        .await;
    assert_eq!(render["state"], "succeeded", "{render:#}");
    let name = render["result"]["name"].as_str().expect("a name");
    let document = worker
        .client
        .get(worker.url(&format!("/files/{name}")))
        .send()
        .await
        .expect("an answer");
    let text = pdf::text(&document.bytes().await.expect("a document"));
    assert!(text.contains("Dear Ann Footer one"), "{text}");
    drop(worker);
    // Both are deleted once no render refers to the template.
    studio
        .service
        .execute("update renders set object_expires_at = null")
        .await;
    for _ in 0..3 {
        studio.service.restart(rustix::process::Signal::TERM).await;
        studio.service.number_is(0, "select count(*) from renders").await;
    }
    studio.service.number_is(0, "select count(*) from templates").await;
    studio
        .service
        .number_is(0, "select count(*) from template_version_partials")
        .await;
    studio.service.storage_is_counted().await;
}

#[tokio::test]
async fn a_template_that_was_published_without_an_optional_partial_stays_without_it() {
    let studio = Studio::start().await;
    let optional = "{% include 'note' ignore missing %}";
    let letter = studio
        .template("Letter", &format!("<p>Dear {{{{ name }}}}{optional}"))
        .await;
    studio.partial("note", "Post scriptum").await;
    assert!(!text(&studio, &letter).await.contains("Post scriptum"));
    let preview = studio
        .request(Method::POST, &format!("{letter}/preview"))
        .json(&json!({"format": "pdf"}));
    let shown: Value = preview.send().await.expect("an answer").json().await.expect("JSON");
    let shown = shown["data"]["pdf"].as_str().expect("a PDF");
    let shown = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, shown).expect("Base64");
    assert!(!pdf::text(&shown).contains("Post scriptum"));
    studio.change_template(&letter, json!({})).await;
    assert!(text(&studio, &letter).await.contains("Post scriptum"));
}

#[tokio::test]
async fn names_that_are_no_handles_are_not_found() {
    let studio = Studio::start().await;
    let long = "a".repeat(100_000);
    for name in ["\\u0000", "Footer", "../footer", "", &long] {
        let content = format!("{{% include \"{name}\" %}}");
        let (pointer, detail) = problem(create(&studio, json!({"name": "n", "content": content})).await).await;
        assert_eq!(pointer, "/template/content");
        assert!(detail.contains("there is no partial with this handle"), "{detail}");
        assert!(detail.len() < 1_000, "{} bytes", detail.len());
    }
}

#[tokio::test]
async fn a_key_for_certain_templates_reads_no_other_partials() {
    let mut studio = Studio::start().await;
    studio.partial("footer", "Footer").await;
    studio.partial("secret", "Secret").await;
    let letter = studio
        .template("Letter", "<p>Dear {{ name }} {% include 'footer' %}")
        .await;
    let create = studio
        .service
        .create_key("ann@example.org", "n", &["--allow-template", id(&letter)]);
    studio.account.key = create.succeeded();
    assert!(text(&studio, &letter).await.contains("Footer"));
    let refused = async |content: &str| {
        problem(update(&studio, &letter, json!({"content": content})).await)
            .await
            .1
    };
    let unknown = refused("{% include 'nothing' %}").await.replace("nothing", "secret");
    assert_eq!(refused("{% include 'secret' %}").await, unknown);
    studio
        .change_template(&letter, json!({"content": "{% include 'footer' %}{{ name }}"}))
        .await;
    assert!(text(&studio, &letter).await.contains("Footer"));
}

/// Two partials that are published at the same time, each with the other, would use each other in a cycle.
#[tokio::test(flavor = "multi_thread")]
async fn partials_that_change_at_the_same_time_never_use_each_other() {
    let studio = Studio::start().await;
    let (a, b) = (studio.partial("a", "one").await, studio.partial("b", "one").await);
    let changed = |path: String, other: &'static str| {
        let body = json!({"template": {"content": format!("{{% include '{other}' %}}")}});
        let request = studio.request(Method::PATCH, &path).json(&body);
        async move { request.send().await.expect("an answer").status().as_u16() }
    };
    for _ in 0..5 {
        let statuses = tokio::join!(changed(a.clone(), "b"), changed(b.clone(), "a"));
        assert!(
            [statuses.0, statuses.1]
                .iter()
                .all(|status| [200, 422, 503].contains(status)),
            "{statuses:?}"
        );
        let used = "select count(*)::text from templates join template_version_partials used
             on used.template_id = templates.id and used.version = templates.published_version";
        assert!(["0", "1"].contains(&studio.service.text(used).await.as_str()));
        studio.change_template(&a, json!({"content": "two"})).await;
        studio.change_template(&b, json!({"content": "two"})).await;
    }
}
