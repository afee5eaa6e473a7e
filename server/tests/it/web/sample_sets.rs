//! Sets of sample data in the template editor.

use serde_json::{Value, json};

use super::{
    service_with, site,
    templates::{published, saved},
};
use crate::support::{editor::Editor, service::TestService, studio::header, visitor::Visitor};

const STORED: &str =
    "select coalesce(json_agg(json_build_array(name, data) order by template_id, position), '[]')::text
    from template_sample_sets";

async fn stored(service: &TestService) -> Value {
    serde_json::from_str(&service.text(STORED).await).expect("JSON")
}

/// Returns the value of the form's field for sets with these names and data. The first one is the default.
fn sets(default: &str, others: &[(&str, &str)]) -> String {
    let all = [("Default", default)].into_iter().chain(others.iter().copied());
    let all: Vec<_> = all.map(|(name, data)| json!({"name": name, "data": data})).collect();
    json!(all).to_string()
}

/// Saves a template with these sets, and returns the function's result.
async fn save(visitor: &Visitor, id: &str, seen: &str, sets: String) -> Value {
    let fields = saved(id, seen, "<p>{{ a }}").into_iter();
    let fields: Vec<_> = fields
        .map(|(name, value)| (name, value.to_owned()))
        .chain([("sets", sets)])
        .collect();
    visitor.call("save-template", &fields).await
}

/// Returns the sample data of the published version as the API has it.
async fn preview_context(service: &TestService, key: &str, id: &str) -> Value {
    let request = service.client.get(service.url(&format!("/api/v1/templates/{id}")));
    let answer = request.bearer_auth(key).send().await.expect("an answer");
    let body: Value = answer.json().await.expect("JSON");
    body["data"]["preview_context"].clone()
}

