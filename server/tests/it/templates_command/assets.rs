//! Assets of templates as files.

use std::{fs, os::unix::fs::symlink};

use super::{Repository, lines};
use crate::support::folder;

const LOGO: &str = "<svg xmlns='http://www.w3.org/2000/svg'/>";

impl Repository {
    /// Returns names and sizes of the account's assets.
    async fn assets(&self) -> String {
        let assets = "select coalesce(string_agg(name || ' ' || bytes, ', ' order by name), '') from assets";
        self.studio.service.text(assets).await
    }
}

#[tokio::test]
async fn assets_are_pushed_compared_and_pulled() {
    let repository = Repository::start().await;
    repository.execute("pull", &[]).succeeded();
    repository.write("invoice/assets/img/logo 1.svg", LOGO);
    repository.write("invoice/assets/a.css", "p {}");
    repository.write("invoice/assets/.DS_Store", "x");
    repository.write("letterhead/assets/gro\u{308}\u{df}e.csv", "a,b");
    let created = [
        "asset:invoice/a.css is created",
        "asset:invoice/img/logo 1.svg is created",
        "asset:letterhead/gr\u{f6}\u{df}e.csv is created",
    ];
    let shown = repository.execute("diff", &["--exit-code"]);
    assert_eq!((shown.code, lines(&shown.stdout)), (Some(1), created.to_vec()));
    assert!(
        shown.stderr.contains("push changes 0 of 2 templates, and 3 assets"),
        "{}",
        shown.stderr
    );
    let pushed = repository.push(&["--template", "invoice"]);
    assert_eq!(
        pushed,
        "stored asset:invoice/a.css\nstored asset:invoice/img/logo 1.svg"
    );
    repository.execute("push", &[]).succeeded();
    let stored = "invoice/a.css 4, invoice/img/logo 1.svg 41, letterhead/gr\u{f6}\u{df}e.csv 3";
    assert_eq!(repository.assets().await, stored);
    assert_eq!(repository.push(&[]), "");
    assert_eq!(repository.execute("diff", &["--exit-code"]).succeeded(), "");

    repository.studio.asset("brand/other.css", b"p {}").await;
    repository.studio.asset("invoice/.git/config.csv", b"a").await;
    repository.write("invoice/assets/a.css", "p { color: red }");
    repository.write("letterhead/assets/gro\u{308}\u{df}e.csv", "a");
    let changed = repository.execute("diff", &[]).succeeded();
    let replaced =
        ["asset:invoice/a.css", "asset:letterhead/gr\u{f6}\u{df}e.csv"].map(|name| format!("{name} is replaced"));
    assert_eq!(lines(&changed), replaced);
    // Files that can't be assets stay.
    repository.write("invoice/assets/logo (1).svg", LOGO);
    let pulled = repository.execute("pull", &[]).succeeded();
    let expected = ["./invoice/assets/a.css", "./letterhead/assets/gro\u{308}\u{df}e.csv"];
    assert_eq!(lines(&pulled), expected);
    assert_eq!(repository.read("invoice/assets/a.css"), "p {}");
    assert_eq!(repository.execute("pull", &[]).succeeded(), "");
    assert!(!repository.path("invoice/assets/.git").exists());
    repository.execute("pull", &["elsewhere"]).succeeded();
    assert_eq!(repository.read("elsewhere/invoice/assets/img/logo 1.svg"), LOGO);
    assert!(!repository.path("elsewhere/brand").exists());
}

#[tokio::test]
async fn a_key_that_may_not_read_assets_pulls_templates() {
    let repository = Repository::start().await;
    repository.studio.asset("invoice/a.css", b"p {}").await;
    let create = repository
        .studio
        .service
        .create_key("ann@example.org", "n", &["--scope", "templates:read"]);
    let pulled = repository.command(Some(&create.succeeded()), "pull", &[]);
    assert!(pulled.stderr.contains("assets are left out"), "{}", pulled.stderr);
    assert!(lines(&pulled.succeeded()).contains(&"./invoice/template.html"));
    assert!(!repository.path("invoice/assets").exists());
}

