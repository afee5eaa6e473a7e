//! `platen templates pull`, `push` and `diff`: templates as files of a repository.

mod assets;

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use reqwest::{Method, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    command::{Answer, platen, run},
    folder,
    process::Process,
    studio::Studio,
};

/// A service, and a folder for its templates.
struct Repository {
    studio: Studio,
    folder: TempDir,
}

impl Repository {
    /// An account with an invoice that extends a letterhead.
    async fn start() -> Self {
        let (studio, folder) = (Studio::start().await, folder::temporary());
        studio
            .partial("letterhead", "<p>Harbour</p>{% block body %}{% endblock %}")
            .await;
        let invoice = json!({"template": {
            "name": "Invoice", "handle": "invoice", "preview_context": {"total": 7},
            "content": "{% extends 'letterhead' %}\n{% block body %}{{ total }}{% endblock %}",
        }});
        let created = studio
            .request(Method::POST, "/api/v1/templates")
            .json(&invoice)
            .send()
            .await;
        assert_eq!(created.expect("an answer").status(), 201);
        Self { studio, folder }
    }

    fn command(&self, key: Option<&str>, command: &str, arguments: &[&str]) -> Answer {
        let mut program = platen();
        program
            .envs(key.map(|key| ("PLATEN_KEY", key)))
            .current_dir(self.folder.path());
        let server = ["--server", &self.studio.service.base_url];
        run(program, &[&["templates", command], &server[..], arguments].concat(), "")
    }

    fn execute(&self, command: &str, arguments: &[&str]) -> Answer {
        self.command(Some(&self.studio.account.key), command, arguments)
    }

    /// Pushes, which must succeed. Returns the lines without the ids of templates, of which each has one.
    fn push(&self, arguments: &[&str]) -> String {
        without_ids(&self.execute("push", arguments).succeeded())
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("our own folder");
        fs::write(path, text).expect("our own folder");
    }

    /// Returns the template with a handle, and its published version.
    async fn template(&self, handle: &str) -> (Value, i64) {
        let list = self
            .studio
            .request(Method::GET, "/api/v1/templates")
            .send()
            .await
            .expect("an answer");
        let list: Value = list.json().await.expect("JSON");
        let mut templates = list["data"].as_array().expect("a list").iter();
        let template = templates
            .find(|template| template["handle"] == handle)
            .expect("a template")
            .clone();
        let versions = format!("/api/v1/templates/{}/versions", template["id"].as_str().expect("an id"));
        let versions = self
            .studio
            .request(Method::GET, &versions)
            .send()
            .await
            .expect("an answer");
        let versions: Value = versions.json().await.expect("JSON");
        let mut versions = versions["data"].as_array().expect("a list").iter();
        let published = versions
            .find(|version| version["published"] == true)
            .expect("a published version");
        (template, published["number"].as_i64().expect("a number"))
    }
}

/// Returns the output of `push` without the ids of templates.
fn without_ids(pushed: &str) -> String {
    let without_id = |line: &str| {
        if line.starts_with("stored asset:") {
            return line.to_owned();
        }
        let (done, id) = line.split_once(" (").expect("an id");
        assert!(id.trim_end_matches(')').parse::<uuid::Uuid>().is_ok(), "{pushed}");
        done.to_owned()
    };
    pushed.lines().map(without_id).collect::<Vec<_>>().join("\n")
}

fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[tokio::test]
async fn templates_are_pulled_changed_compared_and_pushed() {
    let repository = Repository::start().await;
    repository.studio.template("Nameless", "x").await;

    let pulled = repository.execute("pull", &["templates"]);
    assert!(
        pulled.stderr.contains("“Nameless”") && pulled.stderr.contains("without a handle"),
        "{}",
        pulled.stderr
    );
    let files = ["samples/default.json", "settings.json", "template.html"];
    let expected = ["invoice", "letterhead"].map(|handle| files.map(|file| format!("templates/{handle}/{file}")));
    assert_eq!(lines(&pulled.succeeded()), expected.concat());
    assert_eq!(
        repository.read("templates/letterhead/settings.json"),
        "{\n  \"name\": \"letterhead\",\n  \"kind\": \"partial\",\n  \"strict\": false\n}\n"
    );
    assert_eq!(
        repository.read("templates/invoice/samples/default.json"),
        "{\n  \"total\": 7\n}\n"
    );
    assert_eq!(repository.execute("pull", &["templates"]).succeeded(), "");
    assert_eq!(
        repository.execute("diff", &["templates", "--exit-code"]).succeeded(),
        ""
    );

    repository.write(
        "templates/letterhead/template.html",
        "<p>Harbour &amp; Finch</p>{% block body %}{% endblock %}",
    );
    repository.write(
        "templates/invoice/settings.json",
        r#"{"name": "Invoice", "strict": true}"#,
    );
    let shown = repository.execute("diff", &["templates"]).succeeded();
    for line in [
        "--- a/letterhead/template.html",
        "+++ b/letterhead/template.html",
        "-<p>Harbour</p>{% block body %}{% endblock %}",
        "+<p>Harbour &amp; Finch</p>{% block body %}{% endblock %}",
        "-  \"strict\": false",
        "+  \"strict\": true",
    ] {
        assert!(
            shown.lines().any(|shown| shown == line),
            "{line} is missing in:\n{shown}"
        );
    }
    let pages = repository.execute("diff", &["templates", "--pages"]).succeeded();
    assert!(pages.ends_with("invoice: 1 of 1 page differs"), "{pages}");
    let differs = repository.execute("diff", &["templates", "--exit-code"]);
    assert_eq!(differs.code, Some(1), "{differs:#?}");
    assert!(
        differs.stderr.contains("push changes 2 of 2 templates"),
        "{}",
        differs.stderr
    );

    let pushed = repository.push(&["templates"]);
    assert_eq!(pushed, "published letterhead\npublished invoice");
    let (letterhead, _) = repository.template("letterhead").await;
    assert_eq!(
        letterhead["content"],
        "<p>Harbour &amp; Finch</p>{% block body %}{% endblock %}"
    );
    let (invoice, _) = repository.template("invoice").await;
    let settings = format!("/api/v1/templates/{}/settings", invoice["id"].as_str().expect("an id"));
    let settings = repository
        .studio
        .request(Method::GET, &settings)
        .send()
        .await
        .expect("an answer");
    assert_eq!(settings.json::<Value>().await.expect("JSON")["data"]["strict"], true);
    assert_eq!(repository.push(&["templates"]), "");
}

#[tokio::test]
async fn users_of_a_changed_partial_are_published_again() {
    let repository = Repository::start().await;
    repository.execute("pull", &[]).succeeded();
    repository.write("letterhead/template.html", "<p>Finch</p>{% block body %}{% endblock %}");
    let before = repository.template("invoice").await.1;
    assert_eq!(repository.push(&[]), "published letterhead\npublished invoice");
    let (invoice, after) = repository.template("invoice").await;
    assert_eq!(after, before + 1);
    let preview = format!(
        "/api/v1/templates/{}/versions/{after}",
        invoice["id"].as_str().expect("an id")
    );
    let version = repository
        .studio
        .request(Method::GET, &preview)
        .send()
        .await
        .expect("an answer");
    assert_eq!(version.status(), 200);
    // Alone, a document is published without others.
    repository.write("invoice/samples/default.json", "{\"total\": 8}");
    assert_eq!(repository.push(&["--template", "invoice"]), "published invoice");
}

#[tokio::test]
async fn a_push_makes_up_for_an_incomplete_one() {
    let repository = Repository::start().await;
    repository.execute("pull", &[]).succeeded();
    repository.write("letterhead/template.html", "<p>Finch</p>{% block body %}{% endblock %}");
    let alone = repository.push(&["--template", "letterhead"]);
    assert_eq!(alone, "published letterhead");
    let (invoice, before) = repository.template("invoice").await;
    assert_eq!(invoice["outdated_partials"], json!(["letterhead"]));

    let difference = repository.execute("diff", &["--exit-code"]);
    assert_eq!(difference.code, Some(1));
    assert_eq!(difference.stdout, "invoice is published again, with letterhead\n");
    assert_eq!(repository.push(&[]), "published invoice");
    let (invoice, after) = repository.template("invoice").await;
    assert_eq!((after, &invoice["outdated_partials"]), (before + 1, &Value::Null));
    assert_eq!(repository.push(&[]), "");
}

