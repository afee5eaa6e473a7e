//! Live previews in the template editor.

use std::future::ready;

use futures::{StreamExt, stream};
use platen_app::{
    backend::PreviewEvents,
    error::AppError,
    model::live_preview::{PagePicture, PreviewEvent, PreviewRequest, RenderedPreview},
};
use platen_core::{
    drawing::DrawingError,
    service::templates::{
        TemplateError,
        live::{self, Live, LiveError, LivePdf, LivePreview, Seen, Texts, Typed},
    },
};
use platen_domain::{
    caller::Caller, editor::Remark, ids::TemplateId, role::Permission, sentence::sentence,
    template::translations::canonical_tag,
};
use platen_engine::error::RenderError;
use platen_template::source_text::SourceText;
use serde_json::json;

use super::RequestBackend;

impl RequestBackend {
    /// Renders the unsaved content of the editor.
    pub(super) async fn live_preview(
        &self,
        caller: &Caller,
        id: TemplateId,
        wanted: PreviewRequest,
    ) -> Result<PreviewEvents, AppError> {
        match live::preview(&self.app, caller, id, typed(wanted)).await {
            Ok(Live::Faulty(remark)) => Ok(only(PreviewEvent::Faulty(remark))),
            Ok(Live::Rendered(preview)) => Ok(self.events(*preview)),
            Err(LiveError::Template(error)) => match of_author(&error) {
                Some(event) => Ok(only(event)),
                None => self.answer(Err(error)),
            },
            Err(error) => self.answer(Err(error)),
        }
    }

    /// Renders the unsaved content of the editor, for a tab of its own.
    pub(in crate::web) async fn preview_pdf(&self, wanted: PreviewRequest) -> Result<LivePdf, NoPdf> {
        let caller = self.caller_who_may(Permission::Produce).await?;
        let id = TemplateId::parse(&wanted.id).ok_or(AppError::NotFound)?;
        match live::pdf(&self.app, &caller, id, typed(wanted)).await {
            Ok(Ok(pdf)) => Ok(pdf),
            Ok(Err(remark)) => Err(NoPdf::Faulty(remark)),
            Err(LiveError::Template(error)) => match of_author(&error) {
                Some(PreviewEvent::Faulty(remark)) => Err(NoPdf::Faulty(remark)),
                Some(_) => Err(NoPdf::Busy),
                None => Ok(self.answer(Err(error))?),
            },
            Err(error) => Ok(self.answer(Err(error))?),
        }
    }

    fn events(&self, preview: LivePreview) -> PreviewEvents {
        let rendered = PreviewEvent::Rendered(RenderedPreview {
            pages: preview.page_count,
            bytes: preview.bytes,
            conformance: preview.conformance.clone(),
            violations: preview.violations.clone(),
            more_violations: preview.more_violations,
            milliseconds: preview.took.as_millis() as u64,
        });
        let request_id = self.request_id.clone();
        let rest = stream::unfold(Some(preview), move |preview| {
            let request_id = request_id.clone();
            async move {
                let mut preview = preview?;
                match preview.next().await {
                    Ok(Some(seen)) => Some((Ok(event(seen)), Some(preview))),
                    Ok(None) => None,
                    Err(error) => Some((
                        of_author(&error).ok_or_else(|| {
                            tracing::error!(error = %error, "internal error");
                            AppError::Internal { request_id }
                        }),
                        None,
                    )),
                }
            }
        });
        // Response bodies are polled again after their end.
        stream::once(ready(Ok(rendered))).chain(rest).fuse().boxed()
    }
}

/// Why there is no PDF of the editor's content.
pub(in crate::web) enum NoPdf {
    /// The template or the data is invalid.
    Faulty(Remark),
    /// No slot is free.
    Busy,
    /// The request was refused.
    Refused(AppError),
}

impl From<AppError> for NoPdf {
    fn from(error: AppError) -> Self {
        Self::Refused(error)
    }
}

fn only(event: PreviewEvent) -> PreviewEvents {
    stream::once(ready(Ok(event))).fuse().boxed()
}

fn event(seen: Seen) -> PreviewEvent {
    match seen {
        Seen::Page(drawn) => PreviewEvent::Page(PagePicture {
            number: drawn.page,
            width: drawn.width,
            height: drawn.height,
            png: drawn.png,
        }),
        Seen::Remarks(remarks) => PreviewEvent::Remarks(remarks),
        Seen::Texts(Texts { source, pages }) => {
            let source: Vec<_> = source
                .into_iter()
                .map(|SourceText { line, text }| (line, text))
                .collect();
            PreviewEvent::Texts(json!({"source": source, "pages": pages}).to_string())
        }
    }
}

/// Returns the event for an error that the author can resolve, or `None` for others.
fn of_author(error: &TemplateError) -> Option<PreviewEvent> {
    let message = match error {
        TemplateError::Render(RenderError::TooManyConcurrent { .. } | RenderError::QueueFull)
        | TemplateError::Memory(_) => {
            return Some(PreviewEvent::Busy);
        }
        TemplateError::Render(error @ (RenderError::Problem { .. } | RenderError::Deadline { .. })) => {
            error.to_string()
        }
        TemplateError::Picture(DrawingError::TooMuch(message)) => message.clone(),
        _ => return None,
    };
    Some(PreviewEvent::Faulty(Remark::new(None, sentence(&message), None)))
}

fn typed(wanted: PreviewRequest) -> Typed {
    let mut options = wanted.paper.options();
    // While it is typed, it may not be a language tag yet.
    if let Some(language) = canonical_tag(wanted.language.trim()) {
        options.insert("language".to_owned(), language.into());
    }
    Typed {
        content: wanted.content,
        data: wanted.data,
        translations: wanted.translations,
        options,
        dots_per_inch: wanted.dots_per_inch,
        page: wanted.page,
    }
}
