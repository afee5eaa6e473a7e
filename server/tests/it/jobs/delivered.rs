//! The results of asynchronous renders: document, charge and record.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    background::{page_with_callback, parsed},
    origin::Origin,
    pdf,
    receiver::Receiver,
    studio::{Studio, header},
};

#[tokio::test]
async fn a_document_is_kept_under_a_public_address() {
    let receiver = Receiver::start().await;
    let studio = Studio::start_with_receiver(&receiver.authority).await;
    let id = studio
        .queued(&page_with_callback("<title>T</title><h1>Hello", &receiver.url("/ok")))
        .await;
    let [callback] = receiver.wait_for(1).await.try_into().ok().expect("one");
    let body = parsed(&callback.body);
    assert_eq!(body["status"], "success");
    assert_eq!(
        body.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["status", "timestamp", "result"]
    );
    let result = &body["result"];
    let name = result["name"].as_str().unwrap();
    assert!(name.starts_with("renders/") && !name.contains(&id), "{name}");
    assert_eq!(result["bucket"], "platen-renders");
    assert_eq!(
        (&result["kind"], &result["metadata"]),
        (&json!("storage#object"), &Value::Null)
    );
    assert_eq!(result["storageClass"], "STANDARD");
    let link = result["mediaLink"].as_str().unwrap();
    assert_eq!(link, studio.service.url(&format!("/files/{name}")));
    // The address is public; no key is required.
    let answer = studio.service.client.get(link).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    for (name, value) in [
        ("content-type", "application/pdf"),
        ("accept-ranges", "bytes"),
        ("x-robots-tag", "noindex"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(header(&answer, name), value);
    }
    let modified = header(&answer, "last-modified").to_owned();
    let tag = header(&answer, "etag").to_owned();
    assert_eq!(tag, format!("\"{}\"", result["etag"].as_str().unwrap()));
    let document = answer.bytes().await.unwrap();
    assert_eq!(pdf::page_count(&document), 1);
    assert_eq!(result["size"], document.len().to_string());
    let md5 = BASE64_STANDARD.decode(result["md5Hash"].as_str().unwrap()).unwrap();
    assert_eq!(md5.len(), 16);

    let ask = async |name: &str, value: &str| {
        let request = studio.service.client.get(link).header(name, value);
        request.send().await.unwrap()
    };
    let part = ask("range", "bytes=0-4").await;
    assert_eq!(
        (part.status().as_u16(), part.bytes().await.unwrap().as_ref()),
        (206, b"%PDF-".as_slice())
    );
    assert_eq!(ask("range", "bytes=99999999-").await.status(), 416);
    assert_eq!(ask("if-modified-since", &modified).await.status(), 304);
    assert_eq!(ask("if-none-match", &tag).await.status(), 304);
    for wrong in [
        link.to_uppercase(),
        link.replace(".pdf", ""),
        link.replace("/renders/", "/renders/..%2F"),
    ] {
        let path = wrong
            .split_once("files")
            .map_or(wrong.clone(), |(_, path)| studio.service.url(&format!("/files{path}")));
        let answer = studio.service.client.get(path).send().await.unwrap();
        assert_eq!(answer.status(), 404, "{wrong}");
    }

    let log = studio.service.process.log();
    assert!(!log.contains(name.trim_start_matches("renders/")));

    let render = studio.ended(&id).await;
    assert_eq!(render["state"], "succeeded");
    assert_eq!((&render["credits_used"], &render["page_count"]), (&json!(1), &json!(1)));
    assert_eq!(
        (&render["result"], &render["conformance"]),
        (result, &json!("PDF/A-2a"))
    );
    assert_eq!(render["conformance_levels"], json!(["PDF/A-2a"]));
    assert_eq!(studio.service.unfinished_renders().await, 0);
    assert_eq!(studio.service.reserved_credits().await, 0);
    let credits = studio.request(Method::GET, "/api/v1/credits").send().await.unwrap();
    let credits: Value = credits.json().await.unwrap();
    let [used] = &credits["data"]["usage_details"].as_array().unwrap()[..] else {
        panic!("{credits}")
    };
    assert_eq!(
        (&used["meter"], &used["aggregated_value"]),
        (&json!("async_render"), &json!(1))
    );
}

#[tokio::test]
async fn a_render_that_fails_by_its_callers_fault_is_told_at_once() {
    let origin = Origin::start().await;
    let receiver = Receiver::start().await;
    let allowed = format!("{},{}", origin.authority, receiver.authority);
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &allowed)]).await;
    let body = json!({"parts": ["<p>", origin.url("/status/404")], "callback": {"url": receiver.url("/ok")}});
    let id = studio.queued(&body).await;
    let [callback] = receiver.wait_for(1).await.try_into().ok().expect("one");
    let told = parsed(&callback.body);
    assert_eq!(told["status"], "failed");
    assert_eq!(told["error"], "/parts/1: The address answered with status 404.");
    assert_eq!(told.get("result"), None);
    let render = studio.ended(&id).await;
    assert_eq!(render["state"], "failed");
    assert_eq!(render["error"]["pointer"], "/parts/1");
    // The failed request is recorded as well.
    let request = &render["requests"][0];
    assert_eq!(
        (&request["part"], &request["status"], &request["type"]),
        (&json!(1), &json!(404), &json!("document"))
    );
    assert!(render["phase_times"]["load"].as_f64().is_some_and(|took| took > 0.0));
    assert_eq!(
        (&render["credits_used"], &render["result"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(
        studio
            .service
            .number("select coalesce(sum(used), 0)::bigint from credit_periods")
            .await,
        0
    );
    assert_eq!(studio.service.reserved_credits().await, 0);
}

#[tokio::test]
async fn a_document_that_costs_too_much_is_not_delivered() {
    let receiver = Receiver::start().await;
    let studio = Studio::start_with_receiver(&receiver.authority).await;
    let poor = studio.service.account_with("poor@example.org", &["--credits", "2"]);
    let pages: String = (0..21).map(|_| "<p style='break-after: page'>x").collect();
    let id = studio
        .service
        .queued(&poor, &page_with_callback(&pages, &receiver.url("/ok")))
        .await;
    let render = studio.service.ended(&poor, &id).await;
    assert_eq!(render["state"], "failed", "{render}");
    let message = render["error"]["message"].as_str().unwrap();
    assert!(message.contains("costs 3 credits and 2 are free"), "{message}");
    let told = parsed(&receiver.wait_for(1).await[0].body);
    assert_eq!(told["status"], "failed");
    assert_eq!(studio.service.stored_documents().len(), 0);
}

#[tokio::test]
async fn a_template_is_used_in_the_version_that_was_accepted() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let path = studio.template("Letter", "<p>Dear {{ name }}, first").await;
    let template_id = path.rsplit_once('/').unwrap().1;
    let part = json!({"type": "template", "content": {"template_id": template_id, "context": {"name": "Ann"}}});
    let id = studio.queued(&json!({"parts": [part]})).await;
    let changed = json!({"template": {"content": "<p>Dear {{ name }}, second"}});
    let saved = studio
        .request(Method::PATCH, &path)
        .json(&changed)
        .send()
        .await
        .unwrap();
    assert_eq!(saved.status(), 200);
    let deleted = studio.request(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(deleted.status(), 204);
    let worker = studio.service.beside(&[("PLATEN_ROLE", "worker")]).await;
    let render = studio.ended(&id).await;
    assert_eq!(render["state"], "succeeded", "{render:#}");
    assert_eq!(render["options"]["parts"][0]["version"], 1);
    let name = render["result"]["name"].as_str().unwrap();
    let document = studio.service.client.get(studio.service.url(&format!("/files/{name}")));
    let document = document.send().await.unwrap().bytes().await.unwrap();
    assert!(pdf::text(&document).contains("Dear Ann, first"));
    // A worker serves only its health.
    assert_eq!(
        worker.client.get(worker.url("/readyz")).send().await.unwrap().status(),
        200
    );
    let refused = reqwest::get(worker.url("/openapi.json")).await.unwrap();
    assert_eq!(refused.status(), 404);
}

#[tokio::test]
async fn documents_and_renders_are_kept_for_their_time() {
    let mut studio = Studio::start().await;
    let kept = studio.queued(&json!({"parts": ["<p>kept"]})).await;
    let gone = studio.queued(&json!({"parts": ["<p>gone"]})).await;
    let old = studio.queued(&json!({"parts": ["<p>old"]})).await;
    let old_with_document = studio.queued(&json!({"parts": ["<p>old, and still there"]})).await;
    for id in [&kept, &gone, &old, &old_with_document] {
        assert_eq!(studio.ended(id).await["state"], "succeeded");
    }
    let expire = format!("update renders set object_expires_at = now() where id in ('{gone}', '{old}')");
    assert_eq!(studio.service.execute(&expire).await, 2);
    // The account's plan, Scale, retains renders for 90 days.
    let age = format!(
        "update renders set inserted_at = now() - interval '91 days' where id in ('{old}', '{old_with_document}')"
    );
    assert_eq!(studio.service.execute(&age).await, 2);
    studio.service.restart(rustix::process::Signal::TERM).await;
    studio.service.number_is(3, "select count(*) from renders").await;
    studio
        .service
        .number_is(2, "select count(*) from render_contents")
        .await;
    let documents = studio.service.stored_documents();
    assert_eq!(documents.len(), 2, "{documents:?}");
    let render = studio.service.shown(&studio.account, &gone).await;
    assert_eq!(
        (&render["state"], &render["expires_at"]),
        (&json!("succeeded"), &Value::Null)
    );
    let missing = studio
        .request(Method::GET, &format!("/api/v1/renders/{old}"))
        .send()
        .await
        .unwrap();
    assert_eq!(missing.status(), 404);
}

#[tokio::test]
async fn content_stays_as_its_account_says() {
    let studio = Studio::start().await;
    let content = "select count(*) from render_contents";
    let first = studio.queued(&json!({"parts": ["<p>"]})).await;
    studio.ended(&first).await;
    assert_eq!(studio.service.number(content).await, 1);
    let talking = json!({"parts": ["<p><script>console.warn('2 < 3')</script>"]});
    let said = async |id: &str| studio.ended(id).await["console"].clone();
    let heard = studio.queued(&talking).await;
    assert_eq!(
        said(&heard).await,
        json!([{"part": 0, "level": "warn", "text": "2 < 3"}])
    );
    let off = ["accounts", "keep-content", "--email", "ann@example.org", "off"];
    studio.service.command(&off, "").succeeded();
    let second = studio.queued(&talking).await;
    assert_eq!(said(&second).await, json!([]));
    assert_eq!(studio.service.number(content).await, 2);
}

#[tokio::test]
async fn renders_are_listed_and_filtered() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.insert(0, studio.queued(&json!({"parts": ["<p>"]})).await);
    }
    studio.pdf("<p>", json!({})).await;
    let list = async |query: &str| {
        let answer = studio
            .request(Method::GET, &format!("/api/v1/renders{query}"))
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 200, "{query}");
        let next = answer
            .headers()
            .get("link")
            .map(|link| link.to_str().unwrap().to_owned());
        let body: Value = answer.json().await.unwrap();
        let found = body["data"].as_array().unwrap().iter();
        (
            found
                .map(|render| render["id"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>(),
            next,
        )
    };
    assert_eq!(list("").await.0.len(), 4);
    assert_eq!(list("?mode=async").await, (ids.clone(), None));
    assert_eq!(list("?state=succeeded").await.0.len(), 1);
    let (first, next) = list("?mode=async&page_size=2").await;
    assert_eq!(first, ids[..2]);
    let next = next.expect("another page");
    let query = next
        .split_once('?')
        .and_then(|(_, rest)| rest.split_once('>'))
        .unwrap()
        .0;
    assert_eq!(list(&format!("?{query}")).await, (ids[2..].to_vec(), None));
    let answer = studio
        .request(Method::GET, "/api/v1/renders?state=done&mode=x&page_size=0")
        .send()
        .await
        .unwrap();
    let pointers: Vec<_> = crate::support::studio::problems(answer)
        .await
        .into_iter()
        .map(|(pointer, _)| pointer)
        .collect();
    assert_eq!(pointers, ["/state", "/mode"]);
}

#[tokio::test]
async fn a_key_for_certain_templates_sees_its_own_renders_only() {
    let studio = Studio::start_with(&[("PLATEN_ROLE", "web")]).await;
    let path = studio.template("Letter", "<p>Dear {{ name }}").await;
    let template_id = path.rsplit_once('/').unwrap().1;
    let foreign = studio.queued(&json!({"parts": ["<p>"]})).await;
    let key = studio
        .service
        .create_key("ann@example.org", "one", &["--allow-template", template_id])
        .succeeded();
    let restricted = crate::support::service::TestAccount {
        key,
        ..studio.account.clone()
    };
    let refused = studio.service.queue(&restricted, &json!({"parts": ["<p>"]})).await;
    assert_eq!(refused.status(), 403);
    let part = json!({"type": "template", "content": {"template_id": template_id}});
    let own = studio.service.queued(&restricted, &json!({"parts": [part]})).await;
    assert_eq!(studio.service.shown(&restricted, &own).await["state"], "queued");
    let ask = async |method: Method, path: String| {
        let request = studio.service.client.request(method, studio.service.url(&path));
        request.bearer_auth(&restricted.key).send().await.unwrap()
    };
    for (method, path) in [
        (Method::GET, format!("/api/v1/renders/{foreign}")),
        (Method::POST, format!("/api/v1/renders/{foreign}/cancel")),
        (Method::POST, format!("/api/v1/renders/{foreign}/callback/resend")),
    ] {
        assert_eq!(ask(method, path.clone()).await.status(), 404, "{path}");
    }
    let listed: Value = ask(Method::GET, "/api/v1/renders".into()).await.json().await.unwrap();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    assert_eq!(listed["data"][0]["id"], own);
    assert_eq!(studio.service.shown(&studio.account, &foreign).await["state"], "queued");
}

#[tokio::test]
async fn with_an_account_goes_all_that_it_had() {
    let receiver = Receiver::start().await;
    let studio = Studio::start_with_receiver(&receiver.authority).await;
    let other = studio.service.account("other@example.org");
    for account in [&studio.account, &other] {
        let body = page_with_callback("<p>", &receiver.url("/503"));
        let id = studio.service.queued(account, &body).await;
        assert_eq!(studio.service.ended(account, &id).await["state"], "succeeded");
    }
    studio.partial("footer", "<p>").await;
    studio
        .template("Letter", "<p>Dear {{ name }}{% include 'footer' %}")
        .await;
    receiver.wait_for(2).await;
    studio
        .service
        .number_is(2, "select count(*) from callback_attempts")
        .await;
    let delete = ["accounts", "delete", "--email", "ann@example.org"];
    assert_eq!(studio.service.command(&delete, "").code, Some(2));
    studio
        .service
        .command(&[&delete[..], &["--yes"]].concat(), "")
        .succeeded();
    for table in [
        "accounts",
        "api_keys",
        "users",
        "renders",
        "render_contents",
        "callbacks",
        "callback_attempts",
        "jobs",
        "webhook_secrets",
        "account_keys",
        "credit_periods",
        "credit_reservations",
    ] {
        let rows = format!("select count(*) from {table}");
        assert_eq!(studio.service.number(&rows).await, 1, "{table}");
    }
    assert_eq!(studio.service.number("select count(*) from templates").await, 0);
    assert_eq!(studio.service.stored_documents().len(), 1);
    let refused = studio.request(Method::GET, "/api/v1/health").send().await.unwrap();
    assert_eq!(refused.status(), 401);
}
