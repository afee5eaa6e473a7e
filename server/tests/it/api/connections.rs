//! `/api/v1/connections`

use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::support::{
    fault_proxy::{Fault, FaultProxy},
    object_stores::{Access, access_key, gcs, s3, service_account_key},
    studio::{Studio, header, problems},
};

const CONNECTIONS: &str = "/api/v1/connections";

fn to_s3(endpoint: &str, bucket: &str) -> Value {
    json!({
        "provider": "aws_s3",
        "name": bucket,
        "bucket": bucket,
        "endpoint": endpoint,
        "credentials": access_key(),
    })
}

fn to_google(bucket: &str) -> Value {
    json!({
        "provider": "google_cloud_storage",
        "name": bucket,
        "bucket": bucket,
        "path_prefix": "a/b/",
        "credentials": service_account_key(),
    })
}

impl Studio {
    async fn ask(&self, method: Method, path: &str) -> Response {
        self.request(method, path).send().await.expect("an answer")
    }

    /// Tests a connection and returns, for each step, its action and the advice if it failed.
    async fn tested(&self, path: &str) -> Vec<(String, Option<String>)> {
        let answer = self.ask(Method::POST, &format!("{path}/test")).await;
        assert_eq!(answer.status(), 200);
        let data = data(answer).await;
        let steps = data["steps"].as_array().expect("steps");
        let steps: Vec<_> = steps
            .iter()
            .map(|step| {
                let message = step["message"].as_str().map(str::to_owned);
                assert_eq!(step["passed"], message.is_none());
                (step["action"].as_str().expect("a word").to_owned(), message)
            })
            .collect();
        assert_eq!(data["passed"], steps.iter().all(|(_, message)| message.is_none()));
        steps
    }
}

async fn data(answer: Response) -> Value {
    let mut body: Value = answer.json().await.expect("JSON");
    body["data"].take()
}

/// Returns the steps of a test that passed.
fn passed() -> Vec<(String, Option<String>)> {
    ["write", "read", "delete"]
        .map(|action| (action.to_owned(), None))
        .to_vec()
}

#[tokio::test]
async fn a_connection_is_made_looked_at_and_deleted() {
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", "127.0.0.1")]).await;
    let s3 = to_s3("http://127.0.0.1:9000/", "documents");
    let google = to_google("reports");
    let mut paths = Vec::new();
    for connection in [&s3, &google] {
        let answer = studio.connect(connection).await;
        assert_eq!(answer.status(), 201);
        let path = header(&answer, "location").to_owned();
        let made = data(answer).await;
        assert_eq!(path, format!("{CONNECTIONS}/{}", made["id"].as_str().expect("an id")));
        let shown = data(studio.ask(Method::GET, &path).await).await;
        assert_eq!(shown, made);
        paths.push(path);
    }
    let answer = studio.ask(Method::GET, CONNECTIONS).await;
    let list = answer.text().await.expect("a body");
    for secret in ["platen-secret", "PRIVATE KEY", "0123456789abcdef"] {
        assert!(!list.contains(secret), "{secret}");
        assert!(!studio.service.process.log().contains(secret), "{secret}");
    }
    let list: Value = serde_json::from_str(&list).expect("JSON");
    assert_eq!(list["data"][0]["identity"], "platen@tests.iam.gserviceaccount.com");
    assert_eq!(list["data"][0]["path_prefix"], "a/b/");
    assert_eq!(list["data"][0]["endpoint"], Value::Null);
    assert_eq!(list["data"][1]["identity"], "platen");
    assert_eq!(list["data"][1]["path_prefix"], "");
    assert_eq!(list["data"][1]["endpoint"], "http://127.0.0.1:9000");

    let first = studio.ask(Method::GET, &format!("{CONNECTIONS}?page_size=1")).await;
    let next = header(&first, "link")
        .split(['<', '>'])
        .nth(1)
        .expect("a path")
        .to_owned();
    let second = data(studio.ask(Method::GET, &next).await).await;
    assert_eq!(second.as_array().expect("a list").len(), 1);
    assert_eq!(second[0]["bucket"], "documents");

    for path in &paths {
        assert_eq!(studio.ask(Method::DELETE, path).await.status(), 204);
        for method in [Method::GET, Method::DELETE] {
            assert_eq!(studio.ask(method, path).await.status(), 404);
        }
        let tested = studio.ask(Method::POST, &format!("{path}/test")).await;
        assert_eq!(tested.status(), 404);
    }
    assert_eq!(data(studio.ask(Method::GET, CONNECTIONS).await).await, json!([]));
}

