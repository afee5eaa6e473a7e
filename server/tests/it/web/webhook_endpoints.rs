//! Webhook endpoints of accounts, and the events that they receive.

use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{service_reaching, site};
use crate::support::{
    background::parsed,
    receiver::{Received, Receiver},
    service::{TestAccount, TestService},
    studio::{body, header},
    visitor::Visitor,
};

const PAGE: &str = "/dashboard/webhooks";

/// A service that may deliver to a receiver, with Ann's account.
struct Stage {
    _site: TempDir,
    receiver: Receiver,
    service: TestService,
    account: TestAccount,
    ann: Visitor,
}

impl Stage {
    async fn set(arguments: &[&str]) -> Self {
        let (site, receiver) = (site(), Receiver::start().await);
        let service = service_reaching(&receiver.authority, site.path()).await;
        let account = service.account_with("ann@example.org", arguments);
        let ann = Visitor::log_in(&service, "ann@example.org").await;
        Self {
            _site: site,
            receiver,
            service,
            account,
            ann,
        }
    }

    /// Creates an endpoint at a path of the receiver, and returns its id.
    async fn endpoint(&self, path: &str, events: &[&str]) -> String {
        let names: Vec<_> = (0..events.len()).map(|index| format!("events[{index}]")).collect();
        let url = self.receiver.url(path);
        let mut fields = vec![("webhook_url", url.as_str()), ("endpoint_description", path)];
        fields.extend(names.iter().map(String::as_str).zip(events.iter().copied()));
        let answer = self.ann.submit("create-webhook-endpoint", &fields).await;
        assert_eq!(header(&answer, "location"), "/dashboard/webhooks?done=created");
        self.service
            .text("select id::text from webhook_endpoints order by id desc limit 1")
            .await
    }

    /// Renders synchronously with a key, and returns the status.
    async fn render(&self, key: &str, html: &str, options: Value) -> u16 {
        let request = self.service.client.post(self.service.url("/api/v1/renderers/pdf"));
        let request = request.bearer_auth(key).json(&body(html, options));
        request.send().await.expect("an answer").status().as_u16()
    }

    /// Creates a resource of the API, and returns it.
    async fn ask(&self, path: &str, body: &Value) -> Value {
        let request = self.service.client.post(self.service.url(&format!("/api/v1/{path}")));
        let answer = request.bearer_auth(&self.account.key).json(body).send().await;
        let mut answer: Value = answer.expect("an answer").json().await.expect("JSON");
        answer["data"].take()
    }

    /// Submits a form about an endpoint, and returns the word for what was done.
    async fn submit(&self, function: &str, id: &str, fields: &[(&str, &str)]) -> String {
        let fields: Vec<_> = fields.iter().copied().chain([("subject", id)]).collect();
        let answer = self.ann.submit(function, &fields).await;
        let location = header(&answer, "location").to_owned();
        location
            .rsplit_once("?done=")
            .map_or(location.clone(), |(_, done)| done.to_owned())
    }

    fn secret(&self) -> String {
        let command = ["accounts", "webhook-secret", "--email", "ann@example.org"];
        self.service.command(&command, "").succeeded()
    }
}

/// Returns type and data of an event whose envelope is correct.
fn event(received: &Received) -> (String, Value) {
    assert_eq!(received.headers["content-type"], "application/json");
    let id = received.headers["webhook-id"].to_str().expect("text");
    assert!(id.starts_with("msg_"), "{id}");
    let mut body = parsed(&received.body);
    let members: Vec<_> = body.as_object().expect("an object").keys().cloned().collect();
    assert_eq!(members, ["id", "type", "timestamp", "data"]);
    assert!(body["id"].as_str().is_some_and(|id| id.starts_with("evt_")), "{body}");
    (body["type"].as_str().expect("a type").to_owned(), body["data"].take())
}

