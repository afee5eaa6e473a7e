//! Comparison of the pages of two versions, each rendered with the same sample data, like a preview. Nothing is charged
//! or stored.

use std::collections::BTreeSet;

use platen_domain::{
    caller::Caller,
    editor::{DEFAULT_SET, SampleSetProblem},
    ids::{AccountId, TemplateId},
    page_comparison::{Comparison, MOST_COMPARED_PAGES, PageComparison},
    sentence::sentence,
    template::{
        TemplateVersion,
        comparison::{ComparisonRequest, NewerSide},
        settings::TemplateSettings,
        translations::Translations,
    },
    validation::Problem,
};
use platen_engine::{
    error::RenderError,
    job::{Lane, Part, Phase},
    render_log::RenderLog,
};
use platen_template::{diagnostic::Diagnostic, pool, sources::Sources};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    drawing::DrawingError,
    memory::Reservation,
    render_request::preview::PreviewRequest,
    service::{
        Services,
        assets::library::render_with_assets,
        parsers::Busy,
        renders::{engine_caller, enter, templates::fill, terms_while_waiting},
        templates::{
            TemplateError, faulty_template, get,
            live::{self, LiveError},
            partials::{self, PartialSet},
            settings::get_settings,
            versions,
        },
    },
    store::template_sample_sets,
};

/// Memory of the pictures: in base64 as they were received, and in the response.
const PICTURE_BYTES: u64 = 2 * (20 << 20);
const CONTENT: &str = "/content";
const OLDER: &str = "/older";
/// Index of the newer side.
const NEWER: usize = 1;

/// The numbers of the compared versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compared {
    pub older: i32,
    pub newer: i32,
}

/// Renders two versions of a template with a set of sample data, and compares their pages. The first set is the data of
/// the newer version. A version that was published uses the partials with which it was, unless it is compared with itself:
/// then the newer one uses the published versions of partials, as if it were published again. Counts as two live previews.
pub async fn compare(
    app: &Services,
    caller: &Caller,
    id: TemplateId,
    compared: Compared,
    set: &str,
) -> Result<Comparison, LiveError> {
    for _ in 0..2 {
        live::count(app, caller.account).await?;
    }
    let account = caller.account;
    let turn = app.document_queues.wait(account).await;
    let _turn = turn.map_err(TemplateError::from)?;
    let older = versions::get(&app.db, account, id, compared.older).await?;
    let newer = versions::get(&app.db, account, id, compared.newer).await?;
    let data = data(app, account, id, &newer.preview_context, set).await?;
    let newer = if compared.older == compared.newer {
        let partials = partials::resolve(app, caller, Some(id), &newer.content).await?;
        Side {
            content: newer.content,
            translations: newer.translations,
            partials,
        }
    } else {
        saved(app, caller, id, newer).await?
    };
    let sides = [saved(app, caller, id, older).await?, newer];
    let settings = get_settings(&app.db, account, id).await?;
    let rendered = render_both(app, caller, settings, &sides, &data).await;
    let (version, message) = match rendered {
        Ok(Ok(compared)) => return Ok(Comparison::Compared(compared)),
        Ok(Err(Incomparable { side, message, .. })) => {
            (side.map(|side| [compared.older, compared.newer][side]), message)
        }
        Err(TemplateError::Render(late @ RenderError::Deadline { .. })) => (None, sentence(&late.to_string())),
        Err(error) => return Err(busy(error).into()),
    };
    Ok(Comparison::Failed { version, message })
}

/// Compares the pages as a request of the API names or contains them. Fails with [`TemplateError::Invalid`] if a side can't
/// be rendered.
pub async fn compare_requested(
    app: &Services,
    caller: &Caller,
    id: TemplateId,
    request: ComparisonRequest,
) -> Result<PageComparison, TemplateError> {
    let account = caller.account;
    // Requests for templates that don't exist don't wait.
    let settings = get_settings(&app.db, account, id).await?;
    let _turn = app.document_queues.wait(account).await?;
    let template = get(&app.db, account, id).await?;
    let older = version(app, account, id, request.older.unwrap_or(template.version), OLDER).await?;
    let older = saved(app, caller, id, older).await?;
    let pointer = request.newer.pointer();
    let mut unsaved = BTreeSet::new();
    let (newer, sample) = match request.newer {
        NewerSide::Version(number) => {
            let newer = version(app, account, id, number, pointer).await?;
            let sample = newer.preview_context.clone();
            (saved(app, caller, id, newer).await?, sample)
        }
        NewerSide::Unsaved {
            content,
            partials,
            translations,
        } => {
            let content = content.unwrap_or(template.content);
            unsaved.extend(partials.keys().cloned());
            let partials = partials::resolve_with(app, caller, Some(id), &content, partials).await?;
            let side = Side {
                content,
                translations: translations.unwrap_or(template.translations),
                partials,
            };
            (side, template.preview_context)
        }
    };
    let sides = [older, newer];
    let rendered = if let Some(context) = request.context {
        render_both(app, caller, settings, &sides, &context).await?
    } else {
        let set = request.sample_set.as_deref().unwrap_or(DEFAULT_SET);
        let data = data(app, account, id, &sample, set).await?;
        render_both(app, caller, settings, &sides, &data).await?
    };
    rendered.map_err(|Incomparable { side, fault, message }| {
        let pointer = match (side, fault) {
            (Some(NEWER), Some(diagnostic)) => partials::pointer_of(&diagnostic, pointer, &unsaved),
            (Some(NEWER), None) => pointer.to_owned(),
            (Some(_), _) => OLDER.to_owned(),
            (None, _) => String::new(),
        };
        TemplateError::Invalid(vec![Problem::invalid(pointer, message)])
    })
}

