//! `MinIO` and fake-gcs-server: one of each for the whole run, and a fresh bucket for each test.

use std::{
    fs,
    net::TcpListener,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Instant,
};

use aws_lc_rs::{
    encoding::{AsDer, Pkcs8V1Der},
    rsa::{KeyPair, KeySize},
};
use aws_sdk_s3::config::{BehaviorVersion, Credentials, Region};
use axum::{Json, Router, routing::post};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::support::{folder, process::PATIENCE};

/// The credentials of `MinIO`.
pub(crate) const ACCESS_KEY_ID: &str = "platen";
pub(crate) const SECRET_ACCESS_KEY: &str = "platen-secret";

/// Runs a server until standard input closes, which happens however the test run ends, and then removes its files.
const SCRIPT: &str = r#"
folder=$1
shift
"$@" >"$folder/log" 2>&1 &
cat >/dev/null
kill $!
wait
rm -rf "$folder"
"#;

/// Counter for unique bucket names.
static BUCKETS: AtomicUsize = AtomicUsize::new(0);

/// Permissions on the objects of a bucket.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Access {
    Full,
    WriteOnly,
    None,
}

impl Access {
    /// Returns the prefix of bucket names with these permissions.
    fn prefix(self) -> &'static str {
        match self {
            Self::Full => "open",
            Self::WriteOnly => "write-only",
            Self::None => "closed",
        }
    }

    fn allows(self, action: &str) -> bool {
        match self {
            Self::Full => true,
            Self::WriteOnly => action == "s3:PutObject",
            Self::None => false,
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StoredObject {
    pub(crate) content_type: String,
    pub(crate) content: Vec<u8>,
}

pub(crate) struct S3 {
    /// `127.0.0.1:port`
    pub(crate) authority: String,
    data: PathBuf,
    _script: Child,
}

/// Returns the running `MinIO`, starting it first if necessary.
pub(crate) async fn s3() -> &'static S3 {
    static RUNNING: OnceCell<S3> = OnceCell::const_new();
    RUNNING.get_or_init(S3::start).await
}

impl S3 {
    async fn start() -> Self {
        let folder = folder::temporary().keep();
        let data = folder.join("data");
        let authority = free_authority();
        let script = start("minio", &folder, |command| {
            command
                .arg("server")
                .arg(&data)
                .args(["--address", &authority])
                .env("MINIO_ROOT_USER", ACCESS_KEY_ID)
                .env("MINIO_ROOT_PASSWORD", SECRET_ACCESS_KEY)
                .env("MINIO_BROWSER", "off")
                .env("MINIO_POLICY_PLUGIN_URL", decide_about_access());
        });
        until_it_answers(&format!("http://{authority}/minio/health/live")).await;
        Self {
            authority,
            data,
            _script: script,
        }
    }

    /// Returns the endpoint for storage connections.
    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.authority)
    }

    /// Creates a bucket and returns its name.
    pub(crate) fn bucket(&self, access: Access) -> String {
        let name = fresh_name(access.prefix());
        fs::create_dir(self.data.join(&name)).expect("a new folder");
        name
    }

    /// Returns an object, or `None` if it doesn't exist.
    pub(crate) async fn object(&self, bucket: &str, key: &str) -> Option<StoredObject> {
        let answer = self.client().get_object().bucket(bucket).key(key).send().await.ok()?;
        let content_type = answer.content_type.unwrap_or_default();
        let content = answer.body.collect().await.expect("a body").to_vec();
        Some(StoredObject { content_type, content })
    }

    /// Returns the keys of all objects.
    pub(crate) async fn keys(&self, bucket: &str) -> Vec<String> {
        // A page contains at most 1,000 objects.
        let mut pages = self.client().list_objects_v2().bucket(bucket).into_paginator().send();
        let mut keys = Vec::new();
        while let Some(page) = pages.next().await {
            let objects = page.expect("a list").contents.into_iter().flatten();
            keys.extend(objects.filter_map(|object| object.key));
        }
        keys
    }

    fn client(&self) -> aws_sdk_s3::Client {
        let http = aws_smithy_http_client::Builder::new().build_http();
        let config = aws_sdk_s3::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new(ACCESS_KEY_ID, SECRET_ACCESS_KEY, None, None, "tests"))
            .endpoint_url(self.endpoint())
            .force_path_style(true)
            .http_client(http);
        aws_sdk_s3::Client::from_conf(config.build())
    }
}

/// Returns an access key that `MinIO` accepts.
pub(crate) fn access_key() -> Value {
    json!({"access_key_id": ACCESS_KEY_ID, "secret_access_key": SECRET_ACCESS_KEY})
}

/// Starts `MinIO`'s policy plugin, which decides about access, on its own thread, because it outlives the test that
/// starts it. Returns its address.
fn decide_about_access() -> String {
    async fn decide(Json(question): Json<Value>) -> Json<Value> {
        let asked = |name: &str| question["input"][name].as_str().unwrap_or_default().to_owned();
        let (bucket, action) = (asked("bucket"), asked("action"));
        let all = [Access::WriteOnly, Access::None];
        let access = all.into_iter().find(|access| bucket.starts_with(access.prefix()));
        Json(json!({"result": access.unwrap_or(Access::Full).allows(&action)}))
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.set_nonblocking(true).expect("a socket");
    let address = listener.local_addr().expect("bound");
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a socket");
            let router = Router::new().route("/", post(decide));
            axum::serve(listener, router).await.expect("serves");
        });
    });
    format!("http://{address}/")
}

