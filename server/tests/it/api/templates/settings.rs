//! `/api/v1/templates/{id}/settings` and `…/schema`.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::studio::{Studio, problems};

#[tokio::test]
async fn a_strict_template_refuses_what_is_undefined() {
    let studio = Studio::start().await;
    let path = studio.template("Letter", "<p>Dear {{ name }}").await;
    let settings = format!("{path}/settings");
    let id = path.rsplit('/').next().unwrap();
    let part = json!({"type": "template", "content": {"template_id": id}});
    assert_eq!(studio.render(part.clone(), json!({})).await.status(), 200);

    let change = |settings_body: Value| studio.request(Method::PATCH, &settings).json(&settings_body).send();
    let changed = change(json!({"settings": {"strict": true}})).await.unwrap();
    assert_eq!(
        changed.json::<Value>().await.unwrap(),
        json!({"data": {"strict": true}})
    );
    let (pointer, detail) = studio.problem(part, json!({})).await;
    assert_eq!(pointer, "/parts/0");
    assert!(
        detail.contains("name") && detail.contains("Line 1, column "),
        "{detail}"
    );

    // An empty change has no effect, and settings don't create versions.
    assert_eq!(change(json!({"settings": {}})).await.unwrap().status(), 200);
    let got = studio.request(Method::GET, &settings).send().await.unwrap();
    assert_eq!(got.json::<Value>().await.unwrap(), json!({"data": {"strict": true}}));
    let versions = studio
        .request(Method::GET, &format!("{path}/versions"))
        .send()
        .await
        .unwrap();
    assert_eq!(
        versions.json::<Value>().await.unwrap()["data"]
            .as_array()
            .unwrap()
            .len(),
        1
    );

    let found = problems(change(json!({"settings": {"strict": 1, "x": 1}})).await.unwrap()).await;
    let pointers: Vec<_> = found.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(pointers, ["/settings/strict", "/settings/x"]);
}

#[tokio::test]
async fn a_strict_template_refuses_assets_that_do_not_exist() {
    let studio = Studio::start().await;
    let content = "<img src='asset:logo.svg' alt=''><style>p { background: url(asset:dots.svg) }</style><p>x";
    let path = studio.template("Letter", content).await;
    let id = path.rsplit('/').next().unwrap();
    let part = json!({"type": "template", "content": {"template_id": id}});
    // Others are not affected.
    let other = "<img src='asset:other.svg' alt=''>";
    let render = async || {
        let body = json!({"parts": [other, part], "output_encoding": "binary"});
        studio.send(&body).await
    };
    assert_eq!(render().await.status(), 200);
    let settings = json!({"settings": {"strict": true}});
    let change = studio
        .request(Method::PATCH, &format!("{path}/settings"))
        .json(&settings);
    assert_eq!(change.send().await.unwrap().status(), 200);
    let expected = ["asset:dots.svg", "asset:logo.svg"].map(|address| {
        let detail = format!(
            "The template is strict, and {address} doesn't exist. Upload it, add it to the request's assets, or correct \
             the name"
        );
        ("/parts/1".to_owned(), detail)
    });
    assert_eq!(problems(render().await).await, expected);
    for name in ["logo.svg", "dots.svg"] {
        studio.asset(name, b"<svg xmlns='http://www.w3.org/2000/svg'/>").await;
    }
    assert_eq!(render().await.status(), 200);
}

#[tokio::test]
async fn the_schema_says_what_a_context_needs_and_what_is_never_used() {
    let studio = Studio::start().await;
    let content = "{{ number }}{% for line in lines %}{{ line.price }}{% endfor %}";
    let path = studio.template("Invoice", content).await;
    let change = json!({"template": {"preview_context": {"number": 1, "lines": [{"price": 1, "sku": "x"}], "fax": 1}}});
    studio.request(Method::PATCH, &path).json(&change).send().await.unwrap();
    let answer = studio
        .request(Method::GET, &format!("{path}/schema"))
        .send()
        .await
        .unwrap();
    let inferred = answer.json::<Value>().await.unwrap()["data"].clone();
    assert_eq!(inferred["unused"], json!(["lines[].sku", "fax"]));
    let properties = &inferred["schema"]["properties"];
    assert!(properties["number"].is_object(), "{inferred}");
    assert!(
        properties["lines"]["items"]["properties"]["price"].is_object(),
        "{inferred}"
    );
}
