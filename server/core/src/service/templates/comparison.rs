//! Comparison of the pages of two versions, each rendered with the same sample data, like a preview. Nothing is charged
//! or stored.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use platen_confined::turns::{Turn, Turns};
use platen_domain::{
    caller::Caller,
    editor::{DEFAULT_SET, SampleSetProblem},
    ids::{AccountId, TemplateId},
    page_comparison::{Comparison, MOST_COMPARED_PAGES, PageComparison},
    sentence::sentence,
    template::{TemplateVersion, settings::TemplateSettings},
};
use platen_engine::{
    error::RenderError,
    job::{Lane, Part, Phase},
    render_log::RenderLog,
};
use platen_template::pool;
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use crate::{
    drawing::DrawingError,
    memory::Reservation,
    render_request::preview::PreviewRequest,
    service::{
        Services,
        parsers::Busy,
        renders::{engine_caller, enter, templates::fill, terms_while_waiting},
        templates::{
            TemplateError, faulty_template,
            live::{LiveError, QUOTA},
            settings::get_settings,
            versions,
        },
    },
    store::template_sample_sets,
};

/// Time for which a comparison waits for earlier ones of its account.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// Memory of the pictures: in base64 as they were received, and in the response.
const PICTURE_BYTES: u64 = 2 * (20 << 20);
const CONTENT: &str = "/content";

/// Runs the comparisons of an account one at a time, so that many sets don't take all slots of the account. Clones share
/// the queues.
#[derive(Debug, Clone, Default)]
pub struct Comparisons(Arc<Turns>);

impl Comparisons {
    async fn turn(&self, account: AccountId) -> Result<Turn, Busy> {
        let turn = timeout(LONGEST_WAIT, self.0.wait(account.0)).await;
        turn.ok().and_then(Result::ok).ok_or(Busy)
    }
}

/// The numbers of the compared versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compared {
    pub older: i32,
    pub newer: i32,
}

/// Renders two versions of a template with a set of sample data, and compares their pages. The first set is the data of
/// the newer version. Counts as two live previews.
pub async fn compare(
    app: &Services,
    caller: &Caller,
    id: TemplateId,
    compared: Compared,
    set: &str,
) -> Result<Comparison, LiveError> {
    for _ in 0..2 {
        if let Some(retry_after) = app
            .live_previews
            .take(caller.account, QUOTA, Instant::now())
            .refused_for
        {
            return Err(LiveError::TooMany { retry_after });
        }
    }
    let account = caller.account;
    let _turn = app.comparisons.turn(account).await?;
    let settings = get_settings(&app.db, account, id).await?;
    let older = versions::get(&app.db, account, id, compared.older).await?;
    let newer = versions::get(&app.db, account, id, compared.newer).await?;
    let data = data(app, account, id, &newer, set).await?;
    let mut memory = app.memory.try_reserve(account, 0).map_err(TemplateError::from)?;
    let mut documents = Vec::with_capacity(2);
    for version in [older, newer] {
        match render(app, caller, &version, &data, settings, &mut memory)
            .await
            .map_err(busy)?
        {
            Ok(document) => documents.push(document),
            Err(message) => {
                let version = Some(version.summary.number);
                return Ok(Comparison::Failed { version, message });
            }
        }
        let bytes: usize = documents.iter().map(|document| document.pdf.len()).sum();
        memory.shrink_to(bytes as u64 + PICTURE_BYTES);
    }
    let [older, newer] = documents.as_slice() else {
        return Err(TemplateError::NotFound.into());
    };
    let compared = app.drawing.compare(account, older.compared(), newer.compared());
    match compared.await {
        Ok(pages) => Ok(Comparison::Compared(PageComparison {
            older_pages: older.page_count,
            newer_pages: newer.page_count,
            pages,
        })),
        Err(DrawingError::TooMuch(message)) => Ok(Comparison::Failed {
            version: None,
            message: sentence(&message),
        }),
        Err(error) => Err(TemplateError::from(error).into()),
    }
}

/// Returns the data of a set.
async fn data(
    app: &Services,
    account: AccountId,
    id: TemplateId,
    newer: &TemplateVersion,
    set: &str,
) -> Result<Map<String, Value>, TemplateError> {
    if set == DEFAULT_SET {
        return Ok(newer.preview_context.clone());
    }
    let sets = template_sample_sets::list(&app.db, account, id).await?;
    let found = sets.into_iter().find(|found| found.name.as_str() == set);
    Ok(found.ok_or(SampleSetProblem::Gone)?.data)
}

struct Document {
    pdf: Vec<u8>,
    page_count: usize,
}

impl Document {
    /// Returns the document and the number of its pages that are compared.
    fn compared(&self) -> (&[u8], usize) {
        (&self.pdf, self.page_count.min(MOST_COMPARED_PAGES))
    }
}

/// Renders a version like the editor's preview. The inner error is what its author can resolve.
async fn render(
    app: &Services,
    caller: &Caller,
    version: &TemplateVersion,
    data: &Map<String, Value>,
    settings: TemplateSettings,
    memory: &mut Reservation,
) -> Result<Result<Document, String>, TemplateError> {
    let options = [
        ("size", json!("a4")),
        ("prefer_css_page_size", json!(true)),
        ("include_backgrounds", json!(true)),
    ];
    let options = options
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    // The resolution is that of pictures, which are not wanted.
    let wanted = PreviewRequest::of_editor(&version.content, &options, 96).map_err(TemplateError::Invalid)?;
    let terms = terms_while_waiting(app, caller, Lane::Preview, None);
    let log = RenderLog::default();
    let entered = enter(app, engine_caller(caller), &terms, memory, &log).await?;
    let filling = fill(app, caller.account, &version.content, data, settings, CONTENT);
    let filled = match entered.within(Phase::Load, &log, filling).await {
        Ok(Ok(filled)) => filled,
        Ok(Err(pool::Error::Template(problem))) => return Ok(Err(sentence(&faulty_template("", &problem).detail))),
        Ok(Err(error)) => return Err(error.into()),
        Err(error) => return of_author(error),
    };
    let job = wanted.render.into_job(vec![Part::Html(filled.html)], &terms);
    match entered.render(job, &log).await {
        Ok(document) => Ok(Ok(Document {
            page_count: document.page_count,
            pdf: document.pdf,
        })),
        Err(error) => of_author(error),
    }
}

/// Returns an error that the template's author can resolve as a sentence, and others as they are.
fn of_author<T>(error: RenderError) -> Result<Result<T, String>, TemplateError> {
    match error {
        RenderError::Problem { .. } | RenderError::Deadline { .. } => Ok(Err(sentence(&error.to_string()))),
        error => Err(error.into()),
    }
}

/// Converts errors that pass when the account's other renders have finished.
fn busy(error: TemplateError) -> LiveError {
    match error {
        TemplateError::Render(RenderError::TooManyConcurrent { .. } | RenderError::QueueFull)
        | TemplateError::Memory(_) => LiveError::Busy(Busy),
        error => error.into(),
    }
}
