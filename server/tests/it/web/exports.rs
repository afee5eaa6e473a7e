//! Exports of accounts.

use std::{
    collections::BTreeMap,
    io::{Cursor, Read},
    time::Instant,
};

use reqwest::Method;
use rustix::process::Signal;
use serde_json::{Value, json};
use zip::ZipArchive;

use super::site;
use crate::support::{
    object_stores::{ACCESS_KEY_ID, SECRET_ACCESS_KEY},
    process::PATIENCE,
    service::TestService,
    studio::{Studio, header},
    visitor::Visitor,
};

const SETTINGS: &str = "/dashboard/settings";
const READY: &str = "select count(*) from mails where letter ->> 'kind' = 'export_ready'";

/// Returns the files of an archive by name.
fn opened(zip: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(zip)).expect("an archive");
    let mut files = BTreeMap::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).expect("a file");
        let mut content = Vec::new();
        file.read_to_end(&mut content).expect("it is sound");
        assert!(
            files.insert(file.name().to_owned(), content).is_none(),
            "{}",
            file.name()
        );
    }
    files
}

fn json_of(content: &[u8]) -> Value {
    serde_json::from_slice(content).expect("JSON")
}

/// Waits for the only archive that can be downloaded, and returns its path.
async fn fetchable(visitor: &Visitor) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let page = visitor.page(SETTINGS).await;
        if let Some((_, rest)) = page.split_once("href=\"/dashboard/exports/") {
            let id = rest.split('"').next().expect("an id");
            return format!("/dashboard/exports/{id}");
        }
        assert!(Instant::now() < deadline, "{page}");
        tokio::task::yield_now().await;
    }
}

async fn studio() -> (tempfile::TempDir, Studio) {
    let site = site();
    let folder = site.path().to_str().expect("text").to_owned();
    let studio = Studio::start_with(&[("PLATEN_SITE_DIR", &folder)]).await;
    (site, studio)
}

async fn ask(visitor: &Visitor) {
    let answer = visitor.submit("request-export", &[]).await;
    assert_eq!(header(&answer, "location"), format!("{SETTINGS}?done=export"));
}

/// Returns the names of all files in an archive with these templates and their numbers of versions.
fn names(templates: &[(&str, u8)], document: &str) -> Vec<String> {
    let mut names = [
        "README.txt",
        "account.json",
        "assets.ndjson",
        "documents.ndjson",
        "log.ndjson",
        "renders.ndjson",
        "usage.csv",
        document,
    ]
    .map(str::to_owned)
    .to_vec();
    for (template, versions) in templates {
        names.push(format!("templates/{template}/template.json"));
        for number in 1..=*versions {
            names.push(format!("templates/{template}/{number}.html"));
            names.push(format!("templates/{template}/{number}.json"));
        }
    }
    names.sort();
    names
}

async fn connect_a_bucket(studio: &Studio) {
    let connection = json!({"connection": {
        "name": "Archive", "provider": "aws_s3", "bucket": "archive", "region": "eu-central-1",
        "credentials": {"access_key_id": ACCESS_KEY_ID, "secret_access_key": SECRET_ACCESS_KEY},
    }});
    let request = studio.request(Method::POST, "/api/v1/connections");
    let answer = request.json(&connection).send().await.expect("an answer");
    assert_eq!(answer.status(), 201);
}

