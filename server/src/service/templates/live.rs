//! Previews while somebody types: the page that they look at comes first, what there is to say about the template next,
//! the other pages last. Nothing is charged and nothing is kept; whoever goes away ends it at once.

mod remarks;

use std::{
    num::NonZeroU32,
    time::{Duration, Instant},
};

use platen_engine::{
    job::{Lane, Part, Phase},
    render_log::{NetworkRequest, RenderLog},
};
use platen_template::{fault::Warning as UndefinedName, language::Undefined, pool};
use serde_json::{Map, Value, value::RawValue};

use crate::{
    domain::{
        caller::Caller,
        ids::{AccountId, TemplateId},
        render::RenderRequest,
        template::{MOST_PREVIEW_VALUES, preview::PreviewRequest},
        validation::json::{self, Unreadable},
    },
    drawing::{
        Easel,
        child::{Drawings, Drawn, Size},
    },
    memory::Reservation,
    service::{
        parsers::Busy,
        renders::{enter, terms_while_waiting},
        templates::{TemplateError, settings::get_settings},
        throttle::{Quota, Throttle},
    },
    state::AppState,
};

pub use remarks::{Remark, Text};

/// Most pages that are drawn.
const MOST_PICTURES: usize = 20;
/// Ten a second for a minute: more than people type, who pause between words, and half of what one browser can do.
const QUOTA: Quota = Quota {
    times: NonZeroU32::MIN.saturating_add(599),
    within: Duration::from_mins(1),
};

/// Counts previews by account.
pub type LivePreviews = Throttle<AccountId>;

/// What somebody has typed.
pub struct Typed {
    /// The template.
    pub content: String,
    /// What fills it: JSON, perhaps not yet.
    pub data: String,
    /// Options of the render, by their names in the API.
    pub options: Map<String, Value>,
    /// Pixels for each inch of a page.
    pub dots_per_inch: u16,
    /// The page that they look at.
    pub page: usize,
}

/// What there is to say, as it turns out.
pub enum Seen {
    /// A page; the one that was asked for comes first.
    Page(Drawn),
    /// What the author should know; comes once.
    Remarks(Vec<Remark>),
}

/// What becomes of what was typed.
pub enum Live {
    /// Nothing can be shown: why, and where.
    Faulty(Remark),
    /// A document, whose pages are being drawn.
    Rendered(Box<LivePreview>),
}

/// Why there is no preview.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The account asks too often.
    #[error("too many previews")]
    TooMany {
        /// Until it may ask again.
        retry_after: Duration,
    },
    /// What is typed was not parsed in time.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// See there.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

/// A document that was made of what was typed, and what there is to say about it.
pub struct LivePreview {
    /// Pages of the document.
    pub page_count: usize,
    /// Its size.
    pub bytes: usize,
    /// The standard that it conforms to.
    pub conformance: Option<&'static str>,
    /// From the request to the finished document.
    pub took: Duration,
    app: AppState,
    account: AccountId,
    typed: Typed,
    data: Box<RawValue>,
    undefined: Vec<UndefinedName>,
    requests: Vec<NetworkRequest>,
    warnings: Vec<platen_engine::job::Warning>,
    easel: Easel,
    next: Next,
    /// What was typed stays until all is shown.
    _memory: Reservation,
}

enum Next {
    FirstPage,
    Remarks,
    OtherPages,
}

