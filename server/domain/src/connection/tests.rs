use std::sync::LazyLock;

use aws_lc_rs::{
    encoding::{AsDer, Pkcs8V1Der},
    rsa::{KeyPair, KeySize},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use platen_egress::policy::AddressPolicy;
use serde_json::json;

use super::*;

fn parse(connection: &Value) -> Result<NewConnection, Vec<String>> {
    parse_with("", connection)
}

fn parse_with(allow: &str, connection: &Value) -> Result<NewConnection, Vec<String>> {
    let policy = AddressPolicy::new(allow.parse().expect("a list"));
    let body = json!({"connection": connection}).to_string();
    NewConnection::parse(body.as_bytes(), |url| policy.check_literal(url))
        .map_err(|problems| problems.into_iter().map(|problem| problem.pointer).collect())
}

fn pointers(connection: &Value) -> Vec<String> {
    parse(connection).err().unwrap_or_default()
}

fn amazon(changes: &Value) -> Value {
    changed(
        json!({
            "provider": "aws_s3", "name": "Archive", "bucket": "documents", "region": "eu-central-1",
            "credentials": {"access_key_id": "AKIA", "secret_access_key": "hunter2"},
        }),
        changes,
    )
}

fn google(changes: &Value) -> Value {
    changed(
        json!({
            "provider": "google_cloud_storage", "name": "Archive", "bucket": "documents",
            "credentials": {
                "type": "service_account", "client_email": "platen@acme.example", "private_key_id": "1",
                "private_key": private_key(),
            },
        }),
        changes,
    )
}

fn changed(mut connection: Value, changes: &Value) -> Value {
    for (name, value) in changes.as_object().expect("members") {
        connection[name] = value.clone();
    }
    connection
}

fn private_key() -> String {
    static KEY: LazyLock<String> = LazyLock::new(|| {
        let key = KeyPair::generate(KeySize::Rsa2048).expect("a key");
        let der = AsDer::<Pkcs8V1Der>::as_der(&key).expect("its form");
        let base64 = BASE64_STANDARD.encode(der.as_ref());
        format!("-----BEGIN PRIVATE KEY-----\n{base64}\n-----END PRIVATE KEY-----\n")
    });
    KEY.clone()
}

#[test]
fn a_bucket_of_amazon() {
    let new = parse(&amazon(&json!({"path_prefix": "invoices/2026/"}))).expect("a connection");
    assert_eq!(new.settings.provider, Provider::AwsS3);
    assert_eq!(new.settings.path_prefix, "invoices/2026/");
    assert_eq!(new.credentials.identity(), "AKIA");
    assert!(!format!("{new:?}").contains("hunter2"));
}

#[test]
fn a_role_instead_of_a_key() {
    let role = |arn: &str| amazon(&json!({"credentials": {"role_arn": arn}}));
    let arn = "arn:aws:iam::123456789012:role/platen";
    let new = parse(&role(arn)).expect("a connection");
    assert_eq!(new.credentials.identity(), arn);
    let again = Credentials::from_value(Provider::AwsS3, new.credentials.to_value()).expect("credentials");
    assert!(matches!(again, Credentials::Role(role) if role.role_arn == arn));
    for wrong in ["", "platen", "arn:aws:iam::1:role/platen", "arn:aws:s3:::documents"] {
        assert_eq!(pointers(&role(wrong)), ["/connection/credentials/role_arn"], "{wrong}");
    }
    let both = json!({"role_arn": arn, "access_key_id": "AKIA"});
    let both = amazon(&json!({"credentials": both}));
    assert_eq!(pointers(&both), ["/connection/credentials/access_key_id"]);
}

#[test]
fn of_a_key_file_only_the_key_is_taken() {
    let mut connection = google(&json!({}));
    connection["credentials"]["token_uri"] = "http://169.254.169.254/".into();
    connection["credentials"]["universe_domain"] = "evil.example".into();
    let new = parse(&connection).expect("a connection");
    assert_eq!(new.credentials.identity(), "platen@acme.example");
    let kept = new.credentials.to_value();
    let names: Vec<_> = kept.as_object().expect("members").keys().collect();
    assert_eq!(names, ["client_email", "private_key_id", "private_key"]);
    let again = Credentials::from_value(Provider::GoogleCloudStorage, kept.clone()).expect("credentials");
    assert_eq!(again.to_value(), kept);
}

#[test]
fn every_fault_is_listed_where_it_is() {
    let connection = json!({
        "name": "", "provider": "aws_s3", "bucket": "a/b", "path_prefix": "invoices", "endpoint": "ftp://x.example",
        "credentials": {"access_key_id": "a b", "secret_access_key": "", "token": "x"}, "bogus": 1,
    });
    assert_eq!(
        pointers(&connection),
        [
            "/connection/name",
            "/connection/bucket",
            "/connection/path_prefix",
            "/connection/endpoint",
            "/connection/credentials/access_key_id",
            "/connection/credentials/secret_access_key",
            "/connection/credentials/token",
            "/connection/bogus",
        ]
    );
    assert_eq!(
        pointers(&json!({})),
        [
            "/connection/provider",
            "/connection/name",
            "/connection/bucket",
            "/connection/credentials",
        ]
    );
}

#[test]
fn no_fault_tells_a_secret() {
    let wrong = json!({"access_key_id": "AKIA", "secret_access_key": "hunter2\n"});
    let body = json!({"connection": amazon(&json!({"credentials": wrong}))}).to_string();
    let problems =
        NewConnection::parse(body.as_bytes(), |url| AddressPolicy::default().check_literal(url)).expect_err("a fault");
    assert_eq!(problems[0].pointer, "/connection/credentials/secret_access_key");
    assert!(!format!("{problems:?}").contains("hunter2"), "{problems:?}");
}

#[test]
fn only_keys_of_service_accounts_that_can_sign_are_taken() {
    let key = |name: &str, value: &str| {
        let mut connection = google(&json!({}));
        connection["credentials"][name] = value.into();
        pointers(&connection)
    };
    for kind in ["external_account", "authorized_user"] {
        assert_eq!(key("type", kind), ["/connection/credentials/type"], "{kind}");
    }
    assert_eq!(
        key("type", "impersonated_service_account"),
        [
            "/connection/credentials/private_key_id",
            "/connection/credentials/private_key"
        ]
    );
    let cut = &private_key()[..800];
    for wrong in [
        "hunter2",
        cut,
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
    ] {
        assert_eq!(key("private_key", wrong), ["/connection/credentials/private_key"]);
    }
    let access_key = json!({"access_key_id": "AKIA", "secret_access_key": "x"});
    assert_eq!(
        pointers(&google(&json!({"credentials": access_key}))),
        [
            "/connection/credentials/type",
            "/connection/credentials/client_email",
            "/connection/credentials/private_key_id",
            "/connection/credentials/private_key",
        ]
    );
}

#[test]
fn amazon_has_regions_and_google_needs_neither_region_nor_endpoint() {
    let mut nowhere = amazon(&json!({}));
    nowhere.as_object_mut().expect("members").remove("region");
    assert_eq!(pointers(&nowhere), ["/connection/region"]);
    nowhere["endpoint"] = "https://minio.example".into();
    assert_eq!(pointers(&nowhere), [""; 0]);
    assert_eq!(
        pointers(&amazon(&json!({"region": "x.evil.example/"}))),
        ["/connection/region"]
    );
    let settings = json!({"region": "eu", "endpoint": "https://minio.example"});
    assert_eq!(
        pointers(&google(&settings)),
        ["/connection/region", "/connection/endpoint"]
    );
}

#[test]
fn an_endpoint_is_a_public_host() {
    for sound in ["https://minio.example", "http://minio.example:9000", "https://8.8.8.8/"] {
        assert_eq!(pointers(&amazon(&json!({"endpoint": sound}))), [""; 0], "{sound}");
    }
    for wrong in [
        "minio.example",
        "ftp://minio.example",
        "https://",
        "https://user:password@minio.example",
        "https://minio.example/store",
        "https://minio.example/?x",
        "https://minio.example:99999",
        "https://minio.example:0",
        "http://127.0.0.1:9000",
        "http://localhost:9000",
        "http://169.254.169.254",
        "http://[::ffff:10.0.0.1]",
    ] {
        assert_eq!(
            pointers(&amazon(&json!({"endpoint": wrong}))),
            ["/connection/endpoint"],
            "{wrong}"
        );
    }
    let own = amazon(&json!({"endpoint": "http://127.0.0.1:9000"}));
    assert!(parse_with("127.0.0.1:9000", &own).is_ok());
}

#[test]
fn a_prefix_ends_with_a_slash() {
    for sound in ["", "a/", "/", "/a/", "ä b/c.d/", "a..b/"] {
        assert_eq!(pointers(&amazon(&json!({"path_prefix": sound}))), [""; 0], "{sound:?}");
    }
    for wrong in ["a", "a/b", "../", "a/../b/", "a\n/", "a\u{85}/"] {
        let found = pointers(&amazon(&json!({"path_prefix": wrong})));
        assert_eq!(found, ["/connection/path_prefix"], "{wrong:?}");
    }
}

#[test]
fn a_connection_covers_its_prefix() {
    let new = parse(&google(&json!({"path_prefix": "invoices/"}))).expect("a connection");
    let connection = Connection {
        id: ConnectionId::generate(),
        settings: new.settings,
        identity: String::new(),
        revision: 1,
        inserted_at: OffsetDateTime::UNIX_EPOCH,
    };
    assert_eq!(connection.covers(), "gs://documents/invoices/");
}
