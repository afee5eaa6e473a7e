//! Template parts: filled from their published version, with warnings for their authors.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    origin::Origin,
    pdf,
    studio::{Studio, body, header, problems},
};

/// Returns a part that fills the template at this path.
fn part(path: &str, context: &Value) -> Value {
    let id = path.rsplit('/').next().expect("an id");
    json!({"type": "template", "content": {"template_id": id, "context": context}})
}

#[tokio::test]
async fn a_template_is_filled_with_the_context_and_printed_among_other_parts() {
    let studio = Studio::start().await;
    let html = "<title>Invoice {{ number }}</title><h1>For {{ customer.name }}</h1>\
                   {% for line in lines %}<p>{{ line.what }}: {{ line.price|currency('EUR') }}</p>{% endfor %}";
    let path = studio.template("Invoice", html).await;
    let context = json!({
        "number": 7,
        "customer": {"name": "Ada & <b>Sons</b>"},
        "lines": [{"what": "Ink", "price": 9.5}, {"what": "Paper", "price": "1200"}],
    });
    let request = json!({"parts": [part(&path, &context), "<p>Terms"], "output_encoding": "binary"});
    let answer = studio.send(&request).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(header(&answer, "x-pdf-conformance"), "PDF/A-2a");
    let row = studio.recorded(header(&answer, "x-render-id")).await;
    let text = pdf::text(&answer.bytes().await.unwrap());
    for expected in ["For Ada & <b>Sons</b>", "Ink: €9.50", "Paper: €1,200.00", "Terms"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let id = path.rsplit('/').next().unwrap();
    assert_eq!(
        row["options"]["parts"],
        json!([{"type": "template", "template_id": id, "version": 1}, {"type": "html", "bytes": 8}])
    );
    assert_eq!(row["warnings"], json!([]));
    assert!(!row.to_string().contains("Ada"), "{row}");
}

#[tokio::test]
async fn what_is_undefined_is_a_warning_with_its_place_and_the_preview_context_is_not_used() {
    let studio = Studio::start().await;
    let path = studio
        .template("Letter", "<p>\nDear {{ name }}, {{ customer.adress }}!")
        .await;
    let change = json!({"template": {"preview_context": {"name": "Sample"}}});
    studio.request(Method::PATCH, &path).json(&change).send().await.unwrap();
    let answer = studio.render(part(&path, &json!({"customer": {}})), json!({})).await;
    assert_eq!(answer.status(), 200);
    let row = studio.recorded(header(&answer, "x-render-id")).await;
    let text = pdf::text(&answer.bytes().await.unwrap());
    assert!(text.contains("Dear , !"), "{text}");
    let warnings: Vec<_> = row["warnings"].as_array().unwrap().iter().collect();
    assert_eq!(warnings.len(), 2, "{row}");
    assert!(warnings.iter().all(|warning| warning["code"] == "template_undefined"));
    let message = warnings[1]["message"].as_str().unwrap();
    assert!(
        message.starts_with("/parts/0: line 2, column") && message.contains("customer.adress"),
        "{message}"
    );
    assert_eq!(row["options"]["parts"][0]["version"], 2);
}

#[tokio::test]
async fn templates_that_the_account_does_not_have_are_all_listed_and_nothing_is_rendered() {
    let studio = Studio::start().await;
    let stranger = studio.service.account("bob@example.org");
    let own = studio.template("Own", "x").await;
    let deleted = studio.template("Deleted", "x").await;
    studio.request(Method::DELETE, &deleted).send().await.unwrap();
    let unknown = "/01939f2e-0000-7000-8000-000000000000".to_owned();
    let nothing = json!({});
    let parts = json!([part(&unknown, &nothing), part(&own, &nothing), part(&deleted, &nothing)]);
    let answer = studio.send(&json!({"parts": parts, "output_encoding": "binary"})).await;
    assert_eq!(
        studio.recorded(header(&answer, "x-render-id")).await["status"],
        "failed"
    );
    let pointers: Vec<_> = problems(answer).await.into_iter().map(|(pointer, _)| pointer).collect();
    assert_eq!(
        pointers,
        ["/parts/0/content/template_id", "/parts/2/content/template_id"]
    );

    let foreign = studio.service.client.post(studio.service.url("/api/v1/renderers/pdf"));
    let foreign = foreign
        .bearer_auth(&stranger.key)
        .json(&body(part(&own, &nothing), json!({})));
    let found = problems(foreign.send().await.unwrap()).await;
    assert_eq!(found[0].0, "/parts/0/content/template_id");
    assert!(found[0].1.starts_with("No such template"), "{found:?}");
}

#[tokio::test]
async fn a_template_that_cannot_be_filled_is_told_at_its_part_with_its_line() {
    let studio = Studio::start().await;
    let path = studio.template("Sum", "<p>\n  {{ 1 + items }}").await;
    let request = json!({"parts": ["<p>x", part(&path, &json!({"items": []}))], "output_encoding": "binary"});
    let answer = studio.send(&request).await;
    let row = studio.recorded(header(&answer, "x-render-id")).await;
    let found = problems(answer).await;
    assert_eq!((found.len(), found[0].0.as_str()), (1, "/parts/1"));
    let detail = &found[0].1;
    assert!(
        detail.starts_with("Line 2, column ") && detail.ends_with("  {{ 1 + items }}"),
        "{detail}"
    );
    assert_eq!(
        (&row["status"], &row["error"]["pointer"]),
        (&json!("failed"), &json!("/parts/1"))
    );
}

#[tokio::test]
async fn a_filled_template_has_an_opaque_origin() {
    let origin = Origin::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let path = studio
        .template(
            "Origin",
            "<p id=o></p><script>o.textContent = 'origin ' + origin</script>",
        )
        .await;
    let pdf = studio.pdf(part(&path, &json!({})), json!({})).await;
    assert!(pdf::text(&pdf).contains("origin null"));
}

#[tokio::test]
async fn hostile_templates_end_by_their_limits_while_another_account_renders() {
    let studio = Studio::start().await;
    let other = studio.service.account("bob@example.org");
    let hostile = [
        "{% for a in range(99999) %}{% for b in range(99999) %}{{ a }}{% endfor %}{% endfor %}",
        "{{ '%1000000000d'|format(1) }}",
        "{{ ('a\\n' * 100000)|indent(1000000) }}",
        "{{ ('a' * 10000)|replace('a', 'a' * 10000)|replace('a', 'a' * 10000) }}",
        "{{ range(99999)|join('x' * 100000) }}",
        "{{ [1]|batch(1000000000, 'x') }}",
        "{{ [1]|slice(1000000000) }}",
        "{% set ns = namespace(s='x') %}{% for i in range(40) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s }}",
        "{% set s = 'x' * 10000000 %}{% for i in range(100000) %}{% if 'y' ~ i in s %}{% endif %}{% endfor %}",
    ];
    for (number, content) in hostile.into_iter().enumerate() {
        let path = studio.template(&number.to_string(), content).await;
        let attack = async {
            let from = Instant::now();
            let answer = studio.render(part(&path, &json!({})), json!({})).await;
            (problems(answer).await, from.elapsed())
        };
        let served = async {
            let request = studio.service.client.post(studio.service.url("/api/v1/renderers/pdf"));
            let request = request.bearer_auth(&other.key).json(&body("<p>Served", json!({})));
            request.send().await.unwrap().status()
        };
        let ((found, took), served) = tokio::join!(attack, served);
        println!("{took:>8.0?}  {}  {content}", found[0].1);
        assert_eq!((found.len(), found[0].0.as_str()), (1, "/parts/0"), "{content}");
        // The limit is two seconds of wall-clock time; machines that run tests are busy.
        assert!(took < Duration::from_secs(10), "{took:?}: {content}");
        assert_eq!(served, 200);
    }
}