#[tokio::test]
async fn a_refused_template_holds_up_only_those_that_use_it() {
    let repository = Repository::start().await;
    repository.execute("pull", &[]).succeeded();
    repository.write("letterhead/template.html", "<p>\n{{ total|nope }}");
    repository.write("quote/template.html", "Quote");
    repository.write("quote/settings.json", r#"{"name": "Quote"}"#);
    let before = repository.template("invoice").await.1;
    let pushed = repository.execute("push", &[]);
    assert_eq!(
        (pushed.code, &*without_ids(&pushed.stdout)),
        (Some(2), "created quote"),
        "{pushed:#?}"
    );
    for line in [
        "letterhead/template.html: Line 2",
        "invoice: not published, because letterhead was refused",
        "2 of 3 templates were not published",
    ] {
        assert!(pushed.stderr.contains(line), "{line} is missing in {}", pushed.stderr);
    }
    assert_eq!(repository.template("invoice").await.1, before);
}

#[tokio::test]
async fn only_differences_are_pushed() {
    let repository = Repository::start().await;
    repository.execute("pull", &[]).succeeded();
    let before = repository.template("invoice").await.1;
    fs::remove_file(repository.path("invoice/samples/default.json")).expect("our own file");
    assert_eq!(repository.push(&[]), "");
    repository.write("invoice/settings.json", r#"{"name": "Invoice", "strict": true}"#);
    assert_eq!(repository.push(&[]), "changed invoice");
    let (invoice, after) = repository.template("invoice").await;
    assert_eq!((&invoice["preview_context"], after), (&json!({"total": 7}), before));
}

#[tokio::test]
async fn translations_are_a_file() {
    let repository = Repository::start().await;
    let (invoice, _) = repository.template("invoice").await;
    let path = format!("/api/v1/templates/{}", invoice["id"].as_str().expect("an id"));
    let translations = json!({"de": {"total": "Gesamt"}, "en": {"total": "Total"}});
    let change = json!({"content": "<p>{{ t('total') }}", "translations": translations});
    repository.studio.change_template(&path, change).await;
    let pulled = repository.execute("pull", &["--template", "invoice"]).succeeded();
    assert!(lines(&pulled).contains(&"./invoice/translations.json"), "{pulled}");
    assert_eq!(repository.execute("diff", &[]).succeeded(), "");

    // The first language is the template's own.
    let reordered = r#"{"en": {"total": "Total"}, "de": {"total": "Summe"}}"#;
    repository.write("invoice/translations.json", reordered);
    let shown = repository.execute("diff", &[]).succeeded();
    for line in [
        "+++ b/invoice/translations.json",
        "-    \"total\": \"Gesamt\"",
        "+    \"total\": \"Summe\"",
    ] {
        assert!(
            shown.lines().any(|shown| shown == line),
            "{line} is missing in:\n{shown}"
        );
    }
    let pages = repository.execute("diff", &["--pages"]).succeeded();
    assert!(pages.contains("invoice: 1 of 1 page differs"), "{pages}");
    assert_eq!(repository.push(&[]), "published invoice");
    let (invoice, _) = repository.template("invoice").await;
    assert_eq!(invoice["translations"].to_string(), reordered.replace(' ', ""));
    assert_eq!(repository.push(&[]), "");

    repository.write("invoice/translations.json", r#"{"de": {"total": 1}}"#);
    let refused = repository.execute("push", &[]);
    assert!(
        refused.stderr.contains("invoice/translations.json: de/total: "),
        "{}",
        refused.stderr
    );
    // Without the file, the service's translations stay; an empty one removes them.
    fs::remove_file(repository.path("invoice/translations.json")).expect("our own file");
    assert_eq!(repository.push(&[]), "");
    repository.write("invoice/translations.json", "{}");
    assert_eq!(repository.push(&[]), "published invoice");
    let (invoice, _) = repository.template("invoice").await;
    assert_eq!(invoice.get("translations"), None);
    repository.write("invoice/translations.json", reordered);
    repository.execute("pull", &["--template", "invoice"]).succeeded();
    assert_eq!(repository.read("invoice/translations.json"), "{}\n");
}

#[tokio::test]
async fn named_sets_of_sample_data_are_files() {
    let repository = Repository::start().await;
    let samples = {
        let (invoice, _) = repository.template("invoice").await;
        format!("/api/v1/templates/{}/samples", invoice["id"].as_str().expect("an id"))
    };
    let request = |method| repository.studio.request(method, &samples);
    let stored = async || {
        let answer = request(Method::GET).send().await.expect("an answer");
        answer.json::<Value>().await.expect("JSON")["data"].clone()
    };
    let sets = json!({"samples": [{"name": "Long", "context": {"total": 100}}, {"name": "A/B", "context": {}}]});
    let put = request(Method::PUT).json(&sets).send().await;
    assert_eq!(put.expect("an answer").status(), 200);

    let pulled = repository.execute("pull", &["--template", "invoice"]).succeeded();
    assert!(
        lines(&pulled).contains(&"./invoice/samples/A%2FB.json") && pulled.contains("invoice/samples/Long.json"),
        "{pulled}"
    );
    assert_eq!(repository.execute("diff", &[]).succeeded(), "");

    // Sets without a file remain, in their order.
    fs::remove_file(repository.path("invoice/samples/A%2FB.json")).expect("our own file");
    repository.write("invoice/samples/Long.json", "{\"total\": 200}");
    repository.write("invoice/samples/Empty.json", "{}");
    repository.write("invoice/samples/.Empty.json.swp", "no set");
    let shown = repository.execute("diff", &["--pages"]).succeeded();
    for line in [
        "+++ b/invoice/samples/Empty.json",
        "-  \"total\": 100",
        "+  \"total\": 200",
        "invoice: No visible change",
        "invoice, A/B: No visible change",
        "invoice, Empty: No visible change",
        "invoice, Long: No visible change",
    ] {
        assert!(
            shown.lines().any(|shown| shown == line),
            "{line} is missing in:\n{shown}"
        );
    }
    assert_eq!(repository.push(&[]), "changed invoice");
    let expected = json!([
        {"name": "Long", "context": {"total": 200}}, {"name": "A/B", "context": {}}, {"name": "Empty", "context": {}}
    ]);
    assert_eq!(stored().await, expected);
    assert_eq!(repository.push(&[]), "");

    let long = "x".repeat(300 << 10);
    repository.write("invoice/samples/Long.json", &json!({ "total": long }).to_string());
    let refused = repository.execute("push", &[]);
    assert!(
        refused
            .stderr
            .contains("invoice/samples/Long.json: Must have at most 256 KiB"),
        "{}",
        refused.stderr
    );
    repository.write("invoice/samples/Default.json", "{}");
    let refused = repository.execute("diff", &[]);
    assert!(
        refused.stderr.contains("the name of a set of sample data"),
        "{}",
        refused.stderr
    );
}

/// Waits for events of previews until the page's `main` element contains a text, and returns that.
async fn shown(changes: &mut Response, page: impl AsyncFn() -> String, wanted: &str) -> String {
    loop {
        changes.chunk().await.expect("a stream").expect("an event");
        let page = page().await;
        let main = page.split("<main").nth(1).and_then(|main| main.split("</main>").next());
        let (_, main) = main.and_then(|main| main.split_once('>')).expect("a main element");
        if main.contains(wanted) {
            return main.to_owned();
        }
    }
}

#[tokio::test]
async fn a_page_shows_the_preview_while_files_change() {
    let repository = Repository::start().await;
    repository.execute("pull", &[]).succeeded();
    let mut program = platen();
    program
        .args(["templates", "watch", "invoice", "--port", "0", "--server"])
        .arg(&repository.studio.service.base_url)
        .env("PLATEN_KEY", &repository.studio.account.key)
        .current_dir(repository.folder.path());
    let mut watching = Process::start(program);
    let address = watching.wait_for(|watching| {
        let output = watching.stdout();
        let address = output.split_whitespace().find(|word| word.starts_with("http://"));
        address.map(ToOwned::to_owned)
    });

    let client = &repository.studio.service.client;
    let page = async || {
        let page = client.get(&address).send().await.expect("an answer");
        page.text().await.expect("text")
    };
    let changes = client.get(format!("{address}changes")).send().await;
    let mut changes = changes.expect("an answer");
    let picture = "<img src=\"data:image/png;base64,iVBOR";
    let first = shown(&mut changes, page, picture).await;
    repository.write("letterhead/template.html", "{{ total|nope }}");
    let refused = shown(&mut changes, page, "role=\"alert\"").await;
    assert!(
        refused.contains("letterhead/template.html: Partial letterhead, line 1"),
        "{refused}"
    );
    repository.write("letterhead/template.html", "<p>Finch</p>{% block body %}{% endblock %}");
    let second = shown(&mut changes, page, picture).await;
    assert_ne!(second, first, "the picture is that of the changed partial");

    let elsewhere = client.get(&address).header("host", "example.org").send().await;
    assert_eq!(elsewhere.expect("an answer").status(), 421);
    let (letterhead, _) = repository.template("letterhead").await;
    assert!(
        letterhead["content"].as_str().expect("text").contains("Harbour"),
        "nothing is saved"
    );
}

#[tokio::test]
async fn nothing_is_read_or_written_through_links() {
    let repository = Repository::start().await;
    repository.execute("pull", &[]).succeeded();
    let outside = folder::temporary();
    for linked in ["invoice/samples", "invoice"] {
        let (path, target) = (repository.path(linked), outside.path().join(linked.replace('/', "-")));
        fs::rename(&path, &target).expect("our own folder");
        symlink(&target, &path).expect("our own folder");
        for command in ["push", "pull"] {
            let refused = repository.execute(command, &[]).refused();
            let expected = format!("{linked}: must not be a symbolic link");
            assert!(refused.contains(&expected), "{expected} is missing in {refused}");
        }
        fs::remove_file(&path).expect("our own link");
        fs::rename(&target, &path).expect("our own folder");
    }
}

#[tokio::test]
async fn a_folder_fills_an_empty_account_partials_first() {
    let repository = Repository {
        studio: Studio::start().await,
        folder: folder::temporary(),
    };
    for (handle, kind, content) in [
        ("a-letter", "document", "{% extends 'layout' %}"),
        ("layout", "partial", "{% include 'z-footer' %}"),
        ("z-footer", "partial", "<footer>Bristol</footer>"),
    ] {
        repository.write(&format!("{handle}/template.html"), content);
        repository.write(
            &format!("{handle}/settings.json"),
            &json!({"name": handle, "kind": kind}).to_string(),
        );
    }
    repository.write("README.md", "Templates of our letters");
    fs::create_dir(repository.path("no-template")).expect("our own folder");
    let pushed = repository.push(&[]);
    assert_eq!(pushed, "created z-footer\ncreated layout\ncreated a-letter");
    assert_eq!(
        repository.template("a-letter").await.0["content"],
        "{% extends 'layout' %}"
    );
    assert_eq!(repository.execute("diff", &["--exit-code"]).succeeded(), "");
}

#[tokio::test]
async fn errors_name_the_file_and_the_next_step() {
    let repository = Repository::start().await;
    let refused = |arguments: &[&str], expected: &str| {
        let answer = repository.execute("push", arguments).refused();
        assert!(answer.contains(expected), "{expected} is missing in {answer}");
    };
    refused(&[], "run `platen templates pull` first");
    refused(&["nowhere"], "nowhere");
    repository.execute("pull", &[]).succeeded();
    refused(&["--template", "quote"], "holds no template quote");
    refused(&["--template", "Quote"], "letters a to z");

    repository.write("invoice/template.html", "<p>\n{{ total|nope }}");
    refused(&[], "invoice/template.html: Line 2");
    repository.write("invoice/template.html", "{% include 'missing' %}");
    refused(&[], "invoice/template.html: ");
    repository.write("invoice/template.html", "x");
    repository.write("invoice/settings.json", "{\"name\": \"Invoice\", \"Strict\": true}");
    refused(&[], "invoice/settings.json: unknown field `Strict`");
    fs::remove_file(repository.path("invoice/settings.json")).expect("our own file");
    refused(&[], "invoice/settings.json");
    fs::remove_file(repository.path("invoice/template.html")).expect("our own file");
    symlink(Path::new("/etc/hostname"), repository.path("invoice/template.html")).expect("our own folder");
    refused(&[], "invoice/template.html: must not be a symbolic link");
    fs::remove_dir_all(repository.path("invoice")).expect("our own folder");
    repository.write("In_voice/template.html", "x");
    refused(&[], "In_voice: the name of a template's folder is its handle");

    assert!(
        repository
            .command(None, "pull", &[])
            .refused()
            .contains("PLATEN_KEY is not set")
    );
    let unknown = repository.command(Some("pk_live_unknown"), "pull", &[]).refused();
    assert!(!unknown.contains("pk_live_unknown"), "{unknown}");
    let elsewhere = platen_elsewhere(&repository);
    assert_eq!(elsewhere.code, Some(1), "{elsewhere:#?}");
    assert!(elsewhere.stderr.contains("http://127.0.0.1:1/"), "{elsewhere:#?}");
}

/// Runs `pull` with the address of no service.
fn platen_elsewhere(repository: &Repository) -> Answer {
    let mut program = platen();
    program
        .env("PLATEN_KEY", &repository.studio.account.key)
        .current_dir(repository.folder.path());
    run(program, &["templates", "pull", "--server", "http://127.0.0.1:1"], "")
}

#[tokio::test]
async fn content_that_a_folder_lacks_is_listed() {
    let repository = Repository::start().await;
    let long = json!({"samples": [{"name": "Long", "context": {"total": 8}}]});
    let (invoice, _) = repository.template("invoice").await;
    let path = format!("/api/v1/templates/{}/samples", invoice["id"].as_str().expect("an id"));
    let stored = repository.studio.request(Method::PUT, &path).json(&long).send().await;
    assert_eq!(stored.expect("an answer").status(), 200);
    repository.execute("pull", &[]).succeeded();
    fs::remove_dir_all(repository.path("letterhead")).expect("our own folder");
    fs::remove_dir_all(repository.path("invoice/samples")).expect("our own folder");
    for command in ["diff", "push"] {
        let answer = repository.execute(command, &[]);
        assert_eq!(answer.code, Some(0), "{answer:#?}");
        for name in [
            "letterhead",
            "invoice/samples/Long.json",
            "invoice/samples/default.json",
        ] {
            let line = format!("only the account has {name}, which push leaves as it is");
            assert!(answer.stderr.contains(&line), "{answer:#?}");
        }
    }
    assert!(repository.execute("push", &[]).stderr.contains("nothing to change"));

    // A folder that has lost its template is no folder of something else.
    fs::rename(
        repository.path("invoice/template.html"),
        repository.path("invoice/template.htm"),
    )
    .expect("our own folder");
    for command in ["diff", "push"] {
        let answer = repository.execute(command, &[]).refused();
        assert!(
            answer.contains("the folder has settings.json, but no template.html"),
            "{answer:#?}"
        );
    }
    let answer = repository.execute("pull", &["--template", "invoce"]).refused();
    assert!(answer.contains("the account has no template invoce"), "{answer:#?}");
}

#[tokio::test]
async fn a_comparison_that_fails_is_no_success() {
    let repository = Repository::start().await;
    repository.execute("pull", &[]).succeeded();
    repository.write("invoice/template.html", "{{ total|nope }}");
    let answer = repository.execute("diff", &["--pages"]).refused();
    assert!(answer.contains("1 page comparison failed"), "{answer:#?}");
}

#[tokio::test]
async fn unreachable_services_and_invalid_keys_have_errors_of_their_own() {
    let repository = Repository::start().await;
    repository.write("invoice/template.html", "x");
    repository.write("invoice/settings.json", r#"{"name": "Invoice"}"#);
    repository.write(".vscode/settings.json", "{}");
    let mut program = platen();
    program.env("PLATEN_KEY", "key\n").current_dir(repository.folder.path());
    let answer = run(program, &["templates", "diff", "--server", "http://127.0.0.1:1"], "");
    assert!(
        answer.stderr.contains("refused") && answer.stderr.contains("--server"),
        "{answer:#?}"
    );
    for key in ["", "\n", "schlüssel"] {
        let answer = repository.command(Some(key), "diff", &[]).refused();
        assert!(answer.contains("PLATEN_KEY holds no API key"), "{answer:#?}");
    }
}
