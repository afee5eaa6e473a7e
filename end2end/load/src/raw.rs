//! Chromium controlled by DevTools without a service: the raw limit (one page, reused) and the usual approach (a new
//! tab for each render in one shared context).

use std::{path::Path, sync::Arc};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    browser::{Browser, Frames},
    devtools::{DevTools, PageSession, parse},
    document::{Wanted, find_problem},
    error::LoadError,
    measure::{Caller, Limit, Round, run_round},
    pages::Load,
};

/// Chromium with its warm pages.
pub(crate) struct RawPeer {
    browser: Browser,
    pid: u32,
    devtools: DevTools,
    pages: Vec<PageSession>,
}

/// The action of a warm page after each render.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// Nothing: the next document is loaded directly, in the same JavaScript realm.
    Nothing,
    /// Navigates to `about:blank`, which creates a new realm.
    Reset,
}

impl RawPeer {
    /// Starts Chromium with `pages` warm pages.
    pub(crate) async fn start(chromium: &Path, frames: Frames, pages: usize) -> Result<Self, LoadError> {
        let browser = Browser::launch(chromium, frames)?;
        let (pid, devtools) = (browser.pid()?, browser.devtools());
        let mut warm = Vec::new();
        for _ in 0..pages {
            warm.push(browser.open_page().await?);
        }
        Ok(Self {
            browser,
            pid,
            devtools,
            pages: warm,
        })
    }

    /// Returns Chromium's name and version.
    pub(crate) async fn version(&self) -> Result<String, LoadError> {
        self.devtools.version().await
    }

    /// Renders on `concurrency` warm pages. Also returns a document, for measurements that need one.
    pub(crate) async fn measure_warm(
        &mut self,
        load: &Arc<Load>,
        after: After,
        concurrency: usize,
        limit: Limit,
    ) -> Result<(Round, Bytes), LoadError> {
        let mut callers = Vec::new();
        for page in self.pages.drain(..concurrency) {
            callers.push(WarmPage::new(page, load.clone(), after).await?);
        }
        let outcome = run_round(callers, limit, self.pid).await?;
        self.pages.extend(outcome.callers.into_iter().map(|caller| caller.page));
        let document = check("the raw client", load, outcome.documents)?;
        Ok((outcome.round, document))
    }

    /// Renders in `concurrency` concurrent tabs, each opened for one render.
    pub(crate) async fn measure_fresh_tabs(
        &self,
        load: &Arc<Load>,
        concurrency: usize,
        limit: Limit,
    ) -> Result<Round, LoadError> {
        let callers = (0..concurrency)
            .map(|_| FreshTab {
                devtools: self.devtools.clone(),
                load: load.clone(),
                used: None,
            })
            .collect();
        let outcome = run_round(callers, limit, self.pid).await?;
        check("a fresh tab", load, outcome.documents)?;
        Ok(outcome.round)
    }

    /// Stops Chromium.
    pub(crate) async fn close(self) -> Result<(), LoadError> {
        self.browser.close().await
    }
}

struct WarmPage {
    page: PageSession,
    frame_id: String,
    load: Arc<Load>,
    after: After,
}

impl WarmPage {
    async fn new(mut page: PageSession, load: Arc<Load>, after: After) -> Result<Self, LoadError> {
        // The page may still contain the document of an earlier measurement.
        reset(&mut page).await?;
        Ok(Self {
            frame_id: frame_id(&page).await?,
            page,
            load,
            after,
        })
    }
}

impl Caller for WarmPage {
    async fn render(&mut self) -> Result<Bytes, LoadError> {
        set_content(&mut self.page, &self.frame_id, &self.load.html).await?;
        print(&self.page).await
    }

    async fn tidy_up(&mut self) -> Result<(), LoadError> {
        match self.after {
            After::Nothing => Ok(()),
            After::Reset => reset(&mut self.page).await,
        }
    }
}

struct FreshTab {
    devtools: DevTools,
    load: Arc<Load>,
    used: Option<PageSession>,
}

impl Caller for FreshTab {
    async fn render(&mut self) -> Result<Bytes, LoadError> {
        let mut page = self.devtools.open_page(Frames::Drawn).await?;
        let frame_id = frame_id(&page).await?;
        set_content(&mut page, &frame_id, &self.load.html).await?;
        let document = print(&page).await;
        self.used = Some(page);
        document
    }

    async fn tidy_up(&mut self) -> Result<(), LoadError> {
        match self.used.take() {
            Some(page) => self.devtools.close_page(page).await,
            None => Ok(()),
        }
    }
}

async fn frame_id(page: &PageSession) -> Result<String, LoadError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer {
        frame_tree: FrameTree,
    }
    #[derive(Deserialize)]
    struct FrameTree {
        frame: Frame,
    }
    #[derive(Deserialize)]
    struct Frame {
        id: String,
    }
    let answer: Answer = parse(&page.send("Page.getFrameTree", json!({})).await?)?;
    Ok(answer.frame_tree.frame.id)
}

async fn set_content(page: &mut PageSession, frame_id: &str, html: &str) -> Result<(), LoadError> {
    let content = json!({ "frameId": frame_id, "html": html });
    page.send_and_load("Page.setDocumentContent", content).await
}

async fn reset(page: &mut PageSession) -> Result<(), LoadError> {
    page.send_and_load("Page.navigate", json!({ "url": "about:blank" }))
        .await
}

/// Prints with Platen's defaults: tagged, with outline, A4, backgrounds, margins from the page's style sheet.
async fn print(page: &PageSession) -> Result<Bytes, LoadError> {
    #[derive(Deserialize)]
    struct Printed<'a> {
        data: &'a str,
    }
    let answer = page.send("Page.printToPDF", print_options()).await?;
    let printed: Printed = parse(&answer)?;
    let document = BASE64_STANDARD.decode(printed.data);
    document
        .map(Bytes::from)
        .map_err(|error| LoadError::Chromium(format!("Page.printToPDF: {error}")))
}

fn print_options() -> Value {
    json!({
        "printBackground": true,
        "paperWidth": 210.0 / 25.4,
        "paperHeight": 297.0 / 25.4,
        "marginTop": 0,
        "marginRight": 0,
        "marginBottom": 0,
        "marginLeft": 0,
        "generateTaggedPDF": true,
        "generateDocumentOutline": true,
        "transferMode": "ReturnAsBase64",
    })
}

fn check(way: &str, load: &Load, documents: Vec<Bytes>) -> Result<Bytes, LoadError> {
    let document = documents.into_iter().next().unwrap_or_default();
    match find_problem(&document, load, Wanted::Pdf) {
        None => Ok(document),
        Some(what) => Err(LoadError::WrongAnswer {
            way: way.to_owned(),
            load: load.name,
            what,
        }),
    }
}