/// Returns a version, which the member at `pointer` names.
async fn version(
    app: &Services,
    account: AccountId,
    id: TemplateId,
    number: i32,
    pointer: &str,
) -> Result<TemplateVersion, TemplateError> {
    match versions::get(&app.db, account, id, number).await {
        Err(TemplateError::NotFound) => {
            let detail = format!("The template has no version {number}");
            Err(TemplateError::Invalid(vec![Problem::invalid(pointer, detail)]))
        }
        found => found,
    }
}

/// One of the two contents that are compared.
struct Side {
    content: String,
    translations: Translations,
    /// The partials that it uses, or why it can't be filled.
    partials: Result<PartialSet, Diagnostic>,
}

/// Returns a version with the partials with which it was published.
async fn saved(
    app: &Services,
    caller: &Caller,
    id: TemplateId,
    version: TemplateVersion,
) -> Result<Side, TemplateError> {
    let partials = partials::of_version(app, caller, id, (version.summary.number, &version.content)).await?;
    Ok(Side {
        content: version.content,
        translations: version.translations,
        partials,
    })
}

/// Why pages can't be compared, as far as the template's author can resolve it.
struct Incomparable {
    /// Index of the side that can't be rendered.
    side: Option<usize>,
    /// The fault of the side's texts.
    fault: Option<Diagnostic>,
    /// A sentence.
    message: String,
}

impl Incomparable {
    /// `side` is the index of the side with the fault.
    fn faulty(side: usize, fault: Diagnostic) -> Self {
        Self {
            side: Some(side),
            message: sentence(&faulty_template("", &fault).detail),
            fault: Some(fault),
        }
    }
}

/// Renders the older and the newer side with the same data, and compares their pages.
async fn render_both(
    app: &Services,
    caller: &Caller,
    settings: TemplateSettings,
    sides: &[Side; 2],
    data: &(impl Serialize + ?Sized),
) -> Result<Result<PageComparison, Incomparable>, TemplateError> {
    let account = caller.account;
    let mut memory = app.memory.try_reserve(account, 0)?;
    let mut documents = Vec::with_capacity(sides.len());
    for (index, side) in sides.iter().enumerate() {
        let rendered = match &side.partials {
            Ok(partials) => {
                let sources = partials.translated(&side.content, &side.translations, None);
                render(app, caller, sources, data, settings, &mut memory).await
            }
            Err(fault) => Err(RenderingError::Fault(fault.clone())),
        };
        match rendered {
            Ok(document) => documents.push(document),
            Err(RenderingError::Fault(fault)) => return Ok(Err(Incomparable::faulty(index, fault))),
            Err(RenderingError::Other(TemplateError::Render(problem @ RenderError::Problem { .. }))) => {
                return Ok(Err(Incomparable {
                    side: Some(index),
                    fault: None,
                    message: sentence(&problem.to_string()),
                }));
            }
            Err(RenderingError::Other(error)) => return Err(error),
        }
        let bytes: usize = documents.iter().map(|document| document.pdf.len()).sum();
        memory.shrink_to(bytes as u64 + PICTURE_BYTES);
    }
    let [older, newer] = documents.as_slice() else {
        return Err(TemplateError::NotFound);
    };
    let compared = app.drawing.compare(account, older.compared(), newer.compared());
    match compared.await {
        Ok(pages) => Ok(Ok(PageComparison {
            older_pages: older.page_count,
            newer_pages: newer.page_count,
            pages,
        })),
        Err(DrawingError::TooMuch(message)) => Ok(Err(Incomparable {
            side: None,
            fault: None,
            message: sentence(&message),
        })),
        Err(error) => Err(error.into()),
    }
}

/// Returns the data of a set. `first` is that of the first one.
async fn data(
    app: &Services,
    account: AccountId,
    id: TemplateId,
    first: &Map<String, Value>,
    set: &str,
) -> Result<Map<String, Value>, TemplateError> {
    if set == DEFAULT_SET {
        return Ok(first.clone());
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

/// A side can't be rendered.
enum RenderingError {
    /// Its texts have a fault.
    Fault(Diagnostic),
    Other(TemplateError),
}

impl<E: Into<TemplateError>> From<E> for RenderingError {
    fn from(error: E) -> Self {
        Self::Other(error.into())
    }
}

/// Renders a version like the editor's preview.
async fn render(
    app: &Services,
    caller: &Caller,
    sources: Sources<'_>,
    data: &(impl Serialize + ?Sized),
    settings: TemplateSettings,
    memory: &mut Reservation,
) -> Result<Document, RenderingError> {
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
    // Its translations are among the sources already.
    let wanted = PreviewRequest::of_editor(&sources.template, json!({}), &options, 96);
    let wanted = wanted.map_err(TemplateError::Invalid)?;
    let terms = terms_while_waiting(app, caller, Lane::Preview, None);
    let log = RenderLog::default();
    let entered = enter(app, engine_caller(caller), &terms, memory, &log).await?;
    let filling = fill(app, caller.account, sources, data, settings, CONTENT);
    let filled = match entered.within(Phase::Load, &log, filling).await? {
        Err(pool::Error::Template(fault)) => return Err(RenderingError::Fault(fault)),
        filled => filled?,
    };
    let parts = vec![Part::Html(filled.html)];
    let document = render_with_assets(app, caller.account, entered, wanted.render, parts, &terms, &log).await?;
    Ok(Document {
        page_count: document.page_count,
        pdf: document.pdf,
    })
}

/// Converts errors that pass when the account's other renders have finished.
fn busy(error: TemplateError) -> TemplateError {
    match error {
        TemplateError::Render(RenderError::TooManyConcurrent { .. } | RenderError::QueueFull)
        | TemplateError::Memory(_) => Busy.into(),
        error => error,
    }
}