#[tokio::test]
async fn credentials_are_sealed() {
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", "127.0.0.1")]).await;
    studio.connected(&to_s3("http://127.0.0.1:9000", "documents")).await;
    let row = "select encode(sealed_credentials, 'escape') || connections::text from connections";
    let row = studio.service.text(row).await;
    assert!(
        !row.contains("secret_access_key") && !row.contains("platen-secret"),
        "{row}"
    );
}

#[tokio::test]
async fn what_cannot_be_connected_to_is_refused() {
    let studio = Studio::start().await;
    let mut connection = to_s3("http://127.0.0.1:9000", "a/b");
    connection["path_prefix"] = "a".into();
    connection["credentials"] = json!({"access_key_id": "a"});
    let found = problems(studio.connect(&connection).await).await;
    let pointers: Vec<_> = found.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(
        pointers,
        [
            "/connection/bucket",
            "/connection/endpoint",
            "/connection/credentials/secret_access_key",
            "/connection/path_prefix",
        ]
    );
    assert!(found[1].1.contains("a loopback address can't be reached"), "{found:?}");
}

#[tokio::test]
async fn names_and_places_are_unique_in_an_account() {
    let studio = Studio::start().await;
    let mut connection = to_google("documents");
    studio.connected(&connection).await;
    let problem = |found: Vec<(String, String)>| found.into_iter().next().expect("a fault").0;
    connection["bucket"] = "others".into();
    assert_eq!(
        problem(problems(studio.connect(&connection).await).await),
        "/connection/name"
    );
    connection["bucket"] = "documents".into();
    connection["name"] = "another".into();
    assert_eq!(
        problem(problems(studio.connect(&connection).await).await),
        "/connection/path_prefix"
    );
    connection["path_prefix"] = "a/".into();
    studio.connected(&connection).await;
}

#[tokio::test]
async fn a_test_leaves_nothing_behind() {
    let (s3, gcs) = (s3().await, gcs().await);
    let studio = Studio::start_with(&[
        ("PLATEN_EGRESS_ALLOW", "127.0.0.1"),
        ("PLATEN_GCS_ENDPOINT", &gcs.endpoint()),
    ])
    .await;
    let bucket = s3.bucket(Access::Full);
    let path = studio.connected(&to_s3(&s3.endpoint(), &bucket)).await;
    assert_eq!(studio.tested(&path).await, passed());
    assert_eq!(s3.keys(&bucket).await, [""; 0]);
    let bucket = gcs.bucket().await;
    let path = studio.connected(&to_google(&bucket)).await;
    assert_eq!(studio.tested(&path).await, passed());
    assert_eq!(gcs.names(&bucket).await, [""; 0]);
}

#[tokio::test]
async fn a_test_says_what_to_do() {
    let store = s3().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", "127.0.0.1")]).await;
    let advice = async |connection: Value| {
        let path = studio.connected(&connection).await;
        let steps = studio.tested(&path).await;
        assert_eq!((steps.len(), steps[0].0.as_str()), (1, "write"), "{steps:?}");
        steps
            .into_iter()
            .next()
            .and_then(|(_, message)| message)
            .expect("advice")
    };
    let missing = advice(to_s3(&store.endpoint(), "no-such-bucket")).await;
    assert!(
        missing.starts_with("There is no bucket no-such-bucket: create it"),
        "{missing}"
    );
    assert!(missing.ends_with("(NoSuchBucket)"), "{missing}");

    let closed = store.bucket(Access::None);
    let denied = advice(to_s3(&store.endpoint(), &closed)).await;
    let allow = format!("allow it s3:PutObject on arn:aws:s3:::{closed}/*.");
    assert!(denied.contains(&allow), "{denied}");

    let mut mistyped = to_s3(&store.endpoint(), &store.bucket(Access::Full));
    mistyped["credentials"]["secret_access_key"] = "platen-secretly".into();
    let unaccepted = advice(mistyped).await;
    assert!(
        unaccepted.starts_with("The secret doesn't belong to the access key platen."),
        "{unaccepted}"
    );

    let nowhere = advice(to_s3("http://127.0.0.1:1", "documents")).await;
    assert!(
        nowhere.contains("Check the host and port of the endpoint http://127.0.0.1:1."),
        "{nowhere}"
    );
    let plain = advice(to_s3(&format!("https://{}", store.authority), "over-tls")).await;
    assert!(plain.contains("has a valid certificate"), "{plain}");
    let nameless = advice(to_s3("https://store.invalid", "nameless")).await;
    assert!(
        nameless.contains("Check the host name of the endpoint https://store.invalid."),
        "{nameless}"
    );

    let proxy = FaultProxy::before(&store.authority, [Fault::Answered(503, "application/xml", "")]).await;
    let busy = advice(to_s3(&proxy.endpoint(), "busy-bucket")).await;
    assert!(busy.starts_with("The store is busy or unavailable"), "{busy}");

    let google = advice(to_google("reports")).await;
    assert!(google.starts_with("Google Cloud Storage can't be reached"), "{google}");
}

