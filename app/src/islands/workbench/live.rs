//! The live preview. It is requested after a short pause in typing, and cancelled when a newer one is requested.

use std::time::Duration;

use futures::{
    StreamExt,
    future::{AbortHandle, abortable},
};
use leptos::{
    html,
    leptos_dom::helpers::{TimeoutHandle, set_timeout_with_handle},
    prelude::*,
    task::spawn_local,
};
use platen_domain::editor::Remark;

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
/// Limits of the resolution that is requested from the server, in pixels per inch.
const FEWEST_DOTS: f64 = 72.0;
const MOST_DOTS: f64 = 192.0;
/// CSS pixels per inch.
pub(super) const STYLE_DOTS: f64 = 96.0;

/// Zoom levels, in per cent.
pub(super) const ZOOMS: [u16; 6] = [50, 75, 100, 125, 150, 200];
/// Approximate scale of a page that fits into its pane.
const FITTING: f64 = 0.7;

/// A rasterized page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Picture {
    /// PNG file as a `data:` URL.
    pub(super) source: String,
    /// In inches.
    pub(super) width: f64,
    /// In inches.
    pub(super) height: f64,
}

/// Options and results of the preview.
#[derive(Clone, Copy)]
pub(super) struct Live {
    id: StoredValue<String>,
    root: NodeRef<html::Form>,
    /// Page setup.
    pub(super) paper: RwSignal<Paper>,
    /// Index into [`ZOOMS`]. `None` fits pages into the pane.
    pub(super) zoom: RwSignal<Option<usize>>,
    /// Number of the visible page, from 1.
    pub(super) page: RwSignal<usize>,
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
            zoom: RwSignal::new(None),
            page: RwSignal::new(1),
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
        let dots_per_inch = self.dots_per_inch();
        let wanted = PreviewRequest {
            id: self.id.get_value(),
            content: text(&root, "content"),
            data: text(&root, "data"),
            paper: self.paper.get_untracked(),
            dots_per_inch,
            page: self.page.get_untracked(),
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
        let dots_per_inch = f64::from(wanted.dots_per_inch);
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

    fn see(self, event: PreviewEvent, dots_per_inch: f64) {
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
        }
    }

    fn show(self, page: PagePicture, dots_per_inch: f64) {
        let count = self
            .rendered
            .read_untracked()
            .as_ref()
            .map_or(0, |rendered| rendered.pages);
        if self.pages.read_untracked().len() != count {
            self.pages
                .update(|pages| pages.resize_with(count, || RwSignal::new(None)));
            self.page.update(|page| *page = (*page).clamp(1, count.max(1)));
        }
        let shown = self.pages.read_untracked().get(page.number.saturating_sub(1)).copied();
        if let Some(shown) = shown {
            shown.set(Some(Picture {
                source: format!("data:image/png;base64,{}", page.png),
                width: page.width as f64 / dots_per_inch,
                height: page.height as f64 / dots_per_inch,
            }));
        }
    }

    fn dots_per_inch(self) -> u16 {
        let zoom = self.zoom.get_untracked().and_then(|zoom| ZOOMS.get(zoom));
        let scale = zoom.map_or(FITTING, |zoom| f64::from(*zoom) / 100.0);
        let dots = STYLE_DOTS * scale * window().device_pixel_ratio();
        dots.clamp(FEWEST_DOTS, MOST_DOTS) as u16
    }

    /// Sets the zoom, and requests the pages again in the resolution that it needs.
    pub(super) fn set_zoom(self, zoom: Option<usize>) {
        self.zoom.set(zoom.map(|zoom| zoom.min(ZOOMS.len() - 1)));
        self.render_soon();
    }
}
