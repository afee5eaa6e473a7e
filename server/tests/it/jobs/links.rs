//! Links to documents in the default storage, which expire.

use futures::future::join_all;
use reqwest::{Method, Response};
use serde_json::{Value, json};

use super::default_bucket::studio_with_bucket;
use crate::support::{
    background::{page_with_callback, parsed},
    object_stores::{Access, s3},
    pdf,
    receiver::Receiver,
    studio::{Studio, header},
};

const EXPIRING: &str = "update accounts set link_seconds = 3600";

impl Studio {
    async fn create_link(&self, render: &str, link: Value) -> Response {
        let request = self.request(Method::POST, &format!("/api/v1/renders/{render}/links"));
        let request = request.json(&json!({"link": link}));
        request.send().await.expect("an answer")
    }

    /// Creates a link, which must succeed.
    async fn link(&self, render: &str, link: Value) -> Value {
        let answer = self.create_link(render, link).await;
        assert_eq!(answer.status(), 201);
        let body: Value = answer.json().await.expect("JSON");
        body["data"].clone()
    }

    async fn download(&self, link: &Value) -> Response {
        let url = link["url"].as_str().expect("a URL");
        self.service.client.get(url).send().await.expect("an answer")
    }
}

async fn message(answer: Response) -> (u16, String) {
    let status = answer.status().as_u16();
    let body: Value = answer.json().await.expect("JSON");
    (status, body["error"]["message"].as_str().expect("a message").to_owned())
}

#[tokio::test]
async fn documents_have_links_instead_of_addresses_where_the_account_wants_it() {
    let receiver = Receiver::start().await;
    let studio = Studio::start_with_receiver(&receiver.authority).await;
    studio.service.execute(EXPIRING).await;
    let page = page_with_callback("<h1>Secret", &receiver.url("/ok"));
    let id = studio.queued(&page).await;
    let result = parsed(&receiver.wait_for(1).await[0].body)["result"].clone();
    assert_eq!(result["name"], format!("renders/{id}.pdf"));
    let url = result["mediaLink"].as_str().expect("a URL");
    assert!(url.starts_with(&studio.service.url("/files/links/")), "{url}");
    let answer = studio.service.client.get(url).send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    assert_eq!(header(&answer, "cache-control"), "private, no-store");
    assert!(pdf::text(&answer.bytes().await.expect("a document")).contains("Secret"));

    // Nothing shows the name of the file, by which everyone could read it.
    let object = studio.service.text("select object_id::text from renders").await;
    let render = studio.ended(&id).await;
    assert_eq!(render["result"], result);
    assert!(!render.to_string().contains(&object), "{render}");
    let by_name = studio.service.url(&format!("/files/renders/{id}.pdf"));
    let answer = studio.service.client.get(by_name).send().await.expect("an answer");
    assert_eq!(answer.status(), 404);

    let lasts = "select extract(epoch from expires_at - inserted_at)::bigint from download_links";
    assert_eq!(studio.service.number(lasts).await, 3600);
    studio
        .service
        .execute("update download_links set expires_at = now()")
        .await;
    let expired = studio.service.client.get(url).send().await.expect("an answer");
    let expected = "This link is no longer valid; ask the sender for a new one.";
    assert_eq!(message(expired).await, (410, expected.to_owned()));
}

#[tokio::test]
async fn lifetimes_are_those_of_the_plan_unless_the_account_chooses() {
    let studio = Studio::start().await;
    let lifetime = async |choice: &str, link: Option<Value>| {
        let service = &studio.service;
        service.execute(&format!("update accounts set {choice}")).await;
        let id = studio.queued(&json!({"parts": ["<p>Document"]})).await;
        studio.ended(&id).await;
        if let Some(link) = link {
            studio.link(&id, link).await;
        }
        let lasts = format!(
            "select extract(epoch from expires_at - inserted_at)::bigint from download_links where render_id = '{id}'"
        );
        service.number(&lasts).await
    };
    let public = "link_seconds = null";
    assert_eq!(
        lifetime(public, Some(json!({}))).await,
        86_400,
        "the default of all plans"
    );
    studio.service.execute("update plans set link_seconds = 7200").await;
    assert_eq!(lifetime(public, Some(json!({}))).await, 7200);
    assert_eq!(lifetime(public, Some(json!({"expires_in": 60}))).await, 60);
    assert_eq!(lifetime("link_seconds = 86400, links_by_plan = true", None).await, 7200);
    assert_eq!(lifetime("link_seconds = 3600, links_by_plan = false", None).await, 3600);
}

