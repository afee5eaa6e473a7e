//! The live preview. It is requested after a short pause in typing, and cancelled when a newer one is requested.

use std::{str::FromStr, time::Duration};

use futures::{
    StreamExt,
    future::{AbortHandle, abortable},
};
use leptos::{
    html,
    leptos_dom::helpers::{TimeoutHandle, set_timeout_with_handle},
    prelude::*,
    task::spawn_local,
    wasm_bindgen::JsCast,
};
use platen_domain::editor::{Pane, Remark};
use web_sys::{Element, HtmlInputElement};

use super::{api::preview_template, draft::text, remarks};
use crate::{
    error::AppError,
    model::live_preview::{PagePicture, Paper, PreviewEvent, PreviewRequest, RenderedPreview},
};

/// Delay after the last key. Shorter than most pauses between words, longer than those between letters of a word.
const PAUSE: Duration = Duration::from_millis(60);
/// Delay before a preview is retried for which no slot was free.
const BUSY: Duration = Duration::from_millis(400);
/// Delay before a preview is retried after an error.
const FAILED: Duration = Duration::from_secs(5);
/// Resolution in pixels per inch until the browser has measured the pane.
const RESOLUTION: u16 = 96;

/// Hidden fields that `frontend/elements/page-viewer.ts` sets: the resolution that the zoom needs, whose changes render
/// the preview again, and the number of the visible page.
pub(super) const RESOLUTION_FIELD: &str = "paper-resolution";
pub(super) const PAGE_FIELD: &str = "visible-page";
/// Field for the language of the preview, beside the translations.
pub(crate) const LANGUAGE_FIELD: &str = "paper-language";

/// A rasterized page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Picture {
    /// PNG file as a `data:` URL.
    pub(super) source: String,
    /// In pixels.
    pub(super) width: usize,
    /// In pixels.
    pub(super) height: usize,
    /// Pixels per inch of the page.
    pub(super) dots_per_inch: u16,
}

/// Options and results of the preview.
#[derive(Clone, Copy)]
pub(super) struct Live {
    id: StoredValue<String>,
    root: NodeRef<html::Form>,
    /// Page setup.
    pub(super) paper: RwSignal<Paper>,
    /// The pages of the last document, each `None` until it is rasterized.
    pub(super) pages: RwSignal<Vec<RwSignal<Option<Picture>>>>,
    /// The last document.
    pub(super) rendered: RwSignal<Option<RenderedPreview>>,
    /// Why the current content could not be rendered.
    pub(super) problem: RwSignal<Option<Remark>>,
    /// Warnings about the last document.
    pub(super) remarks: RwSignal<Vec<Remark>>,
    /// Error of the last request to the server.
    pub(super) trouble: RwSignal<Option<AppError>>,
    timer: StoredValue<Option<TimeoutHandle>>,
    under_way: StoredValue<Option<AbortHandle>>,
}

impl Live {
    pub(super) fn new(id: String, root: NodeRef<html::Form>) -> Self {
        Self {
            id: StoredValue::new(id),
            root,
            paper: RwSignal::new(Paper::default()),
            pages: RwSignal::new(Vec::new()),
            rendered: RwSignal::new(None),
            problem: RwSignal::new(None),
            remarks: RwSignal::new(Vec::new()),
            trouble: RwSignal::new(None),
            timer: StoredValue::new(None),
            under_way: StoredValue::new(None),
        }
    }

    /// Returns the form that is previewed.
    pub(super) fn root(self) -> NodeRef<html::Form> {
        self.root
    }

    /// Returns the number of undefined names.
    pub(super) fn undefined(self) -> usize {
        self.remarks.read().iter().filter(|remark| remark.undefined).count()
    }

    /// Renders the form after [`PAUSE`]. Each further call restarts the delay.
    pub(super) fn render_soon(self) {
        self.render_after(PAUSE);
    }

    /// Returns the error, or else the warnings, about the current content.
    pub(super) fn listed(self) -> Vec<Remark> {
        match self.problem.get() {
            Some(problem) => vec![problem],
            None => self.remarks.get(),
        }
    }

    /// Returns the number of errors or warnings in these editors.
    pub(super) fn remarks_in(self, panes: &[Pane]) -> usize {
        let listed = self.listed();
        let here = listed
            .iter()
            .filter(|remark| remark.place.is_some_and(|place| panes.contains(&place.pane)));
        here.count()
    }