/// Renders what somebody has typed in the place of a template of the account.
pub async fn preview(app: &AppState, caller: &Caller, id: TemplateId, typed: Typed) -> Result<Live, LiveError> {
    let began = Instant::now();
    if let Some(retry_after) = app.live_previews.take(caller.account, QUOTA, began).refused_for {
        return Err(LiveError::TooMany { retry_after });
    }
    let settings = get_settings(&app.db, caller.account, id).await?;
    let undefined = if settings.strict {
        Undefined::Refuse
    } else {
        Undefined::Warn
    };
    let account = caller.account;
    let typed_bytes = typed.content.len() + typed.data.len();
    let mut memory = app
        .memory
        .try_reserve(account, 2 * typed_bytes as u64)
        .map_err(TemplateError::from)?;
    let parsing = app.parsers.run(account, app.parsing_deadline(), move || {
        let read = read(&typed);
        (typed, read)
    });
    let (typed, read) = parsing.await?;
    let (data, render) = match read {
        Ok(read) => read,
        Err(remark) => return Ok(Live::Faulty(remark)),
    };
    let terms = terms_while_waiting(app, caller, Lane::Preview, None);
    let log = RenderLog::default();
    let entered = enter(app, caller.into(), &terms, &mut memory, &log).await;
    let entered = entered.map_err(TemplateError::from)?;
    let filling = app.templates.render(account.0, &typed.content, &data, undefined);
    let filled = entered.within(Phase::Load, &log, filling).await;
    let filled = match filled.map_err(TemplateError::from)? {
        Ok(filled) => filled,
        Err(pool::Error::Template(fault)) => return Ok(Live::Faulty(remarks::of_fault(&fault))),
        Err(error) => return Err(TemplateError::from(error).into()),
    };
    let job = render.into_job(vec![Part::Html(filled.text)], &terms);
    let document = entered.render(job, &log).await;
    let document = document.map_err(TemplateError::from)?;
    memory.shrink_to((2 * typed_bytes + document.pdf.len()) as u64);
    let took = began.elapsed();
    let wanted = Drawings {
        size: Size::DotsPerInch(typed.dots_per_inch),
        pages: document.page_count.min(MOST_PICTURES),
        first: typed.page,
    };
    let easel = app.drawing.start(account, &document.pdf, wanted).await;
    Ok(Live::Rendered(Box::new(LivePreview {
        page_count: document.page_count,
        bytes: document.pdf.len(),
        conformance: document.conformance,
        took,
        app: app.clone(),
        account,
        typed,
        data,
        undefined: filled.warnings,
        requests: log.seen().requests,
        warnings: document.warnings,
        easel: easel.map_err(TemplateError::from)?,
        next: Next::FirstPage,
        _memory: memory,
    })))
}

impl LivePreview {
    /// What comes next; `None`: that was all.
    pub async fn next(&mut self) -> Result<Option<Seen>, TemplateError> {
        match self.next {
            Next::FirstPage => {
                self.next = Next::Remarks;
                Ok(self.easel.next().await?.map(Seen::Page))
            }
            Next::Remarks => {
                self.next = Next::OtherPages;
                Ok(Some(Seen::Remarks(self.remarks().await?)))
            }
            Next::OtherPages => Ok(self.easel.next().await?.map(Seen::Page)),
        }
    }

    async fn remarks(&self) -> Result<Vec<Remark>, TemplateError> {
        let Typed { content, data, .. } = &self.typed;
        let unused = self.app.templates.unused(self.account.0, content, &self.data).await;
        let unused = match unused {
            Ok(names) => names,
            // It was filled, so that it can be read; what is left are limits.
            Err(pool::Error::Template(_)) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let mut found = remarks::of_undefined(&self.undefined);
        found.extend(remarks::of_requests(content, &self.requests));
        found.extend(remarks::of_document(content, data, &self.warnings));
        found.extend(remarks::of_unused(data, &unused));
        Ok(found)
    }
}

/// What fills the template, and how it is rendered; else what is wrong with what was typed.
fn read(typed: &Typed) -> Result<(Box<RawValue>, RenderRequest), Remark> {
    let data = match json::read_data(&typed.data, MOST_PREVIEW_VALUES) {
        Ok(data) if data.get().starts_with('{') => json::compact(data),
        Ok(_) => return Err(remarks::no_object()),
        Err(Unreadable::Malformed(error)) => return Err(remarks::no_json(&error)),
        Err(Unreadable::Excess(fault)) => return Err(remarks::too_much_data(&fault)),
    };
    let wanted = PreviewRequest::of_editor(&typed.content, &typed.options, typed.dots_per_inch);
    let wanted = wanted.map_err(|faults| remarks::of_options(&faults))?;
    Ok((data, wanted.render))
}