#[tokio::test]
async fn links_are_for_one_use_or_until_they_are_revoked() {
    let studio = Studio::start().await;
    let id = studio.queued(&json!({"parts": ["<h1>Once"]})).await;
    studio.ended(&id).await;
    let once = studio.link(&id, json!({"expires_in": 60, "single_use": true})).await;
    let lasting = studio.link(&id, json!({})).await;
    assert_eq!(
        (&once["single_use"], &lasting["single_use"]),
        (&json!(true), &json!(false))
    );
    // A preview of the link doesn't use it.
    let head = studio.service.client.head(once["url"].as_str().expect("a URL"));
    assert_eq!(head.send().await.expect("an answer").status(), 200);
    let range = studio.service.client.get(once["url"].as_str().expect("a URL"));
    let first = range.header("range", "bytes=0-1").send().await.expect("an answer");
    assert_eq!(
        (first.status().as_u16(), header(&first, "accept-ranges")),
        (200, "none")
    );
    assert!(pdf::text(&first.bytes().await.expect("a document")).contains("Once"));
    assert_eq!(studio.download(&once).await.status(), 410);

    // Of several at the same time, one gets the document.
    let contested = studio.link(&id, json!({"single_use": true})).await;
    let answers = join_all((0..8).map(|_| studio.download(&contested))).await;
    let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status().as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 410, 410, 410, 410, 410, 410, 410]);

    for _ in 0..2 {
        assert_eq!(studio.download(&lasting).await.status(), 200);
    }
    let revoking = studio.request(Method::DELETE, &format!("/api/v1/renders/{id}/links"));
    assert_eq!(revoking.send().await.expect("an answer").status(), 204);
    assert_eq!(studio.download(&lasting).await.status(), 410);
    assert_eq!(studio.download(&studio.link(&id, json!({})).await).await.status(), 200);
    for ended in [&once, &lasting] {
        assert_eq!(studio.download(ended).await.status(), 410);
    }

    studio
        .service
        .execute("update renders set object_expires_at = now()")
        .await;
    assert_eq!(message(studio.create_link(&id, json!({})).await).await.0, 409);
    // Links are no longer valid, rather than unknown, when nothing remains of their renders.
    studio.service.execute("delete from renders").await;
    assert_eq!(studio.service.number("select count(*) from download_links").await, 0);
    assert_eq!(studio.download(&lasting).await.status(), 410);
    let unknown = studio
        .service
        .url("/files/links/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    let answer = studio.service.client.get(unknown).send().await.expect("an answer");
    assert_eq!(answer.status(), 404);
}

#[tokio::test]
async fn links_are_bounded() {
    let studio = Studio::start().await;
    let id = studio.queued(&json!({"parts": ["<p>"]})).await;
    studio.ended(&id).await;
    for (link, pointer) in [
        (json!({"expires_in": 59}), "/link/expires_in"),
        (json!({"expires_in": 1_209_601}), "/link/expires_in"),
        (json!({"uses": 2}), "/link/uses"),
    ] {
        let answer = studio.create_link(&id, link).await;
        assert_eq!(answer.status(), 422);
        let body: Value = answer.json().await.expect("JSON");
        assert_eq!(body["errors"][0]["source"]["pointer"], pointer);
    }
    // No link outlives its document.
    let link = studio.link(&id, json!({"expires_in": 1_209_600.0})).await;
    assert_eq!(link["expires_at"], studio.ended(&id).await["expires_at"]);
    let many = "insert into download_links (id, account_id, render_id, digest, single_use, inserted_at, expires_at)
        select gen_random_uuid(), account_id, render_id, sha256(number::text::bytea), false, now(), expires_at
        from download_links, generate_series(1, 99) as number";
    assert_eq!(studio.service.execute(many).await, 99);
    let refused = message(studio.create_link(&id, json!({})).await).await;
    let expected = "The document has 100 links, the limit; revoke them, or wait until one expires.";
    assert_eq!(refused, (409, expected.to_owned()));
    studio
        .service
        .execute("update download_links set ended_at = now() where id = (select id from download_links limit 1)")
        .await;
    studio.link(&id, json!({})).await;

    let synchronous = studio.render("<p>", json!({})).await;
    let id = header(&synchronous, "x-render-id");
    assert_eq!(studio.create_link(id, json!({})).await.status(), 409);
}

#[tokio::test]
async fn links_lead_to_documents_in_a_bucket_which_they_don_t_name() {
    let (store, receiver) = (s3().await, Receiver::start().await);
    let bucket = store.bucket(Access::Full);
    let studio = studio_with_bucket(&store.endpoint(), &bucket, &receiver).await;
    studio.service.execute(EXPIRING).await;
    // Larger than what stores of tenants may respond with.
    let numbers = (1..=30_000_u32).map(|number| format!("{:x} ", number.wrapping_mul(2_654_435_761)));
    let page = page_with_callback(&format!("<p>{}", numbers.collect::<String>()), &receiver.url("/ok"));
    let id = studio.queued(&page).await;
    let told = receiver.wait_for(1).await.remove(0).body;
    let keys = store.keys(&bucket).await;
    assert!(!told.contains(&keys[0]), "{told}");
    let stored = store.object(&bucket, &keys[0]).await.expect("an object").content;
    assert!(stored.len() > 65_536, "{}", stored.len());
    let answer = studio.download(&studio.link(&id, json!({})).await).await;
    assert_eq!(header(&answer, "content-type"), "application/pdf");
    assert_eq!(answer.bytes().await.expect("a document"), stored);
}
