//! `platen connections …`

use std::fs;

use crate::support::{
    object_stores::{Access, access_key, s3, service_account_key},
    service::{SECRET_KEY, TestService},
};

impl TestService {
    fn connections(&self, arguments: &[&str], input: &str) -> crate::support::command::Answer {
        let settings = [("PLATEN_SECRET_KEY", SECRET_KEY), ("PLATEN_EGRESS_ALLOW", "127.0.0.1")];
        self.command_with(&settings, &[&["connections"], arguments].concat(), input)
    }
}

#[tokio::test]
async fn a_connection_is_added_listed_tested_and_removed() {
    let store = s3().await;
    let service = TestService::start().await;
    let account = service.account("ann@example.org");
    let (bucket, endpoint) = (store.bucket(Access::Full), store.endpoint());
    let add = [
        "add",
        "--email",
        "ann@example.org",
        "--provider",
        "aws_s3",
        "--name",
        "Archive",
        "--bucket",
        &bucket,
        "--path-prefix",
        "invoices/",
        "--endpoint",
        &endpoint,
    ];
    let id = service.connections(&add, &access_key().to_string()).succeeded();
    let list = service.connections(&["list", "--account", &account.id], "").succeeded();
    let row = list.lines().nth(1).expect("a row");
    for told in [
        id.as_str(),
        "Archive (platen)",
        &format!("{bucket}/invoices/"),
        &format!("at {endpoint}"),
    ] {
        assert!(row.contains(told), "{told} is missing in {row}");
    }
    assert!(!list.contains("platen-secret"));
    let tested = service.connections(&["test", &id], "").succeeded();
    let words: Vec<_> = tested.split_whitespace().collect();
    assert_eq!(words, ["write", "ok", "read", "ok", "delete", "ok"]);

    service.connections(&["remove", &id], "").succeeded();
    for command in ["test", "remove"] {
        let refused = service.connections(&[command, &id], "").refused();
        assert!(refused.contains("there is no connection"), "{refused}");
    }
}

#[tokio::test]
async fn a_test_that_fails_says_what_to_do() {
    let store = s3().await;
    let service = TestService::start().await;
    service.account("ann@example.org");
    let endpoint = store.endpoint();
    let add = [
        "add",
        "--email",
        "ann@example.org",
        "--provider",
        "aws_s3",
        "--name",
        "Archive",
        "--bucket",
        "no-such-bucket",
        "--endpoint",
        &endpoint,
    ];
    let id = service.connections(&add, &access_key().to_string()).succeeded();
    let answer = service.connections(&["test", &id], "");
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(
        answer.stdout.starts_with("write   There is no bucket no-such-bucket"),
        "{answer:?}"
    );
}

#[tokio::test]
async fn credentials_come_from_a_file_too_and_are_never_repeated() {
    let service = TestService::start().await;
    service.account("ann@example.org");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("key.json");
    let mut key = service_account_key();
    let add = [
        "add",
        "--email",
        "ann@example.org",
        "--provider",
        "google_cloud_storage",
        "--name",
        "Reports",
        "--bucket",
        "reports",
        "--credentials",
        file.to_str().expect("a plain path"),
    ];
    let missing = service.connections(&add, "").refused();
    assert!(missing.contains("key.json can't be read"), "{missing}");
    fs::write(&file, "hunter2").expect("a file");
    let no_json = service.connections(&add, "").refused();
    assert_eq!(no_json, "platen: the credentials are not JSON\n");
    key["private_key"] = "hunter2".into();
    key["type"] = "authorized_user".into();
    fs::write(&file, key.to_string()).expect("a file");
    let faulty = service.connections(&add, "").refused();
    assert!(
        faulty.contains("credentials/private_key: ") && faulty.contains("credentials/type: "),
        "{faulty}"
    );
    assert!(!faulty.contains("hunter2"), "{faulty}");
    fs::write(&file, service_account_key().to_string()).expect("a file");
    service.connections(&add, "").succeeded();
}