#[tokio::test]
async fn an_export_holds_all_of_its_account_and_nothing_of_another() {
    let (_site, studio) = studio().await;
    let bob = studio.service.account("bob@example.org");
    let others = json!({"template": {"name": "Of Bob alone", "content": "<p>Bob"}});
    let request = studio.service.client.post(studio.service.url("/api/v1/templates"));
    request
        .bearer_auth(&bob.key)
        .json(&others)
        .send()
        .await
        .expect("an answer");
    studio
        .service
        .queued(&bob, &json!({"parts": ["<title>Of Bob alone</title>"]}))
        .await;

    let template = studio.template("../../etc/passwd", "<p>first").await;
    let change = json!({"template": {"content": "<p>second {{ name }}"}});
    let changed = studio.request(Method::PATCH, &template).json(&change).send().await;
    assert_eq!(changed.expect("an answer").status(), 200);
    let template = template.rsplit('/').next().expect("an id");
    let set = format!(
        "insert into template_sample_sets (account_id, template_id, position, name, data)
         values ('{}', '{template}', 1, 'Long names', '{{\"name\": \"Ann\"}}')",
        studio.account.id
    );
    assert_eq!(studio.service.execute(&set).await, 1);
    let gone = studio.template("Gone", "<p>gone").await;
    let deleted = studio.request(Method::DELETE, &gone).send().await;
    assert_eq!(deleted.expect("an answer").status(), 204);
    connect_a_bucket(&studio).await;
    let arguments = ["accounts", "webhook-secret", "--email", "ann@example.org"];
    let secret = studio.service.command(&arguments, "").succeeded();
    let render = studio.queued(&json!({"parts": ["<p>kept"]})).await;
    studio.ended(&render).await;

    let ann = Visitor::log_in(&studio.service, "ann@example.org").await;
    let endpoint = [
        ("webhook_url", "https://hooks.invalid/here?token=hidden"),
        ("events[0]", "key.expiring"),
    ];
    ann.submit("create-webhook-endpoint", &endpoint).await;
    ask(&ann).await;
    let path = fetchable(&ann).await;
    studio.service.number_is(1, READY).await;
    let answer = ann.get(&path).await;
    assert_eq!(header(&answer, "content-type"), "application/zip");
    assert_eq!(header(&answer, "cache-control"), "no-store");
    let disposition = header(&answer, "content-disposition");
    assert!(
        disposition.starts_with("attachment; filename=\"platen-export-20"),
        "{disposition}"
    );
    let files = opened(&answer.bytes().await.expect("a file"));

    let gone = gone.rsplit('/').next().expect("an id");
    let document = format!("documents/{render}.pdf");
    let sets = format!("templates/{template}/sample_sets.json");
    let mut expected = names(&[(template, 2), (gone, 1)], &document);
    expected.push(sets.clone());
    expected.sort();
    assert_eq!(files.keys().cloned().collect::<Vec<_>>(), expected);

    let account = json_of(&files["account.json"]);
    assert_eq!(account["id"], studio.account.id);
    assert_eq!(account["members"][0]["email"], "ann@example.org");
    assert_eq!(account["members"].as_array().expect("a list").len(), 1);
    assert_eq!(account["api_keys"][0]["id"], studio.account.key_id);
    assert_eq!(account["connections"][0]["bucket"], "archive");
    assert_eq!(account["webhook_endpoints"][0]["address"], "https://hooks.invalid/here");
    let described = json_of(&files[&format!("templates/{template}/template.json")]);
    assert_eq!(described["name"], "../../etc/passwd");
    assert_eq!(files[&format!("templates/{template}/1.html")], b"<p>first");
    assert_eq!(files[&format!("templates/{template}/2.html")], b"<p>second {{ name }}");
    assert_eq!(
        json_of(&files[&sets]),
        json!([{"name": "Long names", "sample_data": {"name": "Ann"}}])
    );
    // Exactly as the API shows it.
    let line = json_of(&files["renders.ndjson"]);
    assert_eq!(line, studio.service.shown(&studio.account, &render).await);
    let log = String::from_utf8(files["log.ndjson"].clone()).expect("text");
    assert!(log.contains("account.export_asked"), "{log}");
    let usage = String::from_utf8(files["usage.csv"].clone()).expect("text");
    assert!(
        usage
            .lines()
            .nth(1)
            .is_some_and(|day| day.contains(",async_render,true,1,")),
        "{usage}"
    );
    assert!(files[&document].starts_with(b"%PDF-"));
    assert_eq!(json_of(&files["documents.ndjson"])["file"], document);

    for (name, content) in &files {
        let text = String::from_utf8_lossy(content);
        for hidden in [
            "Bob",
            "bob@example.org",
            &bob.id,
            &studio.account.key,
            &secret,
            SECRET_ACCESS_KEY,
        ] {
            assert!(!text.contains(hidden), "{hidden} is in {name}");
        }
    }
}

