//! Live previews while a user types. The visible page comes first, then the remarks about the template, then the other
//! pages and the text. Nothing is charged or stored. Dropping a preview ends it at once.

mod remarks;

use std::time::{Duration, Instant};

use platen_domain::{
    caller::Caller,
    editor::{Pane, Remark, Violation},
    ids::{AccountId, TemplateId},
    template::{
        LONGEST_PREVIEW_CONTEXT, MOST_PREVIEW_VALUES,
        translations::{self, Translations},
    },
    validation::json::{self, Unreadable},
};
use platen_engine::{
    job::{Lane, Part, Phase, RenderedDocument},
    render_log::{NetworkRequest, RenderLog},
};
use platen_pdf::Watermark;
use platen_template::{
    diagnostic::Warning as Missing,
    language::{Traced, Undefined},
    pool,
    source_text::SourceText,
};
use serde_json::{Map, Value, value::RawValue};

use crate::{
    drawing::{
        RasterStream,
        child::{Drawings, Drawn, PlacedWord, Size},
    },
    memory::Reservation,
    render_request::RenderRequest,
    render_request::preview::PreviewRequest,
    service::{
        Services,
        assets::library::render_with_assets,
        rate_limits::Rate,
        renders::{engine_caller, enter, terms_while_waiting},
        templates::{
            TemplateError,
            partials::{self, PartialSet},
            settings::get_settings,
        },
    },
    store::error::StoreError,
};

/// Maximum number of pages that are rasterized.
const MOST_PICTURES: usize = 20;
/// Maximum number of words of a document that are located.
const MOST_WORDS: usize = 5000;

/// Content of the editor.
pub struct Typed {
    /// Source of the template.
    pub content: String,
    /// Sample data, which may not be valid JSON yet.
    pub data: String,
    /// Translations as JSON, possibly not valid yet. An empty text has none.
    pub translations: String,
    /// Render options, by their names in the API.
    pub options: Map<String, Value>,
    /// Resolution in pixels per inch.
    pub dots_per_inch: u16,
    /// Page that the user views, which is rasterized first.
    pub page: usize,
}

/// A result of a live preview.
pub enum Seen {
    /// A page. The requested one comes first.
    Page(Drawn),
    /// Remarks for the author. They come once.
    Remarks(Vec<Remark>),
    /// The text of the template and of the pages. It comes last.
    Texts(Texts),
}

/// The text of a template and of its pages, by which the editor finds the source of a place on a page. Both are bounded.
pub struct Texts {
    /// Words of the filled template, with the lines that made them.
    pub source: Vec<SourceText>,
    /// Words of the pages that are rasterized.
    pub pages: Vec<PlacedWord>,
}

/// Outcome of rendering the editor's content.
pub enum Live {
    /// The content can't be rendered, for this reason.
    Faulty(Remark),
    /// A document whose pages are being rasterized.
    Rendered(Box<LivePreview>),
}

/// Error of [`preview`].
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The account's limit of live previews is reached.
    #[error("too many previews")]
    TooMany {
        /// Time until the next preview is allowed.
        retry_after: Duration,
    },
    /// The template could not be read or rendered.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

impl From<StoreError> for LiveError {
    fn from(error: StoreError) -> Self {
        Self::Template(error.into())
    }
}

/// Counts a live preview of the account, and fails if there were too many.
pub(super) async fn count(app: &Services, account: AccountId) -> Result<(), LiveError> {
    let taken = app.rate_limits.take(account, Rate::LivePreviews).await?;
    match taken.refused_for {
        Some(retry_after) => Err(LiveError::TooMany { retry_after }),
        None => Ok(()),
    }
}

/// A document rendered from the editor's content, and its pending results.
pub struct LivePreview {
    /// Number of pages.
    pub page_count: usize,
    /// Size of the document.
    pub bytes: usize,
    /// Standards that the document conforms to, such as `PDF/A-2a, PDF/UA-1`.
    pub conformance: Option<String>,
    /// The first violations that prevent PDF/A-2a or PDF/UA-1, and texts with low contrast. They are never stored.
    pub violations: Vec<Violation>,
    /// Number of further violations.
    pub more_violations: usize,
    /// Time from the request to the finished document.
    pub took: Duration,
    app: Services,
    account: AccountId,
    typed: Typed,
    partials: PartialSet,
    translations: Translations,
    data: Box<RawValue>,
    missing: Vec<Missing>,
    requests: Vec<NetworkRequest>,
    warnings: Vec<platen_engine::job::Warning>,
    source: Vec<SourceText>,
    raster_stream: RasterStream,
    next: Next,
    /// Reserves memory for the editor's content until all results are sent.
    _memory: Reservation,
}

