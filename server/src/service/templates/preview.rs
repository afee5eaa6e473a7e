//! Previews: a template filled and rendered for its author's eyes. Nothing is charged and nothing is kept.

use platen_engine::{
    job::{Lane, RenderedDocument, Warning},
    render_log::RenderLog,
};
use platen_pdf::{
    Watermark,
    raster::{PageView, RasterError, rasterise},
};
use tokio::task::spawn_blocking;

use crate::{
    domain::{
        caller::Caller,
        ids::{RenderId, TemplateId},
        render::RenderTerms,
        template::preview::{PreviewFormat, PreviewRequest},
    },
    service::{
        renders::templates::fill,
        templates::{TemplateError, get, settings::get_settings, unusable},
    },
    state::AppState,
};

/// Most pages that are drawn.
const MOST_PICTURES: usize = 10;
const CONTENT: &str = "/content";

/// What an author gets to see.
pub struct Preview {
    /// Pages of the document.
    pub page_count: usize,
    /// What the author should know.
    pub warnings: Vec<Warning>,
    /// The pages or the document.
    pub shown: Shown,
}

/// In which form.
pub enum Shown {
    /// The first pages.
    Pictures(Vec<PagePicture>),
    /// The whole document, marked as a preview.
    Pdf(Vec<u8>),
}

/// A page as a picture.
pub struct PagePicture {
    /// Pixels.
    pub width: usize,
    /// Pixels.
    pub height: usize,
    /// The file.
    pub png: Vec<u8>,
}

/// Fills and renders a template of the account, or a content that is not saved yet in its place.
pub async fn preview(
    app: &AppState,
    caller: &Caller,
    id: TemplateId,
    wanted: PreviewRequest,
) -> Result<Preview, TemplateError> {
    let template = get(&app.db, caller.account, id).await?;
    let settings = get_settings(&app.db, caller.account, id).await?;
    let content = wanted.content.unwrap_or(template.content);
    let data = wanted.context.unwrap_or(template.preview_context);
    let filled = fill(app, caller.account, &content, &data, settings, CONTENT).await;
    let filled = filled.map_err(|error| unusable(CONTENT, error))?;
    let terms = RenderTerms {
        id: RenderId::generate(),
        lane: Lane::Preview,
        watermark: (wanted.format == PreviewFormat::Pdf).then_some(Watermark::Preview),
        deadline: caller.limits.sync_deadline,
        pages: app.config.limits.page_limit,
    };
    let job = wanted.render.into_job(vec![filled.part], terms);
    let document = app.engine.render(caller.into(), job, &RenderLog::default()).await?;
    let mut warnings = filled.warnings;
    warnings.extend_from_slice(&document.warnings);
    Ok(Preview {
        page_count: document.page_count,
        warnings,
        shown: match wanted.format {
            PreviewFormat::Pdf => Shown::Pdf(document.pdf),
            PreviewFormat::Png => Shown::Pictures(draw(document, wanted.dots_per_inch).await?),
        },
    })
}

/// Draws the first pages, on a thread that may be busy for long.
async fn draw(document: RenderedDocument, dots_per_inch: u16) -> Result<Vec<PagePicture>, TemplateError> {
    let pages = 1..=document.page_count.min(MOST_PICTURES);
    let drawing = spawn_blocking(move || {
        let pictures = pages.map(|page| {
            let picture = rasterise(&document.pdf, PageView { page, dots_per_inch })?;
            Ok(PagePicture {
                width: picture.width,
                height: picture.height,
                png: picture.to_png(),
            })
        });
        pictures.collect::<Result<Vec<_>, RasterError>>()
    });
    Ok(drawing.await??)
}
