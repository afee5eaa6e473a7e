//! A backup that was restored by the commands of `docs/operations/backup.md` is a working service.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::Command,
};

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    support::{
        command::{Answer, platen, run},
        folder, postgres,
        process::Process,
        service::{self, TestService},
        studio::{Studio, body, header},
        visitor::Visitor,
    },
    web,
};

const CHAPTER: &str = include_str!("../../../docs/operations/backup.md");

/// Returns the script of the chapter that begins with this text.
fn script(beginning: &str) -> String {
    let mut scripts = CHAPTER
        .split("```sh\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next());
    let script = scripts.find(|script| script.trim_start().starts_with(beginning));
    script.expect("the chapter says how").to_owned()
}

/// Runs a script like a reader of the chapter.
fn execute(script: &str, database_url: &str, data: &Path, backup: &Path) -> Answer {
    let programs = platen_server::database::binaries::find(None).expect("Postgres is installed");
    let mut command = Command::new("bash");
    command
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", programs.display()))
        .env("DATABASE_URL", database_url)
        .env("PLATEN_DATA_DIR", data)
        .env("BACKUP", backup);
    run(command, &["-euc", script], "")
}

impl Studio {
    /// Renders with an idempotency key.
    async fn render_as(&self, key: &str, body: &Value) -> (String, Vec<u8>) {
        let request = self.request(Method::POST, "/api/v1/renderers/pdf");
        let answer = request.header("idempotency-key", key).json(body).send().await;
        let answer = answer.expect("an answer");
        assert_eq!(answer.status(), 200);
        let render = header(&answer, "x-render-id").to_owned();
        (render, answer.bytes().await.expect("a PDF").to_vec())
    }

    fn webhook_secret(&self) -> String {
        let arguments = ["accounts", "webhook-secret", "--email", "ann@example.org"];
        self.service.command(&arguments, "").succeeded()
    }

    /// Returns the document of an asynchronous render from the default storage.
    async fn file_of(&self, object: &str) -> Vec<u8> {
        let answer = service::client()
            .get(self.service.url(&format!("/files/renders/{object}.pdf")))
            .send()
            .await
            .expect("an answer");
        assert_eq!(answer.status(), 200);
        answer.bytes().await.expect("a PDF").to_vec()
    }
}

#[tokio::test]
async fn everything_works_after_dump_and_restore() {
    let site = web::site();
    let site = ("PLATEN_SITE_DIR", site.path().to_str().expect("text"));
    let before = Studio::start_with(&[("PLATEN_ROLE", "web"), site]).await;
    let template = before.template("Invoice", "<h1>{{ number }}</h1>").await;
    let template_id = template.rsplit('/').next().expect("an id");
    let part = |number: u32| {
        let content = json!({"template_id": template_id, "context": {"number": number}});
        json!({"type": "template", "content": content})
    };
    let once = body(part(1), json!({}));
    let open = Visitor::log_in(&before.service, "ann@example.org")
        .await
        .open_page()
        .await;
    let answered = before.render_as("invoice-1", &once).await;
    let pictures = "select count(*) from render_thumbnails";
    before.service.number_is(1, pictures).await;
    drop(open);
    let secret = before.webhook_secret();
    let worker = before.service.beside(&[("PLATEN_ROLE", "worker")]).await;
    let delivered = before.queued(&json!({"parts": [part(2)]})).await;
    before.ended(&delivered).await;
    let recorded = before.recorded(&delivered).await;
    let object = recorded["object_id"].as_str().expect("it is in our storage").to_owned();
    let document = before.file_of(&object).await;
    drop(worker);
    let queued = before.queued(&json!({"parts": [part(3)]})).await;

    let backup = folder::temporary();
    let data = before.service.data();
    execute(&script("pg_dump"), before.service.database_url(), data, backup.path()).succeeded();
    let account = before.account.clone();
    let list_keys = ["keys", "list", "--email", "ann@example.org"];
    let keys = before.service.command(&list_keys, "").succeeded();
    // Changes after the backup are lost.
    let lost = before.template("Too late", "<p>").await;
    drop(before);

    let (database_url, data) = (postgres::empty_database().await, folder::temporary());
    execute(
        &script("pg_restore --no-owner"),
        &database_url,
        data.path(),
        backup.path(),
    )
    .succeeded();
    let service = TestService::start_in(database_url, data, &[site]).await;
    let after = Studio { service, account };

    assert_eq!(after.service.command(&list_keys, "").succeeded(), keys);
    assert_eq!(after.render_as("invoice-1", &once).await, answered, "a replay");
    assert_eq!(after.file_of(&object).await, document);
    assert_eq!(after.webhook_secret(), secret);
    assert_eq!(after.ended(&queued).await["state"], "succeeded");
    after.pdf(part(4), json!({})).await;
    let gone = after.request(Method::GET, &lost).send().await.expect("an answer");
    assert_eq!(gone.status(), 404);

    let ann = Visitor::log_in(&after.service, "ann@example.org").await;
    assert!(ann.page("/dashboard/templates").await.contains("Invoice"));
    let picture = ann.get(&format!("/dashboard/renders/{}/pages/1.png", answered.0)).await;
    assert_eq!(picture.status(), 200);
}

#[tokio::test]
async fn a_dump_goes_into_a_private_postgres_too() {
    let installation = folder::temporary();
    let (old, new) = (installation.path().join("old"), installation.path().join("new"));
    let backup = folder::temporary();
    let mut process = serve(&old);
    service::base_url(&mut process);
    let key = fs::read_to_string(old.join("first-api-key")).expect("it was made");
    execute(&script("pg_dump"), &socket(&old), &old, backup.path()).succeeded();
    drop(process);

    fs::create_dir(&new).expect("a folder");
    fs::set_permissions(&new, Permissions::from_mode(0o711)).expect("ours");
    fs::copy(old.join("secret-key"), new.join("secret-key")).expect("copied");
    let mut process = serve(&new);
    service::base_url(&mut process);
    let restore = script("pg_restore --clean");
    // Deadlocks may occur; the chapter advises to repeat the restore.
    let tries = (0..5).map(|_| execute(&restore, &socket(&new), &new, backup.path()));
    let restored = tries.into_iter().find(|answer| answer.code == Some(0));
    restored.expect("it is restored");
    for name in ["first-api-key", "first-log-in"] {
        fs::remove_file(new.join(name)).expect("it was made");
    }
    drop(process);
    let mut process = serve(&new);
    let base_url = service::base_url(&mut process);
    let request = service::client().get(format!("{base_url}/api/v1/health"));
    let answer = request.bearer_auth(key.trim()).send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
}

fn serve(data: &Path) -> Process {
    let mut command = platen();
    command
        .arg("serve")
        .env("PLATEN_DATA_DIR", data)
        .env("PLATEN_LISTEN", "127.0.0.1:0");
    Process::start(command)
}

/// Returns the address of the private Postgres, as in the chapter.
fn socket(data: &Path) -> String {
    format!("postgres://platen@/platen?host={}/run", data.display())
}