enum Next {
    FirstPage,
    Remarks,
    OtherPages,
    End,
}

/// Renders the editor's content instead of a template of the account, with that template's settings.
pub async fn preview(app: &Services, caller: &Caller, id: TemplateId, typed: Typed) -> Result<Live, LiveError> {
    let began = Instant::now();
    let printed = match print(app, caller, id, typed, None).await? {
        Ok(printed) => printed,
        Err(remark) => return Ok(Live::Faulty(remark)),
    };
    let took = began.elapsed();
    let (document, typed) = (printed.document, printed.typed);
    let wanted = Drawings {
        size: Size::DotsPerInch(typed.dots_per_inch),
        pages: document.page_count.min(MOST_PICTURES),
        first: typed.page,
        words: MOST_WORDS,
    };
    let (violations, more_violations) = remarks::of_findings(&document.findings, &document.low_contrast);
    let raster_stream = app.drawing.start(caller.account, &document.pdf, wanted).await;
    Ok(Live::Rendered(Box::new(LivePreview {
        page_count: document.page_count,
        bytes: document.pdf.len(),
        conformance: document.conformance_names(),
        violations,
        more_violations,
        took,
        app: app.clone(),
        account: caller.account,
        typed,
        partials: printed.partials,
        translations: printed.translations,
        data: printed.data,
        missing: printed.missing,
        requests: printed.requests,
        warnings: document.warnings,
        source: printed.source,
        raster_stream: raster_stream.map_err(TemplateError::from)?,
        next: Next::FirstPage,
        _memory: printed.memory,
    })))
}

/// The document of the editor's content, with the watermark of previews because it costs no credits.
pub struct LivePdf {
    pub pdf: Vec<u8>,
    /// Reserves memory for the document until it is sent.
    pub memory: Reservation,
}

/// Renders the editor's content like [`preview`], for reading outside of the editor. Returns a remark if it can't be
/// rendered.
pub async fn pdf(
    app: &Services,
    caller: &Caller,
    id: TemplateId,
    typed: Typed,
) -> Result<Result<LivePdf, Remark>, LiveError> {
    let printed = print(app, caller, id, typed, Some(Watermark::Preview)).await?;
    Ok(printed.map(|printed| LivePdf {
        pdf: printed.document.pdf,
        memory: printed.memory,
    }))
}

/// The editor's content, printed.
struct Printed {
    document: RenderedDocument,
    typed: Typed,
    partials: PartialSet,
    translations: Translations,
    data: Box<RawValue>,
    missing: Vec<Missing>,
    requests: Vec<NetworkRequest>,
    source: Vec<SourceText>,
    memory: Reservation,
}