    fn render_after(self, pause: Duration) {
        self.forget_timer();
        if let Ok(timer) = set_timeout_with_handle(move || self.render(), pause) {
            self.timer.set_value(Some(timer));
        }
    }

    fn forget_timer(self) {
        if let Some(timer) = self.timer.try_update_value(Option::take).flatten() {
            timer.clear();
        }
    }

    /// Renders the form, and cancels the preview in progress.
    pub(super) fn render(self) {
        self.forget_timer();
        let Some(root) = self.root.get_untracked() else { return };
        let wanted = PreviewRequest {
            id: self.id.get_value(),
            content: text(&root, "content"),
            data: text(&root, "data"),
            translations: text(&root, "translations"),
            language: entry(&root, LANGUAGE_FIELD).unwrap_or_default(),
            paper: self.paper.get_untracked(),
            dots_per_inch: number(&root, RESOLUTION_FIELD).unwrap_or(RESOLUTION),
            page: number(&root, PAGE_FIELD).unwrap_or(1),
        };
        let (work, handle) = abortable(self.follow(wanted));
        if let Some(before) = self
            .under_way
            .try_update_value(|before| before.replace(handle))
            .flatten()
        {
            before.abort();
        }
        spawn_local(async move {
            // A cancelled preview is followed by another.
            let _ = work.await;
        });
    }

    async fn follow(self, wanted: PreviewRequest) {
        let dots_per_inch = wanted.dots_per_inch;
        let mut stream = match preview_template(wanted).await {
            Ok(stream) => Box::pin(stream.into_inner()),
            Err(error) => return self.failed(error),
        };
        let mut received = Vec::new();
        while let Some(chunk) = stream.next().await {
            match chunk {
                Ok(chunk) => received.extend_from_slice(&chunk),
                Err(error) => return self.failed(error),
            }
            while let Some(end) = received.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = received.drain(..=end).collect();
                if let Ok(event) = serde_json::from_slice(&line) {
                    self.see(event, dots_per_inch);
                }
            }
        }
    }

    fn failed(self, error: AppError) {
        self.trouble.set(Some(error));
        self.render_after(FAILED);
    }

    fn see(self, event: PreviewEvent, dots_per_inch: u16) {
        self.trouble.set(None);
        match event {
            PreviewEvent::Busy => self.render_after(BUSY),
            PreviewEvent::Faulty(problem) => {
                remarks::mark(self.root, std::slice::from_ref(&problem), true);
                self.problem.set(Some(problem));
            }
            PreviewEvent::Rendered(rendered) => {
                self.problem.set(None);
                self.rendered.set(Some(rendered));
            }
            PreviewEvent::Page(page) => self.show(page, dots_per_inch),
            PreviewEvent::Remarks(remarks) => {
                remarks::mark(self.root, &remarks, false);
                self.remarks.set(remarks);
            }
            PreviewEvent::Texts(texts) => {
                let viewer = self
                    .root
                    .get_untracked()
                    .and_then(|root| root.query_selector("page-viewer").ok()?);
                if let Some(viewer) = viewer {
                    let _ = viewer.set_attribute("texts", &texts);
                }
            }
        }
    }

    fn show(self, page: PagePicture, dots_per_inch: u16) {
        let count = self
            .rendered
            .read_untracked()
            .as_ref()
            .map_or(0, |rendered| rendered.pages);
        if self.pages.read_untracked().len() != count {
            self.pages
                .update(|pages| pages.resize_with(count, || RwSignal::new(None)));
        }
        let shown = self.pages.read_untracked().get(page.number.saturating_sub(1)).copied();
        if let Some(shown) = shown {
            shown.set(Some(Picture {
                source: format!("data:image/png;base64,{}", page.png),
                width: page.width,
                height: page.height,
                dots_per_inch,
            }));
        }
    }
}

/// Returns the number in a field of the form, or `None` if the browser hasn't set it.
fn number<N: FromStr>(root: &Element, name: &str) -> Option<N> {
    entry(root, name)?.parse().ok()
}

/// Returns the value of an `<input>` of the form.
fn entry(root: &Element, name: &str) -> Option<String> {
    let field = root.query_selector(&format!("[name={name}]")).ok().flatten()?;
    Some(field.dyn_into::<HtmlInputElement>().ok()?.value())
}