#[tokio::test]
async fn a_bucket_that_may_only_be_written_to_is_enough_for_deliveries() {
    let store = s3().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", "127.0.0.1")]).await;
    let bucket = store.bucket(Access::WriteOnly);
    let path = studio.connected(&to_s3(&store.endpoint(), &bucket)).await;
    let steps = studio.tested(&path).await;
    assert_eq!(steps[0], ("write".to_owned(), None));
    for (step, permission) in steps[1..].iter().zip(["s3:GetObject", "s3:DeleteObject"]) {
        let message = step.1.as_deref().expect("advice");
        assert!(message.contains(permission), "{message}");
        assert!(message.contains("Documents can still be delivered"), "{message}");
    }
}

const ROLE: &str = "arn:aws:iam::123456789012:role/platen";

#[tokio::test]
async fn a_role_is_assumed_with_the_account_s_external_id() {
    let store = s3().await;
    // MinIO implements the same operation as Amazon's token service.
    let tokens = FaultProxy::before(&store.authority, []).await;
    let key = access_key();
    let text = |name: &str| key[name].as_str().expect("text").to_owned();
    let studio = Studio::start_with(&[
        ("PLATEN_EGRESS_ALLOW", "127.0.0.1"),
        ("PLATEN_AWS_ACCESS_KEY_ID", &text("access_key_id")),
        ("PLATEN_AWS_SECRET_ACCESS_KEY", &text("secret_access_key")),
        ("PLATEN_STS_ENDPOINT", &tokens.endpoint()),
    ])
    .await;
    let bucket = store.bucket(Access::Full);
    let mut connection = to_s3(&store.endpoint(), &bucket);
    connection["credentials"] = json!({"role_arn": ROLE});
    let path = studio.connected(&connection).await;
    let shown = data(studio.ask(Method::GET, &path).await).await;
    assert_eq!(shown["identity"], ROLE);
    assert_eq!(shown["external_id"], studio.account.id);
    for _ in 0..2 {
        assert_eq!(studio.tested(&path).await, passed());
    }
    let [request] = tokens
        .requests()
        .try_into()
        .expect("the credentials are good for a while");
    for told in [
        "Action=AssumeRole",
        "role%2Fplaten",
        &format!("ExternalId={}", studio.account.id),
    ] {
        assert!(request.contains(told), "{told} is missing in {request}");
    }
}

#[tokio::test]
async fn a_role_that_cannot_be_assumed_is_explained() {
    let store = s3().await;
    let denied = "<ErrorResponse><Error><Code>AccessDenied</Code><Message>Not authorized to perform: sts:AssumeRole\
                  </Message></Error></ErrorResponse>";
    let faults = [
        Fault::Answered(403, "text/xml", denied),
        Fault::Answered(503, "text/xml", ""),
    ];
    let tokens = FaultProxy::before(&store.authority, faults).await;
    let studio = Studio::start_with(&[
        ("PLATEN_EGRESS_ALLOW", "127.0.0.1"),
        ("PLATEN_AWS_ACCESS_KEY_ID", "platen"),
        ("PLATEN_AWS_SECRET_ACCESS_KEY", "platen-secret"),
        ("PLATEN_STS_ENDPOINT", &tokens.endpoint()),
    ])
    .await;
    let mut connection = to_s3(&store.endpoint(), &store.bucket(Access::Full));
    connection["credentials"] = json!({"role_arn": ROLE});
    let path = studio.connected(&connection).await;
    let refused = studio.tested(&path).await.remove(0).1.expect("advice");
    assert!(
        refused.starts_with(&format!("The role {ROLE} can't be assumed")),
        "{refused}"
    );
    assert!(
        refused.contains("Not authorized to perform: sts:AssumeRole"),
        "{refused}"
    );
    let busy = studio.tested(&path).await.remove(0).1.expect("advice");
    assert!(busy.starts_with("The store is busy or unavailable"), "{busy}");
    assert_eq!(studio.tested(&path).await, passed());
}

#[tokio::test]
async fn without_an_identity_at_amazon_no_role_is_taken() {
    let studio = Studio::start().await;
    let mut connection = to_s3("https://store.example", "documents");
    connection["credentials"] = json!({"role_arn": ROLE});
    let found = problems(studio.connect(&connection).await).await;
    assert_eq!(found[0].0, "/connection/credentials/role_arn");
}