#[tokio::test]
async fn an_export_holds_the_files_of_assets() {
    let (_site, studio) = studio().await;
    let asset = studio.asset("brand/a.css", b"p {}").await;
    let ann = Visitor::log_in(&studio.service, "ann@example.org").await;
    ask(&ann).await;
    let path = fetchable(&ann).await;
    let files = opened(&ann.get(&path).await.bytes().await.expect("a file"));
    let file = format!("assets/{}", asset.rsplit('/').next().expect("an id"));
    assert_eq!(files[&file], b"p {}");
    let line = json_of(&files["assets.ndjson"]);
    assert_eq!((&line["name"], &line["file"]), (&json!("brand/a.css"), &json!(file)));
}

#[tokio::test]
async fn only_the_owner_who_is_logged_in_fetches_it_and_not_for_ever() {
    let (_site, mut studio) = studio().await;
    let service = &studio.service;
    for email in ["bob@example.org", "cid@example.org"] {
        service.account(email);
    }
    let ann = Visitor::log_in(service, "ann@example.org").await;
    ask(&ann).await;
    let path = fetchable(&ann).await;
    let bob = Visitor::log_in(service, "bob@example.org").await;
    // Cid is a member of Ann's account only.
    service
        .execute(&format!(
            "update members set account_id = '{}', role = 'admin'
             where user_id = (select id from users where email = 'cid@example.org')",
            studio.account.id
        ))
        .await;
    let cid = Visitor::log_in(service, "cid@example.org").await;
    assert_eq!(bob.get(&path).await.status(), 404);
    assert_eq!(cid.get(&path).await.status(), 403);
    let refused = cid.submit("request-export", &[]).await;
    assert!(!header(&refused, "location").contains("done="));
    assert_eq!(service.number("select count(*) from exports").await, 1);
    let nobody = service.client.get(service.url(&path)).header("accept", "text/html");
    let nobody = nobody.send().await.expect("an answer");
    assert!(header(&nobody, "location").starts_with("/log-in?next="));

    service
        .execute("update exports set inserted_at = now() - interval '7 days 1 minute'")
        .await;
    assert_eq!(ann.get(&path).await.status(), 404);
    // The service deletes expired archives when it starts.
    studio.service.restart(Signal::TERM).await;
    studio.service.number_is(0, "select count(*) from exports").await;
    studio.service.number_is(0, "select count(*) from export_pieces").await;
}

