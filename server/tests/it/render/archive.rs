//! Everything that is called PDF/A-2b is one, in the eyes of veraPDF.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::json;

use crate::support::{folder, studio::Studio};

/// Sized by `@page` as no sheet may be; see `sheet`.
const NOT_PAGES: [&str; 2] = ["page-tiny.html", "page-huge.html"];

#[tokio::test]
async fn every_page_becomes_a_valid_pdf_a() {
    let studio = Studio::start().await;
    let files = folder::temporary();
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/pages");
    let mut written = Vec::new();
    for page in fs::read_dir(pages).unwrap() {
        let page = page.unwrap();
        let name = page.file_name().into_string().unwrap();
        let html = fs::read_to_string(page.path()).unwrap();
        let decorated = json!({
            "margin": {"top": 20, "right": 10, "bottom": 20, "left": 10},
            "render_header_footer": true,
            "header_template": "<b class=title></b> <i class=date></i>",
            "footer_template": "<p style='color: rgba(200, 0, 0, .5)'><span class=pageNumber></span></p>",
        });
        let preferred = json!({"prefer_css_page_size": !NOT_PAGES.contains(&name.as_str())});
        for (kind, options) in [("plain", preferred), ("decorated", decorated)] {
            let path = files.path().join(format!("{kind}-{name}.pdf"));
            fs::write(&path, studio.pdf(html.as_str(), options).await).unwrap();
            written.push(path);
        }
    }
    assert!(written.len() > 50, "{written:?}");
    validate(&written);
}

/// One run over all files: most of the time is the start of Java.
fn validate(files: &[PathBuf]) {
    let home = std::env::var("HOME").expect("a home folder");
    let library = Path::new(&home).join(".cache/platen/verapdf/lib");
    assert!(
        library.is_dir(),
        "no veraPDF in {}; deploy/setup.sh --test installs it",
        library.display()
    );
    let output = Command::new("java")
        .args(["-Xmx1g", "-cp"])
        .arg(library.join("*"))
        .args([
            "org.verapdf.apps.GreenfieldCliWrapper",
            "--flavour",
            "2b",
            "--format",
            "text",
        ])
        .args(files)
        .output()
        .unwrap_or_else(|error| panic!("java: {error}; deploy/setup.sh --test installs it"));
    let report = String::from_utf8_lossy(&output.stdout);
    let passed = report.lines().filter(|line| line.starts_with("PASS ")).count();
    assert_eq!(
        passed,
        files.len(),
        "{report}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