#[tokio::test]
async fn sets_are_saved_with_the_template_and_the_api_knows_the_first_one() {
    let editor = Editor::open().await;
    let Editor {
        service,
        account,
        ann,
        path,
        ..
    } = &editor;
    let id = path.rsplit('/').next().expect("an id");

    let both = sets(
        r#"{"a": 1}"#,
        &[(" Long  names ", r#"{"b": "ä", "a": 2}"#), ("<b>", "{}")],
    );
    let answer = save(ann, id, "1", both.clone()).await;
    assert_eq!(answer, json!({"version": 2, "published": 1}));
    assert_eq!(
        stored(service).await,
        json!([["Long names", {"b": "ä", "a": 2}], ["<b>", {}]])
    );
    service.storage_is_counted().await;
    // The same sets create no version, but changed ones do, so that other members notice them.
    assert_eq!(save(ann, id, "2", both.clone()).await["version"], 2);
    let fewer = sets(r#"{"a": 1}"#, &[("Long", r#"{"a": 3}"#)]);
    assert_eq!(save(ann, id, "2", fewer.clone()).await["version"], 3);
    let late = save(ann, id, "2", both).await;
    assert_eq!(late["Rejected"]["reason"], "saved_meanwhile", "{late}");
    assert_eq!(stored(service).await, json!([["Long", {"a": 3}]]));

    // The page contains all sets, and shows one of them.
    let page = ann.page(path).await;
    assert!(page.contains(r#"href="/dashboard/templates/"#), "{page}");
    assert!(page.contains("set=Long"), "{page}");
    let data = |page: &str| {
        let (_, field) = page.split_once("name=\"data\"").expect("the field");
        let (_, content) = field.split_once('>').expect("its content");
        content.split("</textarea>").next().expect("its end").trim().to_owned()
    };
    assert_eq!(data(&page), "{\n  \"a\": 1\n}");
    assert_eq!(data(&ann.page(&format!("{path}?set=Long")).await), "{\n  \"a\": 3\n}");
    assert_eq!(data(&ann.page(&format!("{path}?set=none")).await), "{\n  \"a\": 1\n}");

    let publish: Vec<_> = saved(id, "3", "<p>{{ a }}")
        .into_iter()
        .chain([("publish", "yes"), ("sets", &*fewer)])
        .collect();
    ann.submit("save-template", &publish).await;
    assert_eq!(published(service, account, path).await.1, "<p>{{ a }}");
    assert_eq!(preview_context(service, &account.key, id).await, json!({"a": 1}));
    // Changes by the API leave the other sets.
    let url = service.url(&format!("/api/v1/templates/{id}"));
    let change = json!({"template": {"preview_context": {"a": 7}}});
    let request = service.client.patch(url).bearer_auth(&account.key).json(&change);
    assert_eq!(request.send().await.expect("an answer").status(), 200);
    assert_eq!(stored(service).await, json!([["Long", {"a": 3}]]));
    assert_eq!(preview_context(service, &account.key, id).await, json!({"a": 7}));
}

#[tokio::test]
async fn a_form_without_scripts_saves_the_set_that_it_shows() {
    let editor = Editor::open().await;
    let Editor {
        service,
        account,
        ann,
        path,
        ..
    } = &editor;
    let id = path.rsplit('/').next().expect("an id");
    save(ann, id, "1", sets(r#"{"x": 1}"#, &[("Long", "{}"), ("Short", "{}")])).await;

    let form = |set: &'static str, seen: &'static str| {
        let fields = saved(id, seen, "<p>{{ a }}").into_iter();
        fields.chain([("set", set), ("publish", "yes")]).collect::<Vec<_>>()
    };
    ann.submit("save-template", &form("Long", "2")).await;
    assert_eq!(stored(service).await, json!([["Long", {"a": 1}], ["Short", {}]]));
    assert_eq!(preview_context(service, &account.key, id).await, json!({"x": 1}));
    ann.submit("save-template", &form("Default", "3")).await;
    assert_eq!(stored(service).await, json!([["Long", {"a": 1}], ["Short", {}]]));
    assert_eq!(preview_context(service, &account.key, id).await, json!({"a": 1}));

    let answer = ann.submit("save-template", &form("Gone", "4")).await;
    assert!(header(&answer, "location").contains("__err="));
    assert_eq!(stored(service).await, json!([["Long", {"a": 1}], ["Short", {}]]));
}

#[tokio::test]
async fn invalid_sets_are_refused_with_their_number() {
    let editor = Editor::open().await;
    let Editor { service, ann, path, .. } = &editor;
    let id = path.rsplit('/').next().expect("an id");

    let large = format!("{{\"x\": \"{}\"}}", "a".repeat((256 << 10) - 8));
    let named: Vec<_> = (0..20).map(|number| format!("{number}")).collect();
    let many: Vec<_> = named.iter().map(|name| (name.as_str(), "{}")).collect();
    let heavy: Vec<_> = named.iter().take(5).map(|name| (name.as_str(), &*large)).collect();
    let long = "ä".repeat(65);
    for (refused, problem) in [
        (
            sets("{}", &[("a", "{}"), ("A", "{}")]),
            json!({"name_taken": {"number": 3}}),
        ),
        (sets("{}", &[("default", "{}")]), json!({"name": {"number": 2}})),
        (
            sets("{}", &[("a", "{}"), (&long, "{}")]),
            json!({"name": {"number": 3}}),
        ),
        (sets("{}", &[("a", "[]")]), json!({"data": {"number": 2}})),
        (sets("{", &[("a", "{}")]), json!({"data": {"number": 1}})),
        (sets("{}", &many), json!("too_many")),
        (sets("{}", &heavy), json!("too_large")),
        ("[]".to_owned(), json!("unreadable")),
        ("{".to_owned(), json!("unreadable")),
    ] {
        let answer = save(ann, id, "1", refused).await;
        assert_eq!(
            answer["Rejected"]["reason"],
            json!({"sample_sets": problem}),
            "{answer}"
        );
    }
    // If there is only one, the error is that of the field.
    let answer = save(ann, id, "1", sets("{", &[])).await;
    assert_eq!(
        answer["Rejected"]["reason"],
        json!({"invalid": ["template_data"]}),
        "{answer}"
    );
    assert_eq!(stored(service).await, json!([]));
    assert!(ann.page(path).await.contains("Version 1, published"));

    let most = save(ann, id, "1", sets("{}", &many[..19])).await;
    assert_eq!(most["version"], 2, "{most}");
}

#[tokio::test]
async fn sets_follow_their_template_and_belong_to_its_account() {
    let editor = Editor::open().await;
    let Editor {
        service,
        account,
        ann,
        path,
        ..
    } = &editor;
    service.account("bob@example.org");
    let bob = Visitor::log_in(service, "bob@example.org").await;
    let id = path.rsplit('/').next().expect("an id");
    save(ann, id, "1", sets("{}", &[("Long", r#"{"a": 1}"#)])).await;

    assert_eq!(save(&bob, id, "2", sets("{}", &[("Of Bob", "{}")])).await, "NotFound");
    for page in [
        format!("{path}?set=Long"),
        format!("{path}/pages?older=1&newer=2&set=Long"),
    ] {
        assert_eq!(bob.get(&page).await.status(), 404, "{page}");
    }
    assert_eq!(stored(service).await, json!([["Long", {"a": 1}]]));

    let copy = ann.submit("duplicate-template", &[("id", id)]).await;
    let copy = header(&copy, "location").to_owned();
    assert_eq!(stored(service).await, json!([["Long", {"a": 1}], ["Long", {"a": 1}]]));
    service.storage_is_counted().await;
    assert!(ann.page(&copy).await.contains("set=Long"));

    let before = service.stored(account, "template_bytes").await;
    let name = "Letter <b>";
    ann.submit("delete-template", &[("id", id), ("confirmation", name)])
        .await;
    assert_eq!(stored(service).await, json!([["Long", {"a": 1}]]));
    assert!(service.stored(account, "template_bytes").await < before);
    service.storage_is_counted().await;
    service.limit_storage(account, "template_bytes", before).await;
    let copied = copy
        .rsplit('/')
        .next()
        .expect("an id")
        .split('?')
        .next()
        .expect("an id");
    let large = format!("{{\"x\": \"{}\"}}", "a".repeat(200 << 10));
    let full = save(ann, copied, "1", sets("{}", &[("Large", &large)])).await;
    assert!(full["Rejected"]["reason"]["storage_full"].is_object(), "{full}");
    service.storage_is_counted().await;
}

#[tokio::test]
async fn data_is_generated_from_the_template() {
    let site = site();
    let service = service_with(site.path()).await;
    service.account("ann@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let generate = async |content: &str, data: &str| {
        let fields = [("content", content.to_owned()), ("data", data.to_owned())];
        ann.call("generate-sample", &fields).await
    };
    let template = "{{ customer.name }} {{ due|date }}{% for line in lines %}{{ line.price|number(2) }}{% endfor %}";
    let generated = generate(template, r#"{"customer": {"id": 7}}"#).await;
    let data = generated["data"].as_str().expect("data");
    assert_eq!(
        serde_json::from_str::<Value>(data).expect("JSON"),
        json!({
            "customer": {"id": 7, "name": "Name"},
            "due": "2027-01-31",
            "lines": [{"price": 10}, {"price": 10}],
        })
    );
    let problem = generate("{{ faulty", "{}").await;
    assert!(
        problem["problem"]
            .as_str()
            .is_some_and(|words| words.starts_with("Line 1")),
        "{problem}"
    );
    let problem = generate("{{ a }}", "[").await;
    assert!(problem["problem"].is_string(), "{problem}");
}