/// Fills and prints the editor's content. All results count together against the account's limit of live previews.
async fn print(
    app: &Services,
    caller: &Caller,
    id: TemplateId,
    typed: Typed,
    watermark: Option<Watermark>,
) -> Result<Result<Printed, Remark>, LiveError> {
    count(app, caller.account).await?;
    let settings = get_settings(&app.db, caller.account, id).await?;
    let undefined = if settings.strict {
        Undefined::Refuse
    } else {
        Undefined::Warn
    };
    let account = caller.account;
    let typed_bytes = typed.content.len() + typed.data.len() + typed.translations.len();
    let mut memory = app
        .memory
        .try_reserve(account, 2 * typed_bytes as u64)
        .map_err(TemplateError::from)?;
    let parsing = app.parsers.run(account, app.parsing_deadline(), typed_bytes, move || {
        let read = read(&typed);
        (typed, read)
    });
    let (typed, read) = parsing.await.map_err(TemplateError::from)?;
    let (data, translations, render) = match read {
        Ok(read) => read,
        Err(remark) => return Ok(Err(remark)),
    };
    let partials = match partials::resolve(app, caller, Some(id), &typed.content).await? {
        Ok(partials) => partials,
        Err(problem) => return Ok(Err(remarks::of_problem(&problem))),
    };
    let terms = terms_while_waiting(app, caller, Lane::Preview, watermark);
    let log = RenderLog::default();
    let entered = enter(app, engine_caller(caller), &terms, &mut memory, &log).await;
    let entered = entered.map_err(TemplateError::from)?;
    let filling = app.templates.trace(
        account.0,
        partials.translated(&typed.content, &translations, render.language.as_deref()),
        &data,
        undefined,
    );
    let filled = entered.within(Phase::Load, &log, filling).await;
    let Traced {
        rendered: filled,
        texts,
    } = match filled.map_err(TemplateError::from)? {
        Ok(filled) => filled,
        Err(pool::Error::Template(problem)) => return Ok(Err(remarks::of_problem(&problem))),
        Err(error) => return Err(TemplateError::from(error).into()),
    };
    let parts = vec![Part::Html(filled.text)];
    let document = render_with_assets(app, account, entered, render, parts, &terms, &log).await;
    let document = document.map_err(TemplateError::from)?;
    memory.shrink_to((2 * typed_bytes + document.pdf.len()) as u64);
    Ok(Ok(Printed {
        document,
        typed,
        partials,
        translations,
        data,
        missing: filled.warnings,
        requests: log.seen().requests,
        source: texts,
        memory,
    }))
}

impl LivePreview {
    /// Returns the next result, or `None` after the last one.
    pub async fn next(&mut self) -> Result<Option<Seen>, TemplateError> {
        match self.next {
            Next::FirstPage => {
                self.next = Next::Remarks;
                Ok(self.raster_stream.next().await?.map(Seen::Page))
            }
            Next::Remarks => {
                self.next = Next::OtherPages;
                Ok(Some(Seen::Remarks(self.remarks().await?)))
            }
            Next::OtherPages => {
                if let Some(page) = self.raster_stream.next().await? {
                    return Ok(Some(Seen::Page(page)));
                }
                self.next = Next::End;
                let source = std::mem::take(&mut self.source);
                // All pages are there, so this is not worth an error.
                let pages = self.raster_stream.words().await.unwrap_or_default();
                Ok(Some(Seen::Texts(Texts { source, pages })))
            }
            Next::End => Ok(None),
        }
    }

    async fn remarks(&self) -> Result<Vec<Remark>, TemplateError> {
        let Typed { content, data, .. } = &self.typed;
        let sources = self.partials.translated(content, &self.translations, None);
        let unused = match self.app.templates.unused(self.account.0, sources, &self.data).await {
            Ok(names) => names,
            // The template was filled, so its syntax is valid; only limits can be exceeded.
            Err(pool::Error::Template(_)) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let mut found = remarks::of_missing(&self.missing);
        if self.data.get().len() > LONGEST_PREVIEW_CONTEXT {
            found.insert(0, remarks::too_large_to_save(self.data.get().len()));
        }
        found.extend(remarks::of_requests(content, &self.requests));
        found.extend(remarks::of_document(content, data, &self.warnings));
        found.extend(remarks::of_unused(data, &unused));
        Ok(found)
    }
}

/// Parses the sample data, the translations and the options. Returns a remark if one of them is invalid.
fn read(typed: &Typed) -> Result<(Box<RawValue>, Translations, RenderRequest), Remark> {
    let data = match json::read_data(&typed.data, MOST_PREVIEW_VALUES) {
        Ok(data) if data.get().starts_with('{') => json::compact(data),
        Ok(_) => return Err(remarks::no_object()),
        Err(Unreadable::Malformed(error)) => return Err(remarks::no_json(Pane::Data, &error)),
        Err(Unreadable::Excess(problem)) => return Err(remarks::too_much_data(&problem)),
    };
    let translations = translations::read_text(&typed.translations);
    let translations = translations.map_err(|problem| remarks::of_text(&problem, &typed.translations))?;
    let wanted = PreviewRequest::of_editor(&typed.content, translations, &typed.options, typed.dots_per_inch);
    let wanted = wanted.map_err(|problems| remarks::of_request(&problems, &typed.translations))?;
    Ok((data, wanted.translations.unwrap_or_default(), wanted.render))
}