#[tokio::test]
async fn renders_send_events_whether_synchronous_or_not_live_or_not() {
    let stage = Stage::set(&["--plan", "Scale"]).await;
    stage
        .endpoint("/all?token=x", &["render.succeeded", "render.failed"])
        .await;
    stage.endpoint("/failures", &["render.failed"]).await;
    let bob = stage.service.account("bob@example.org");
    let key = &stage.account.key;

    assert_eq!(stage.render(&bob.key, "<p>", json!({})).await, 200);
    assert_eq!(stage.render(key, "<p>", json!({})).await, 200);
    let first = stage.receiver.wait_for(1).await.remove(0);
    assert_eq!(first.path, "/all");
    assert!(first.is_signed_with(&stage.secret()));
    let (kind, data) = event(&first);
    let newest = "select id::text from renders order by id desc limit 1";
    assert_eq!(kind, "render.succeeded");
    assert_eq!(
        data,
        json!({
            "render_id": stage.service.text(newest).await, "state": "succeeded", "mode": "sync", "livemode": true,
            "page_count": 1, "document_url": null,
        })
    );

    let queued = stage.service.queued(&stage.account, &json!({"parts": ["<p>"]})).await;
    let (_, data) = event(&stage.receiver.wait_for(2).await[1]);
    assert_eq!((&data["render_id"], &data["mode"]), (&json!(queued), &json!("async")));
    let url = data["document_url"].as_str().expect("a URL");
    let document = stage.service.client.get(url).send().await.expect("an answer");
    assert_eq!(header(&document, "content-type"), "application/pdf");

    // Both endpoints receive the same event, in deliveries of their own.
    let test = stage
        .service
        .create_key("ann@example.org", "tries", &["--test"])
        .succeeded();
    let failing = json!({"evaluate_js": {"expression": "throw new Error('no')"}});
    assert_eq!(stage.render(&test, "<p>", failing).await, 422);
    let failures = stage.receiver.wait_for(4).await.split_off(2);
    let mut paths: Vec<_> = failures.iter().map(|received| received.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/all", "/failures"]);
    assert_eq!(failures[0].body, failures[1].body);
    assert_ne!(failures[0].headers["webhook-id"], failures[1].headers["webhook-id"]);
    let (kind, data) = event(&failures[0]);
    assert_eq!(kind, "render.failed");
    assert_eq!(
        (&data["state"], &data["livemode"], &data["error"]["code"]),
        (&json!("failed"), &json!(false), &json!("script"))
    );
    assert!(
        data["error"]["message"]
            .as_str()
            .is_some_and(|message| message.ends_with('.'))
    );
    assert_eq!(data["error"]["pointer"], "/evaluate_js/expression");

    stage.service.number_is(0, "select count(*) from jobs").await;
    let of_bob = format!(
        "select count(*) from webhook_deliveries where account_id = '{}'",
        bob.id
    );
    assert_eq!(stage.service.number(&of_bob).await, 0);
    let log = stage.ann.page(PAGE).await;
    assert!(log.contains("render.failed"), "{log}");
}

#[tokio::test]
async fn low_credits_send_an_event_with_the_mail() {
    let stage = Stage::set(&["--credits", "5"]).await;
    stage.endpoint("/ok", &["credits.low"]).await;
    let pages: String = (0..40).map(|_| "<p style='break-after: page'>x").collect();
    assert_eq!(stage.render(&stage.account.key, &pages, json!({})).await, 200);
    let (kind, data) = event(&stage.receiver.wait_for(1).await[0]);
    assert_eq!(kind, "credits.low");
    assert_eq!(
        (&data["credits_used"], &data["credits"], &data["overage_limit"]),
        (&json!(4), &json!(5), &json!(0))
    );
    let mails = "select count(*) from mails where letter ->> 'kind' = 'credits_used'";
    assert_eq!(stage.service.number(mails).await, 1);
    assert_eq!(stage.render(&stage.account.key, "<p>", json!({})).await, 200);
    let (_, data) = event(&stage.receiver.wait_for(2).await[1]);
    assert_eq!(data["credits_used"], 5);
}

#[tokio::test]
async fn webhooks_of_rows_come_after_those_of_other_renders_and_leave_room_for_them() {
    let stage = Stage::set(&["--plan", "Scale"]).await;
    // Deliveries to it stay in progress.
    let endpoint = stage
        .endpoint("/never", &["render.succeeded", "render.failed", "batch.ended"])
        .await;
    let template = stage
        .ask(
            "templates",
            &json!({"template": {"name": "Row", "content": "{{ number }}"}}),
        )
        .await;
    let callback = json!({"url": stage.receiver.url("/500")});
    let batch = async |options: Value| {
        let part = json!({"type": "template", "content": {"template_id": template["id"]}});
        let mut render = json!({"parts": [part], "callback": callback});
        render
            .as_object_mut()
            .unwrap()
            .extend(options.as_object().unwrap().clone());
        let request = json!({"batch": {"render": render, "rows": [{"number": 1}]}});
        stage.ask("batches", &request).await
    };
    let single = async || {
        let request = json!({"parts": ["<p>"], "callback": callback});
        let id = stage.service.queued(&stage.account, &request).await;
        stage.service.ended(&stage.account, &id).await;
    };
    batch(json!({})).await;
    batch(json!({"evaluate_js": {"expression": "null.missing"}})).await;
    single().await;
    let jobs = async |count, condition: &str| {
        let query = format!("select count(*) from jobs where {condition}");
        stage.service.number_is(count, &query).await;
    };
    jobs(2, "kind = 'callback' and priority = 2").await;
    jobs(1, "kind = 'callback' and priority = 0").await;
    // Events of both rows; those of the other render, and of the ends of both batches.
    jobs(2, "kind = 'delivery' and priority = 2").await;
    jobs(3, "kind = 'delivery' and priority < 2").await;

    let states = "select coalesce(string_agg(event || ' ' || state, ', ' order by event, state), '')
        from webhook_deliveries where id > (select id from webhook_deliveries where data ->> 'of' = 'test' order by id desc limit 1)";
    let fill = format!(
        "insert into webhook_deliveries (id, account_id, endpoint_id, event_id, event, data, state, inserted_at)
         select time_ordered_uuid(), '{}', '{endpoint}', gen_random_uuid(), 'batch.ended', '{{\"of\": \"test\"}}', 'sending', now()
         from generate_series(1, 2500)",
        stage.account.id
    );
    stage.service.execute(&fill).await;
    batch(json!({})).await;
    jobs(4, "kind = 'delivery' and priority < 2").await;
    single().await;
    jobs(5, "kind = 'delivery' and priority < 2").await;
    assert_eq!(
        stage.service.text(states).await,
        "batch.ended sending, render.succeeded failed, render.succeeded sending"
    );
    // Without such deliveries, an endpoint with 5,000 pending ones gets the ends of batches, until it has twice as many.
    stage.service.execute(&fill).await;
    single().await;
    batch(json!({})).await;
    jobs(6, "kind = 'delivery' and priority < 2").await;
    assert_eq!(
        stage.service.text(states).await,
        "batch.ended sending, render.succeeded failed, render.succeeded failed"
    );
}

#[tokio::test]
async fn a_key_that_expires_soon_is_announced_once_for_each_expiry() {
    let mut stage = Stage::set(&["--plan", "Scale"]).await;
    stage.endpoint("/ok", &["key.expiring"]).await;
    stage.service.account("admin@example.org");
    stage.service.account("member@example.org");
    stage
        .service
        .join(&stage.account.id, "admin@example.org", "admin")
        .await;
    stage
        .service
        .join(&stage.account.id, "member@example.org", "member")
        .await;
    for name in ["soon", "revoked", "replaced", "short", "later"] {
        stage.service.create_key("ann@example.org", name, &[]).succeeded();
    }
    stage
        .service
        .execute(
            "update api_keys
             set inserted_at = now() - case when name = 'short' then interval '1 hour' else interval '30 days' end,
                 expires_at = now() + case when name = 'later' then interval '8 days' else interval '6 days' end,
                 revoked_at = case when name = 'revoked' then now() end,
                 replaced_at = case when name = 'replaced' then now() end
             where name <> 'tests'",
        )
        .await;
    // Notices are sent when the service starts, and regularly.
    stage.service.restart(Signal::TERM).await;
    let (kind, data) = event(&stage.receiver.wait_for(1).await[0]);
    assert_eq!(kind, "key.expiring");
    assert_eq!((&data["name"], &data["livemode"]), (&json!("soon"), &json!(true)));
    let mails = "select coalesce(string_agg(recipient || ' ' || (letter ->> 'name'), ', ' order by recipient, id), '')
         from mails where letter ->> 'kind' = 'key_expiring'";
    assert_eq!(
        stage.service.text(mails).await,
        "admin@example.org soon, ann@example.org soon"
    );

    // Another expiry is announced, and the first one isn't announced again.
    stage
        .service
        .execute("update api_keys set expires_at = now() + interval '5 days' where name = 'later'")
        .await;
    stage.service.restart(Signal::TERM).await;
    assert_eq!(event(&stage.receiver.wait_for(2).await[1]).1["name"], "later");
    stage
        .service
        .execute("update api_keys set expires_at = expires_at + interval '1 hour' where name = 'soon'")
        .await;
    stage.service.restart(Signal::TERM).await;
    assert_eq!(event(&stage.receiver.wait_for(3).await[2]).1["name"], "soon");
    assert_eq!(stage.service.number("select count(*) from webhook_deliveries").await, 3);
}

#[tokio::test]
async fn an_account_has_ten_endpoints_at_public_addresses() {
    let stage = Stage::set(&["--plan", "Scale"]).await;
    let create = async |url: &str, events: &str| {
        let fields = [
            ("webhook_url", url.to_owned()),
            ("endpoint_description", String::new()),
            ("events[0]", events.to_owned()),
        ];
        stage.ann.call("create-webhook-endpoint", &fields).await
    };
    for url in [
        "",
        "hooks.example.com",
        "ftp://hooks.example.com/",
        "https://hooks.example.com/a b",
        "http://127.0.0.1/",
        "http://10.1.2.3/",
        "http://[::1]/",
        "http://169.254.169.254/latest/meta-data",
    ] {
        let answer = create(url, "render.failed").await;
        assert_eq!(
            answer["Rejected"]["reason"]["invalid"],
            json!(["webhook_url"]),
            "{url}: {answer}"
        );
    }
    for events in ["webhook.test", "render.started"] {
        let answer = create("https://hooks.invalid/", events).await;
        assert_eq!(
            answer["Rejected"]["reason"]["invalid"],
            json!(["events"]),
            "{events}: {answer}"
        );
    }
    for _ in 0..10 {
        assert_eq!(create("https://hooks.invalid/", "render.failed").await, Value::Null);
    }
    let answer = create("https://hooks.invalid/", "render.failed").await;
    assert_eq!(answer["Rejected"]["reason"], "too_many_endpoints", "{answer}");
    assert_eq!(stage.service.number("select count(*) from webhook_endpoints").await, 10);
}

#[tokio::test]
async fn an_endpoint_is_tested_changed_disabled_and_deleted() {
    let stage = Stage::set(&["--plan", "Scale"]).await;
    let id = stage.endpoint("/500", &["render.succeeded"]).await;
    let states = "select coalesce(string_agg(state, ', ' order by id), '') from webhook_deliveries";
    let attempts = "select count(*) from callback_attempts where status = 500";

    // A test is neither retried nor held against the endpoint.
    assert_eq!(stage.submit("test-webhook-endpoint", &id, &[]).await, "tested");
    let (kind, data) = event(&stage.receiver.wait_for(1).await[0]);
    assert_eq!(
        (kind.as_str(), data),
        ("webhook.test", json!({"endpoint_id": id, "livemode": false}))
    );
    stage.service.number_is(1, attempts).await;
    assert_eq!(stage.service.text(states).await, "failed");
    assert_eq!(stage.service.number("select count(*) from jobs").await, 0);
    let failing = "select count(*) from webhook_endpoints where failing_since is not null";
    assert_eq!(stage.service.number(failing).await, 0);
    let page = stage.ann.page(PAGE).await;
    assert!(page.contains("Stopped, 500") && page.contains("webhook.test"), "{page}");

    let delivery = stage.service.text("select id::text from webhook_deliveries").await;
    stage.ann.submit("resend-delivery", &[("id", &delivery)]).await;
    stage.service.number_is(2, attempts).await;

    let changed = [
        ("webhook_url", stage.receiver.url("/changed")),
        ("endpoint_description", "Invoices".to_owned()),
        ("events[0]", "render.succeeded".to_owned()),
    ];
    let changed: Vec<_> = changed.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(stage.submit("edit-webhook-endpoint", &id, &changed).await, "saved");
    assert_eq!(stage.render(&stage.account.key, "<p>", json!({})).await, 200);
    assert_eq!(stage.receiver.wait_for(3).await[2].path, "/changed");
    stage.service.number_is(0, "select count(*) from jobs").await;

    let enable = |word| [("enable", word)];
    assert_eq!(
        stage.submit("switch-webhook-endpoint", &id, &enable("no")).await,
        "disabled"
    );
    assert_eq!(stage.render(&stage.account.key, "<p>", json!({})).await, 200);
    assert_eq!(stage.service.number("select count(*) from webhook_deliveries").await, 2);
    let about_render = "select id::text from webhook_deliveries where render_id is not null";
    let delivery = stage.service.text(about_render).await;
    let refused = stage.ann.call("resend-delivery", &[("id", delivery)]).await;
    assert_eq!(
        refused["Rejected"]["reason"]["render"], "endpoint_disabled",
        "{refused}"
    );
    assert_eq!(
        stage.submit("switch-webhook-endpoint", &id, &enable("yes")).await,
        "enabled"
    );
    assert_eq!(stage.submit("delete-webhook-endpoint", &id, &[]).await, "deleted");
    for table in ["webhook_endpoints", "webhook_deliveries", "callback_attempts"] {
        let rows = stage.service.number(&format!("select count(*) from {table}")).await;
        assert_eq!(rows, 0, "{table}");
    }
    let log = "select string_agg(kind, ' ' order by id) from account_log where kind like 'webhook.%'";
    assert_eq!(
        stage.service.text(log).await,
        "webhook.endpoint_created webhook.endpoint_changed webhook.endpoint_disabled webhook.endpoint_enabled \
         webhook.endpoint_deleted"
    );
}

#[tokio::test]
async fn an_endpoint_that_fails_for_five_days_is_disabled_and_delays_no_other() {
    let stage = Stage::set(&["--plan", "Scale"]).await;
    stage.service.account("admin@example.org");
    stage
        .service
        .join(&stage.account.id, "admin@example.org", "admin")
        .await;
    let failing = stage.endpoint("/503", &["render.succeeded"]).await;
    stage.endpoint("/ok", &["render.succeeded"]).await;
    let render = || stage.render(&stage.account.key, "<p>", json!({}));
    assert_eq!(render().await, 200);
    stage
        .service
        .number_is(
            1,
            "select count(*) from webhook_endpoints where failing_since is not null",
        )
        .await;
    // Further deliveries to it come after those to the other endpoint, and are retried.
    assert_eq!(render().await, 200);
    let retried = "select count(*) from jobs where kind = 'delivery' and failures = 1";
    stage.service.number_is(2, retried).await;
    let behind = "select count(*) from jobs where kind = 'delivery' and priority = 3";
    assert_eq!(stage.service.number(behind).await, 1);
    let delivered = "select count(*) from webhook_deliveries where state = 'delivered'";
    stage.service.number_is(2, delivered).await;
    assert!(stage.ann.page(PAGE).await.contains("Deliveries have failed since"));

    stage
        .service
        .execute(
            "update webhook_endpoints set failing_since = now() - interval '5 days' where failing_since is not null",
        )
        .await;
    stage
        .service
        .execute("update jobs set run_at = now() where kind = 'delivery'")
        .await;
    stage
        .service
        .number_is(1, "select count(*) from webhook_endpoints where disabled_by_service")
        .await;
    stage
        .service
        .number_is(0, "select count(*) from jobs where kind = 'delivery'")
        .await;
    let mails = "select string_agg(recipient, ', ' order by recipient) from mails
         where letter ->> 'kind' = 'webhook_endpoint_disabled'";
    assert_eq!(stage.service.text(mails).await, "admin@example.org, ann@example.org");
    let log = "select actor from account_log where kind = 'webhook.endpoint_failed'";
    assert_eq!(stage.service.text(log).await, "service");
    assert!(stage.ann.page(PAGE).await.contains("Disabled after failures"));

    assert_eq!(render().await, 200);
    stage.service.number_is(3, delivered).await;
    let of_failing = format!("select count(*) from webhook_deliveries where endpoint_id = '{failing}'");
    assert_eq!(stage.service.number(&of_failing).await, 2);

    // Enabling it starts anew.
    let enabled = stage
        .submit("switch-webhook-endpoint", &failing, &[("enable", "yes")])
        .await;
    assert_eq!(enabled, "enabled");
    assert_eq!(render().await, 200);
    stage.service.number_is(1, retried).await;
    let disabled = "select count(*) from webhook_endpoints where disabled_at is not null";
    assert_eq!(stage.service.number(disabled).await, 0);
}

#[tokio::test]
async fn the_end_of_a_batch_is_an_event_also_after_a_retry() {
    let stage = Stage::set(&["--plan", "Scale"]).await;
    stage.endpoint("/batches", &["batch.ended"]).await;
    let post = async |path: &str, body: &Value| {
        let request = stage.service.client.post(stage.service.url(path));
        let answer = request.bearer_auth(&stage.account.key).json(body).send().await;
        let answer: Value = answer.expect("an answer").json().await.expect("JSON");
        answer["data"]["id"].as_str().expect("an id").to_owned()
    };
    let template = json!({"template": {"name": "Invoice", "content": "{{ number }}"}});
    let template = json!({"template_id": post("/api/v1/templates", &template).await});
    let parts = json!([{"type": "template", "content": template}]);
    // No storage connection covers the documents, so no row succeeds.
    let destination = json!({"provider": "aws_s3", "bucket": "none", "path": "{{ number }}.pdf"});
    let batch = json!({
        "name": "November", "render": {"parts": &parts, "destination": destination},
        "rows": [{"number": 1}, {"number": 2}],
    });
    let id = post("/api/v1/batches", &json!({"batch": batch})).await;
    let expected = json!({
        "batch_id": id, "name": "November", "state": "ended", "livemode": true, "rows": 2, "succeeded": 0, "failed": 2,
    });
    let first = stage.receiver.wait_for(1).await.remove(0);
    assert!(first.is_signed_with(&stage.secret()));
    assert_eq!(event(&first), ("batch.ended".to_owned(), expected.clone()));

    post(&format!("/api/v1/batches/{id}/retry"), &Value::Null).await;
    let second = stage.receiver.wait_for(2).await.remove(1);
    assert_eq!(event(&second), ("batch.ended".to_owned(), expected));

    // One that is cancelled twice has ended once.
    let cancelled = json!({"batch": {"name": "Cancelled", "render": {"parts": parts}}});
    let id = post("/api/v1/batches", &cancelled).await;
    let cancel = format!("/api/v1/batches/{id}/cancel");
    for _ in 0..2 {
        post(&cancel, &Value::Null).await;
        stage
            .service
            .number_is(0, "select count(*) from jobs where kind in ('batch', 'delivery')")
            .await;
    }
    let (_, data) = event(&stage.receiver.wait_for(3).await[2]);
    assert_eq!(
        (&data["name"], &data["state"]),
        (&json!("Cancelled"), &json!("cancelled"))
    );
    assert_eq!(stage.receiver.received().len(), 3);
}

#[tokio::test]
async fn endpoints_of_another_account_are_not_found() {
    let stage = Stage::set(&["--plan", "Scale"]).await;
    let id = stage.endpoint("/503", &["render.succeeded"]).await;
    stage.service.account("bob@example.org");
    let bob = Visitor::log_in(&stage.service, "bob@example.org").await;
    assert_eq!(stage.render(&stage.account.key, "<p>", json!({})).await, 200);
    stage
        .service
        .number_is(1, "select count(*) from jobs where kind = 'delivery' and failures = 1")
        .await;
    let delivery = stage.service.text("select id::text from webhook_deliveries").await;
    let url = stage.receiver.url("/bob");
    for (function, fields) in [
        (
            "edit-webhook-endpoint",
            vec![
                ("subject", &id),
                ("webhook_url", &url),
                ("events[0]", &"key.expiring".to_owned()),
            ],
        ),
        (
            "switch-webhook-endpoint",
            vec![("subject", &id), ("enable", &"no".to_owned())],
        ),
        ("test-webhook-endpoint", vec![("subject", &id)]),
        ("delete-webhook-endpoint", vec![("subject", &id)]),
        ("resend-delivery", vec![("id", &delivery)]),
        ("stop-delivery", vec![("id", &delivery)]),
    ] {
        let fields: Vec<_> = fields.into_iter().map(|(name, value)| (name, value.clone())).collect();
        assert_eq!(bob.call(function, &fields).await, "NotFound", "{function}");
    }
    let page = bob.page(PAGE).await;
    assert!(!page.contains(&id) && !page.contains(&delivery), "{page}");
    let unchanged = "select state || ' ' || address from webhook_deliveries join webhook_endpoints on true";
    let address = stage.receiver.url("/503");
    assert_eq!(stage.service.text(unchanged).await, format!("sending {address}"));

    let delete = ["accounts", "delete", "--email", "ann@example.org", "--yes"];
    stage.service.command(&delete, "").succeeded();
    for table in ["webhook_endpoints", "webhook_deliveries", "callback_attempts"] {
        let rows = stage.service.number(&format!("select count(*) from {table}")).await;
        assert_eq!(rows, 0, "{table}");
    }
    let counted = "select count(*) from deletions where counts ->> 'webhook_endpoints' = '1'";
    assert_eq!(stage.service.number(counted).await, 1);
}