/// fake-gcs-server. It doesn't restrict access.
pub(crate) struct Gcs {
    /// `127.0.0.1:port`
    pub(crate) authority: String,
    _script: Child,
}

/// Returns the running fake-gcs-server, starting it first if necessary.
pub(crate) async fn gcs() -> &'static Gcs {
    static RUNNING: OnceCell<Gcs> = OnceCell::const_new();
    RUNNING.get_or_init(Gcs::start).await
}

impl Gcs {
    async fn start() -> Self {
        let authority = free_authority();
        let (host, port) = authority.split_once(':').expect("a port");
        let endpoint = format!("http://{authority}");
        let script = start("fake-gcs-server", &folder::temporary().keep(), |command| {
            command
                .args(["-scheme", "http", "-host", host, "-port", port, "-backend", "memory"])
                .args(["-public-host", &authority, "-external-url", &endpoint]);
        });
        until_it_answers(&format!("{endpoint}/_internal/healthcheck")).await;
        Self {
            authority,
            _script: script,
        }
    }

    /// Returns the value for `PLATEN_GCS_ENDPOINT`.
    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.authority)
    }

    /// Creates a bucket and returns its name.
    pub(crate) async fn bucket(&self) -> String {
        let name = fresh_name("open");
        let request = http().post(format!("{}/storage/v1/b?project=tests", self.endpoint()));
        let answer = request.json(&json!({"name": name})).send().await.expect("an answer");
        assert!(answer.status().is_success(), "{answer:?}");
        name
    }

    /// Returns an object, or `None` if it doesn't exist.
    pub(crate) async fn object(&self, bucket: &str, name: &str) -> Option<Vec<u8>> {
        let mut url = url::Url::parse(&self.endpoint()).expect("an address");
        let segments = ["storage", "v1", "b", bucket, "o", name];
        url.path_segments_mut().expect("a path").extend(segments);
        url.set_query(Some("alt=media"));
        let answer = http().get(url).send().await.expect("an answer");
        if answer.status() == 404 {
            return None;
        }
        Some(answer.bytes().await.expect("a body").to_vec())
    }

    /// Uploads an object.
    pub(crate) async fn put(&self, bucket: &str, name: &str, content: &str) {
        let url = format!("{}/upload/storage/v1/b/{bucket}/o", self.endpoint());
        let url = url::Url::parse_with_params(&url, [("uploadType", "media"), ("name", name)]).expect("an address");
        let answer = http()
            .post(url)
            .body(content.to_owned())
            .send()
            .await
            .expect("an answer");
        assert!(answer.status().is_success(), "{answer:?}");
    }

    /// Returns the names of all objects.
    pub(crate) async fn names(&self, bucket: &str) -> Vec<String> {
        let url = format!("{}/storage/v1/b/{bucket}/o", self.endpoint());
        let list: Value = http()
            .get(url)
            .send()
            .await
            .expect("an answer")
            .json()
            .await
            .expect("JSON");
        let items = list["items"].as_array().into_iter().flatten();
        items
            .map(|item| item["name"].as_str().expect("a name").to_owned())
            .collect()
    }
}

/// Returns a service account key in Google's format, with URLs that are not to be requested.
pub(crate) fn service_account_key() -> Value {
    static PRIVATE_KEY: LazyLock<String> = LazyLock::new(|| {
        let key = KeyPair::generate(KeySize::Rsa2048).expect("a key");
        let der = AsDer::<Pkcs8V1Der>::as_der(&key).expect("its form");
        let base64 = BASE64_STANDARD.encode(der.as_ref());
        format!("-----BEGIN PRIVATE KEY-----\n{base64}\n-----END PRIVATE KEY-----\n")
    });
    json!({
        "type": "service_account",
        "project_id": "tests",
        "private_key_id": "0123456789abcdef",
        "private_key": *PRIVATE_KEY,
        "client_email": "platen@tests.iam.gserviceaccount.com",
        "token_uri": "http://127.0.0.1:1/token",
        "universe_domain": "example.org",
    })
}

fn http() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().expect("a client")
}

fn fresh_name(prefix: &str) -> String {
    format!("{prefix}-{}", BUCKETS.fetch_add(1, Ordering::Relaxed))
}

fn free_authority() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("bound").to_string()
}

fn start(name: &str, folder: &Path, arguments: impl FnOnce(&mut Command)) -> Child {
    let home = std::env::var_os("HOME").expect("a home");
    let program = PathBuf::from(home).join(".cache/platen/stores").join(name);
    assert!(
        program.exists(),
        "{} is missing: deploy/setup.sh --test installs it",
        program.display()
    );
    let mut command = Command::new("bash");
    command.args(["-c", SCRIPT, "bash"]).arg(folder).arg(program);
    arguments(&mut command);
    // In its own process group, so that Ctrl-C only stops the tests; the script ends when its input closes.
    command
        .process_group(0)
        .stdin(Stdio::piped())
        .spawn()
        .expect("bash starts")
}

async fn until_it_answers(url: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match http().get(url).send().await {
            Ok(answer) if answer.status().is_success() => return,
            other => assert!(Instant::now() < deadline, "{url} does not answer: {other:?}"),
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
