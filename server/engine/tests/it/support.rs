//! An engine for a test, and looks into what it made.

use std::{path::PathBuf, process::Command, sync::Arc, time::Duration};

use platen_egress::{
    allow::AllowList,
    guard::{Guard, GuardLimits},
    policy::AddressPolicy,
    resolve::SystemResolver,
};
use platen_engine::{
    Engine,
    config::{EngineConfig, RunAs},
    job::{Caller, Lane, MediaType, Part, PrintSettings, RenderError, RenderJob, RenderedDocument},
};
use platen_pdf::OutputFormat;
use tempfile::TempDir;
use uuid::Uuid;

/// An engine that ends with the test.
pub(crate) struct TestEngine {
    pub(crate) engine: Engine,
    _profiles: TempDir,
}

/// Settings of a small engine whose pages reach nothing but what `allow` opens.
pub(crate) fn config(allow: &str) -> (EngineConfig, TempDir) {
    let profiles = tempfile::Builder::new().prefix("platen-test-").tempdir().unwrap();
    // The browser's user must be able to pass through.
    let passable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(profiles.path(), passable).unwrap();
    let allow: AllowList = allow.parse().unwrap();
    let config = EngineConfig {
        chromium: None,
        sandbox: true,
        browsers: 1,
        slots: 2,
        sessions: 4,
        queue_limit: 16,
        page_memory_limit: 1 << 30,
        renders_per_browser: 1_000_000,
        profile_dir: profiles.path().to_owned(),
        run_as: run_as(),
        guard: Guard::new(
            AddressPolicy::new(allow),
            Arc::new(SystemResolver::default()),
            GuardLimits::default(),
        ),
    };
    (config, profiles)
}

impl TestEngine {
    pub(crate) async fn start(allow: &str) -> Self {
        let (config, profiles) = config(allow);
        Self {
            engine: Engine::start(config).await.unwrap(),
            _profiles: profiles,
        }
    }

    pub(crate) async fn render(&self, account: Uuid, job: RenderJob) -> Result<RenderedDocument, RenderError> {
        self.engine
            .render(
                Caller {
                    account,
                    concurrency: 4,
                },
                job,
            )
            .await
    }

    /// The text of an HTML part that must succeed.
    pub(crate) async fn text_of(&self, account: Uuid, html: &str) -> String {
        text(&self.render(account, html_job(html)).await.unwrap().pdf)
    }
}

/// As root the browser runs as the user that the set-up script makes.
fn run_as() -> Option<RunAs> {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0);
    if !is_root {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").unwrap();
    let entry = users.lines().find(|line| line.starts_with("platen-browser:"));
    let fields: Vec<&str> = entry
        .expect("deploy/setup.sh makes the user platen-browser")
        .split(':')
        .collect();
    Some(RunAs {
        uid: fields[2].parse().unwrap(),
        gid: fields[3].parse().unwrap(),
    })
}

pub(crate) fn html_job(html: &str) -> RenderJob {
    job(Part::Html(html.to_owned()))
}

pub(crate) fn job(part: Part) -> RenderJob {
    RenderJob {
        id: Uuid::now_v7(),
        lane: Lane::Synchronous,
        part,
        print: PrintSettings {
            paper_width: 210.0 / 25.4,
            paper_height: 297.0 / 25.4,
            margins: [0.0; 4],
            scale: 1.0,
            backgrounds: true,
            prefer_css_page_size: false,
            header_footer: None,
        },
        media: MediaType::Print,
        cookie: None,
        evaluate: None,
        wait_for: None,
        format: OutputFormat::Pdf,
        deadline: Duration::from_secs(30),
        page_limit: 2_000,
    }
}

/// The text of a PDF, white space folded.
pub(crate) fn text(pdf: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("a.pdf");
    std::fs::write(&path, pdf).unwrap();
    let output = Command::new("pdftotext").arg(&path).arg("-").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}