#[tokio::test]
async fn a_process_that_shares_nothing_but_the_database_serves_ranges_of_an_export() {
    let site = site();
    let folder = site.path().to_str().expect("text");
    let studio = Studio::start_with(&[("PLATEN_SITE_DIR", folder), ("PLATEN_ROLE", "web")]).await;
    // An archive of several pieces: random bytes can't be compressed.
    let mut logo = b"\"".to_vec();
    logo.extend((0..2_500_000).map(|_| rand::random_range(b'a'..=b'z')));
    logo.push(b'"');
    studio.asset("random.json", &logo).await;
    let _worker = studio.service.apart(&[("PLATEN_ROLE", "worker")]).await;
    let ann = Visitor::log_in(&studio.service, "ann@example.org").await;
    ask(&ann).await;
    let path = fetchable(&ann).await;
    let whole = ann.get(&path).await;
    assert_eq!(
        (whole.status().as_u16(), header(&whole, "accept-ranges")),
        (200, "bytes")
    );
    let tag = header(&whole, "etag").to_owned();
    let whole = whole.bytes().await.expect("a file");
    assert!(opened(&whole).values().any(|file| *file == logo));
    let readable = "select count(*) from export_pieces where position('PK'::bytea in sealed) = 1";
    assert_eq!(studio.service.number(readable).await, 0);
    let pieces = studio.service.number("select count(*) from export_pieces").await;
    assert!(pieces > 1, "{pieces}");

    let (last, end) = (whole.len() - 1, whole.len());
    for (range, wanted) in [
        ("bytes=0-0".to_owned(), 0..1),
        ("bytes=1048570-1048600".to_owned(), 1_048_570..1_048_601),
        (format!("bytes=1000-{}", end + 5), 1000..end),
        ("bytes=-3".to_owned(), end - 3..end),
        (format!("bytes=-{}", 2 * end), 0..end),
    ] {
        let part = ann.get_with(&path, &[("range", &range), ("if-range", &tag)]).await;
        assert_eq!(part.status(), 206, "{range}");
        let expected = format!("bytes {}-{}/{end}", wanted.start, wanted.end - 1);
        assert_eq!(header(&part, "content-range"), expected);
        assert_eq!(part.bytes().await.expect("a part"), whole[wanted]);
    }
    for (range, if_range, status) in [
        (format!("bytes={end}-"), &*tag, 416),
        ("bytes=-0".to_owned(), &tag, 416),
        ("bytes=5-3".to_owned(), &tag, 200),
        ("bytes=0-0,5-6".to_owned(), &tag, 200),
        ("lines=1-2".to_owned(), &tag, 200),
        (format!("bytes={last}-"), "\"another\"", 200),
    ] {
        let answer = ann.get_with(&path, &[("range", &range), ("if-range", if_range)]).await;
        assert_eq!(answer.status(), status, "{range}");
    }
    let log = "select count(*) from account_log where deed ->> 'kind' = 'account.export_fetched'";
    // All of the archive, or its first bytes.
    assert_eq!(studio.service.number(log).await, 7);
    let head = ann.head(&path).await;
    assert_eq!(header(&head, "content-length"), end.to_string());
    assert_eq!(studio.service.number(log).await, 7);
}

#[tokio::test]
async fn the_owner_of_a_suspended_account_still_asks_for_it_and_fetches_it() {
    let (_site, studio) = studio().await;
    let ann = Visitor::log_in(&studio.service, "ann@example.org").await;
    let suspend = ["accounts", "suspend", "--email", "ann@example.org"];
    studio.service.command(&suspend, "").succeeded();
    let settings = ann.page(SETTINGS).await;
    assert!(settings.contains("the owner can export the account"), "{settings}");
    ask(&ann).await;
    let archive = ann.get(&fetchable(&ann).await).await;
    assert_eq!(archive.status(), 200);
    let files = opened(&archive.bytes().await.expect("a file"));
    assert!(files.contains_key("account.json"));
}

#[tokio::test]
async fn what_a_crash_left_behind_is_made_by_the_next_or_given_up_and_told() {
    let site = site();
    let folder = site.path().to_str().expect("text");
    let service = TestService::start_with(&[("PLATEN_SITE_DIR", folder), ("PLATEN_ROLE", "web")]).await;
    service.account("ann@example.org");
    service.account("bob@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let bob = Visitor::log_in(&service, "bob@example.org").await;
    ask(&ann).await;
    ask(&bob).await;
    let crash = |email: &str, tries: u8| {
        format!(
            "update jobs
             set claim = gen_random_uuid(), instance = gen_random_uuid(), lease_until = now() - interval '1 s',
                 crashes = {tries} - 1
             where export_id = (select exports.id from exports join users on users.id = asked_by where email = '{email}')"
        )
    };
    service.execute(&crash("ann@example.org", 1)).await;
    service.execute(&crash("bob@example.org", 3)).await;
    let _worker = service.beside(&[("PLATEN_ROLE", "worker")]).await;
    let path = fetchable(&ann).await;
    assert_eq!(ann.get(&path).await.status(), 200);
    service
        .number_is(
            1,
            "select count(*) from mails where letter ->> 'kind' = 'export_failed'",
        )
        .await;
    assert!(bob.page(SETTINGS).await.contains("Failed"));
    let archives = "select count(distinct export_id) from export_pieces";
    assert_eq!(service.number(archives).await, 1);
}