#[tokio::test]
async fn a_template_is_not_published_without_its_assets() {
    let repository = Repository::start().await;
    repository.execute("pull", &[]).succeeded();
    let shorter_bodies = "update accounts set body_bytes = 20000";
    assert_eq!(repository.studio.service.execute(shorter_bodies).await, 1);
    repository.write("letterhead/assets/a.css", &" ".repeat(30_000));
    repository.write("letterhead/template.html", "{% block body %}{% endblock %}");
    repository.write("invoice/assets/b.css", "p {}");
    let refused = repository.execute("push", &[]).refused();
    for expected in [
        "letterhead/assets/a.css: ",
        "letterhead: not published, because its assets were refused",
        "invoice: not published, because letterhead was refused",
        "2 of 2 templates were not published",
    ] {
        assert!(refused.contains(expected), "{expected} is missing in {refused}");
    }
    assert_eq!(repository.assets().await, "invoice/b.css 4");
    assert_eq!(repository.template("letterhead").await.1, 1);
}

#[tokio::test]
async fn assets_that_a_template_names_and_that_do_not_exist_are_listed() {
    let repository = Repository::start().await;
    repository.execute("pull", &[]).succeeded();
    repository.studio.asset("brand/logo.svg", LOGO.as_bytes()).await;
    repository.write("invoice/assets/a.css", "p {}");
    let content = "<base href='asset:invoice/'><link rel=stylesheet href=asset:fonts.css>
        <img src=asset:brand/logo.svg alt=''><img src='asset:{{ picture }}' alt=''><img src=asset:brand/none.svg alt=''>";
    repository.write("invoice/template.html", content);
    repository.write("letterhead/template.html", "<base href='asset:brands/'>");
    for command in ["diff", "push"] {
        let shown = repository.execute(command, &[]);
        assert_eq!(shown.code, Some(0));
        let listed: Vec<_> = lines(&shown.stderr)
            .into_iter()
            .filter_map(|line| line.split_once(", which neither"))
            .collect();
        let expected = [
            "platen: invoice/template.html names asset:brand/none.svg",
            "platen: letterhead/template.html names asset:brands/",
        ];
        assert_eq!(listed.iter().map(|(start, _)| *start).collect::<Vec<_>>(), expected);
    }
}

#[tokio::test]
async fn files_that_cannot_be_assets_are_named() {
    let repository = Repository::start().await;
    repository.execute("pull", &[]).succeeded();
    let refused = |expected: &str| {
        let answer = repository.execute("push", &[]).refused();
        assert!(answer.contains(expected), "{expected} is missing in {answer}");
    };
    repository.write("invoice/assets/page.html", "<p>");
    refused("invoice/assets/page.html: Must be a picture");
    fs::rename(
        repository.path("invoice/assets/page.html"),
        repository.path("invoice/assets/a?.css"),
    )
    .expect("our own folder");
    refused("invoice/assets/a?.css: Names consist of letters");
    fs::remove_file(repository.path("invoice/assets/a?.css")).expect("our own file");
    for name in ["\u{f6}.csv", "o\u{308}.csv"] {
        repository.write(&format!("invoice/assets/{name}"), "a");
    }
    refused("another file has the same name");
    fs::remove_dir_all(repository.path("invoice/assets")).expect("our own folder");
    fs::create_dir(repository.path("invoice/assets")).expect("our own folder");
    let outside = folder::temporary();
    fs::write(outside.path().join("secret.csv"), "secret").expect("our own folder");
    for (linked, target) in [
        ("invoice/assets/secret.csv", "secret.csv"),
        ("invoice/assets/more", ""),
        ("invoice/assets", ""),
    ] {
        let path = repository.path(linked);
        if linked == "invoice/assets" {
            fs::remove_dir_all(&path).expect("our own folder");
        }
        symlink(outside.path().join(target), &path).expect("our own folder");
        refused(&format!("{linked}: must not be a symbolic link"));
        fs::remove_file(&path).expect("our own link");
        fs::create_dir_all(repository.path("invoice/assets")).expect("our own folder");
    }
    assert_eq!(repository.assets().await, "");
}
