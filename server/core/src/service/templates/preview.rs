//! Previews of templates for their authors. Nothing is charged or stored.

use platen_domain::{caller::Caller, ids::TemplateId};
use platen_engine::{
    job::{Lane, Part, Phase, Warning},
    render_log::RenderLog,
};
use platen_pdf::Watermark;
use platen_template::{diagnostic::Diagnostic, pool};

use crate::{
    drawing::child::{Drawn, Size},
    memory::Reservation,
    render_request::preview::{PreviewFormat, PreviewRequest},
    service::{
        Services,
        assets::library::render_with_assets,
        renders::{accessibility, engine_caller, enter, templates::fill, terms_while_waiting},
        templates::{TemplateError, faulty_template, get, partials, settings::get_settings},
    },
};

/// Maximum number of pages that are rasterized.
const MOST_PICTURES: usize = 10;
const CONTENT: &str = "/content";

/// A rendered preview.
pub struct Preview {
    /// Number of pages of the document.
    pub page_count: usize,
    /// Warnings of filling and rendering.
    pub warnings: Vec<Warning>,
    /// Pages or document, by the requested format.
    pub shown: Shown,
}

/// Content of a preview.
pub enum Shown {
    /// The first pages, up to ten.
    Pictures(Vec<Drawn>),
    /// The whole document, with a watermark.
    Pdf(Vec<u8>),
}

/// Fills and renders a template of the account, or unsaved content instead of it, with the template's settings.
pub async fn preview(
    app: &Services,
    caller: &Caller,
    id: TemplateId,
    wanted: PreviewRequest,
    memory: &mut Reservation,
) -> Result<Preview, TemplateError> {
    let template = get(&app.db, caller.account, id).await?;
    let unsaved = wanted.partials.keys().cloned().collect();
    let refused = |diagnostic: Diagnostic| {
        let pointer = partials::pointer_of(&diagnostic, CONTENT, &unsaved);
        TemplateError::Invalid(vec![faulty_template(pointer, &diagnostic)])
    };
    let settings = get_settings(&app.db, caller.account, id).await?;
    let partials = if wanted.content.is_none() && wanted.partials.is_empty() {
        Ok(partials::of_published(app, caller.account, id, (template.version, &template.content)).await?)
    } else {
        let content = wanted.content.as_ref().unwrap_or(&template.content);
        partials::resolve_with(app, caller, Some(id), content, wanted.partials).await?
    };
    let partials = partials.map_err(refused)?;
    let watermark = (wanted.format == PreviewFormat::Pdf).then_some(Watermark::Preview);
    let terms = terms_while_waiting(app, caller, Lane::Preview, watermark);
    let log = RenderLog::default();
    let entered = enter(app, engine_caller(caller), &terms, memory, &log).await?;
    let content = wanted.content.unwrap_or(template.content);
    let translations = wanted.translations.unwrap_or(template.translations);
    let sources = partials.translated(&content, &translations, wanted.render.language.as_deref());
    let filling = async {
        if let Some(data) = wanted.context {
            fill(app, caller.account, sources, &data, settings, CONTENT).await
        } else {
            let data = &template.preview_context;
            fill(app, caller.account, sources, data, settings, CONTENT).await
        }
    };
    let filled = entered.within(Phase::Load, &log, filling).await?;
    let filled = filled.map_err(|error| match error {
        pool::Error::Template(diagnostic) => refused(diagnostic),
        error @ pool::Error::Process(_) => error.into(),
    })?;
    let mut render = wanted.render;
    let demanded = std::mem::take(&mut render.conformance);
    let parts = vec![Part::Html(filled.html)];
    let document = render_with_assets(app, caller.account, entered, render, parts, &terms, &log).await?;
    accessibility::check(&document, &demanded)?;
    let mut warnings = filled.warnings;
    warnings.extend(document.warnings);
    let pages = document.page_count.min(MOST_PICTURES);
    Ok(Preview {
        page_count: document.page_count,
        warnings,
        shown: match wanted.format {
            PreviewFormat::Pdf => Shown::Pdf(document.pdf),
            PreviewFormat::Png => {
                let drawn = app.drawing.draw(
                    caller.account,
                    &document.pdf,
                    Size::DotsPerInch(wanted.dots_per_inch),
                    pages,
                );
                Shown::Pictures(drawn.await?)
            }
        },
    })
}