/// Response of Google's IAM to an allowed impersonation.
const TOKEN: &str = r#"{"accessToken": "a token of acme's", "expireTime": "2099-01-01T00:00:00Z"}"#;

async fn studio_that_impersonates(iam_endpoint: &str, gcs_endpoint: &str) -> Studio {
    let key = service_account_key().to_string();
    Studio::start_with(&[
        ("PLATEN_GOOGLE_KEY", &key),
        ("PLATEN_IAM_ENDPOINT", iam_endpoint),
        ("PLATEN_GCS_ENDPOINT", gcs_endpoint),
    ])
    .await
}

fn as_acme(bucket: &str) -> Value {
    let mut connection = to_google(bucket);
    connection["credentials"] =
        json!({"type": "impersonated_service_account", "client_email": "platen@acme.iam.gserviceaccount.com"});
    connection
}

#[tokio::test]
async fn the_service_acts_as_a_service_account_only_where_the_bucket_is_open_to_the_account() {
    let store = gcs().await;
    let iam = FaultProxy::before(&store.authority, [Fault::Answered(200, "application/json", TOKEN)]).await;
    let google = FaultProxy::before(&store.authority, []).await;
    let studio = studio_that_impersonates(&iam.endpoint(), &google.endpoint()).await;
    let bucket = store.bucket().await;
    let path = studio.connected(&as_acme(&bucket)).await;
    let shown = data(studio.ask(Method::GET, &path).await).await;
    assert_eq!(shown["identity"], "platen@acme.iam.gserviceaccount.com");
    assert_eq!(shown["external_id"], studio.account.id);

    let refused = |account: &str| {
        format!(
            "The bucket {bucket} is not assigned to this account: create an object a/b/platen-account in it that \
             contains the account's id, {account}, and let the service account read it."
        )
    };
    let [(action, advice)] = studio.tested(&path).await.try_into().expect("nothing is tried");
    assert_eq!((action.as_str(), advice), ("write", Some(refused(&studio.account.id))));

    // Another account's bucket owner has granted access.
    let neighbour = studio.service.account("neighbour@example.org");
    store.put(&bucket, "a/b/platen-account", &neighbour.id).await;
    iam.spoil([Fault::Answered(200, "application/json", TOKEN)]);
    let advice = studio.tested(&path).await.remove(0).1;
    assert_eq!(advice, Some(refused(&studio.account.id)));
    assert_eq!(store.names(&bucket).await, ["a/b/platen-account"]);

    store
        .put(&bucket, "a/b/platen-account", &format!("{}\n", studio.account.id))
        .await;
    iam.spoil([Fault::Answered(200, "application/json", TOKEN)]);
    assert_eq!(studio.tested(&path).await, passed());
    // Neither the service's own credentials nor a key are sent to the store.
    for request in google.requests() {
        assert!(request.contains("authorization: Bearer a token of acme's"), "{request}");
    }
    assert_eq!(iam.faults_left(), 0);
}

#[tokio::test]
async fn a_service_account_that_the_service_may_not_act_as_is_explained() {
    let store = gcs().await;
    let denied = r#"{"error": {"code": 403, "message": "Permission 'iam.serviceAccounts.getAccessToken' denied"}}"#;
    let iam = FaultProxy::before(&store.authority, [Fault::Answered(403, "application/json", denied)]).await;
    let studio = studio_that_impersonates(&iam.endpoint(), &store.endpoint()).await;
    let path = studio.connected(&as_acme(&store.bucket().await)).await;
    let advice = studio.tested(&path).await.remove(0).1.expect("advice");
    assert!(advice.contains("getAccessToken"), "{advice}");
    assert!(advice.contains("roles/iam.serviceAccountTokenCreator"), "{advice}");
}

#[tokio::test]
async fn service_account_impersonation_needs_a_google_identity() {
    let studio = Studio::start().await;
    let found = problems(studio.connect(&as_acme("documents")).await).await;
    assert_eq!(found[0].0, "/connection/credentials/type");
    let mut connection = as_acme("documents");
    connection["credentials"]["client_email"] = "../evil@x".into();
    connection["credentials"]["service_account_impersonation_url"] = "http://169.254.169.254/".into();
    let found = problems(studio.connect(&connection).await).await;
    let pointers: Vec<_> = found.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(
        pointers,
        [
            "/connection/credentials/client_email",
            "/connection/credentials/service_account_impersonation_url"
        ]
    );
}
