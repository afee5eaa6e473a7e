//! `platen render`

use std::{fs, os::unix::fs::symlink, process::Command};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::support::{
    command::{Answer, platen, run},
    folder,
    origin::Origin,
    pdf,
    process::Process,
    studio::asked,
};

fn render(arguments: &[&str], input: &str) -> Answer {
    let mut command: Command = platen();
    command.arg("render");
    run(command, arguments, input)
}

#[test]
fn a_file_becomes_a_pdf_file_without_database() {
    let folder = folder::temporary();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("page.html"), "<title>T</title><p>From a file").unwrap();
    fs::write(path("options.json"), r#"{"size": "a4", "orientation": "landscape"}"#).unwrap();
    let (page, output, options) = (path("page.html"), path("out.pdf"), path("options.json"));
    let arguments = [
        page.as_str(),
        "-o",
        &output,
        "--options",
        &options,
        "--option",
        "size=a5",
    ];
    let answer = render(&arguments, "");
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(0), ""), "{answer:?}");
    let file = fs::read(&output).unwrap();
    assert_eq!(pdf::text(&file).trim(), "From a file");
    let info = pdf::info(&file);
    assert!(info.contains("(A5)") && info.contains("595.92 x 420 pts"), "{info}");
}

#[test]
fn standard_input_becomes_standard_output() {
    let mut command = platen();
    command.args(["render", "-", "-o", "-"]);
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"<p>Piped").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(pdf::text(&output.stdout).trim(), "Piped");
}

#[tokio::test]
async fn an_address_is_fetched_as_the_settings_allow() {
    let origin = Origin::start().await;
    let folder = folder::temporary();
    let output = folder.path().join("out.pdf").to_str().unwrap().to_owned();
    let url = origin.url("/page/Fetched");
    let authority = origin.authority.clone();
    let rendering = tokio::task::spawn_blocking(move || {
        let refused = render(&[&url, "-o", &output], "").refused();
        let mut command = platen();
        command.arg("render").env("PLATEN_EGRESS_ALLOW", authority);
        run(command, &[&url, "-o", &output], "").succeeded();
        (refused, fs::read(output).unwrap())
    });
    let (refused, file) = rendering.await.unwrap();
    assert!(refused.contains("address"), "{refused}");
    assert_eq!(pdf::text(&file).trim(), "Fetched");
}

#[test]
fn the_callers_faults_are_named_and_leave_no_file() {
    let folder = folder::temporary();
    let output = folder.path().join("out.pdf").to_str().unwrap().to_owned();
    let faulty = |arguments: &[&str]| render(&[arguments, &["-o", &output]].concat(), "<p>").refused();
    let all = faulty(&[
        "-",
        "--option",
        "scale=9",
        "--option",
        "margin.top=1",
        "--option",
        "colour=red",
    ]);
    for expected in ["/scale: Must be at most 2; got 9", "/margin/right", "/colour"] {
        assert!(all.contains(expected), "{expected} is missing in {all}");
    }
    assert!(faulty(&["missing.html"]).contains("missing.html"));
    assert!(faulty(&["-", "--option", "scale"]).contains("NAME=VALUE"));
    assert!(faulty(&["-", "--option", "output_encoding=base64"]).contains("output_encoding"));
    assert!(faulty(&["-", "-", "--option", "pages=3"]).contains("the document has 2 pages"));
    assert!(faulty(&["-", "--option", "evaluate_js.expression=nope()"]).contains("nope is not defined"));
    assert!(!std::path::Path::new(&output).exists());
}

/// A folder with a page that refers to files in it and beside it.
fn site() -> TempDir {
    let folder = folder::temporary();
    let write = |name: &str, content: &str| fs::write(folder.path().join(name), content).expect("our own folder");
    fs::create_dir_all(folder.path().join("site/styles")).expect("our own folder");
    write("outside.css", "p::before { content: 'outside ' }");
    write("site/styles/inside.css", "p::after { content: ' inside' }");
    symlink(folder.path().join("outside.css"), folder.path().join("site/linked.css")).expect("our own folder");
    let page = "<title>T</title><link rel=stylesheet href=/linked.css><link rel=stylesheet href=%2e%2e/outside.css>
        <link rel=stylesheet href=styles/inside.css><p>Page</p><img src='no such.png'><div><a href=other.html>Other</a></div>";
    write("site/page.html", page);
    folder
}

/// Returns the words of a document, separated by spaces.
fn words(file: &str) -> String {
    let text = pdf::text(&fs::read(file).expect("a document"));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_page_finds_files_of_its_folder_and_no_others() {
    let folder = site();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (page, output) = (path("site/page.html"), path("out.pdf"));
    let answer = render(&[&page, "-o", &output], "");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(words(&output), "Page inside Other");
    for warning in [
        "/no such.png: there is no such file",
        "/linked.css: there is no such file",
        "the link to “/other.html” was removed",
    ] {
        assert!(answer.stderr.contains(warning), "{warning} is missing in {answer:?}");
    }
    assert!(!answer.stderr.contains("{\"timestamp\""), "{answer:?}");
}

#[test]
fn another_folder_can_be_named_or_none() {
    let folder = site();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (page, output, root) = (path("site/page.html"), path("out.pdf"), path(""));
    let text = |arguments: &[&str], input: &str| {
        render(&[arguments, &["-o", &output]].concat(), input).succeeded();
        words(&output)
    };
    assert_eq!(text(&[&page, "--base", &root], ""), "outside Page inside Other");
    assert_eq!(text(&[&page, "--no-local-files"], ""), "Page Other");
    let styled = "<link rel=stylesheet href=outside.css><p>Piped";
    assert_eq!(text(&["-", "--base", &root], styled), "outside Piped");
    assert_eq!(text(&["-"], styled), "Piped");
    let refused = render(&[&page, "--base", &path("nowhere"), "-o", &output], "").refused();
    assert!(refused.contains("nowhere"), "{refused}");
}

#[tokio::test]
async fn a_signal_ends_the_render_and_leaves_nothing_behind() {
    let origin = Origin::start().await;
    let folder = folder::temporary();
    let mut command = platen();
    command
        .args(["render", &origin.url("/never"), "-o", "-"])
        .env("TMPDIR", folder.path())
        .env("PLATEN_EGRESS_ALLOW", &origin.authority);
    let mut process = Process::start(command);
    asked(&origin).await;
    process.signal(Signal::TERM);
    let ended = tokio::task::spawn_blocking(move || process.ended()).await.unwrap();
    assert_eq!(ended.code(), Some(1));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_document_below_the_demand_is_not_written() {
    let folder = folder::temporary();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let page = "<!doctype html><html lang=en><title>Plan</title><h1>Plan</h1><h3>Costs</h3>";
    fs::write(path("page.html"), page).unwrap();
    let (page, output) = (path("page.html"), path("out.pdf"));
    let demanding = |level: &str| {
        let demand = format!("conformance=[\"{level}\"]");
        render(&[&page, "-o", &output, "--option", &demand], "")
    };
    let refused = demanding("pdf/ua-1").refused();
    assert!(
        refused.contains("/conformance: Part 1, page 1, H3 “Costs” (body > h3): ") && refused.contains("7.4.2-1"),
        "{refused}"
    );
    assert!(!fs::exists(&output).unwrap());
    demanding("pdf/a-2a").succeeded();
    let shown = run(platen(), &["inspect", "--accessibility", &output], "").succeeded();
    for expected in [
        "Declared  PDF/A-2a\n",
        "The heading skips a level.",
        "Don't skip levels of headings",
        "\n    H3, “Costs”",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
}
