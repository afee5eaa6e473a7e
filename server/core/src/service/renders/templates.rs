//! Template parts. Their templates are looked up before a render is accepted, and filled after that.

use std::{
    collections::{BTreeSet, HashMap},
    iter,
};

use platen_domain::{
    ids::AccountId,
    template::{identity::TemplateKind, settings::TemplateSettings},
    validation::{Problem, quote},
};
use platen_engine::{
    job::{Part, Warning},
    render_log::RenderLog,
};
use platen_template::{
    diagnostic::{self as template, WarningKind},
    language::Undefined,
    pool,
    sources::Sources,
};
use serde::Serialize;

use crate::{
    render_request::{PartSource, RenderRequest, TemplatePart, no_such_template},
    service::{
        Services,
        renders::failure::FailureReason,
        templates::{catalogues::catalogues, faulty_template, named_place},
    },
    store::{
        error::StoreError,
        template_channels::{self, NamedRelease},
        templates::{self, RenderedVersion},
    },
};

/// Maximum number of errors for assets that don't exist.
const MOST_MISSING: usize = 20;

/// Parts for the engine, and warnings for the template's author.
pub(super) struct Filled {
    pub(super) parts: Vec<Part>,
    pub(super) warnings: Vec<Warning>,
    /// Indices of the parts whose templates are strict.
    pub(super) strict: BTreeSet<usize>,
}

/// Looks up the release of each template in the requested channel and notes it in the request. The inner error holds a
/// validation error for each template that is unknown, a partial or has no release there.
pub(in crate::service) async fn note_versions(
    app: &Services,
    account: AccountId,
    request: &mut RenderRequest,
) -> Result<Result<(), Vec<Problem>>, StoreError> {
    let named = request.templates();
    let named: Vec<_> = named
        .map(|(part, named)| (part, (named.template, named.requested_channel())))
        .collect();
    if named.is_empty() {
        return Ok(Ok(()));
    }
    let distinct: BTreeSet<_> = named.iter().map(|(_, named)| named.clone()).collect();
    let distinct: Vec<_> = distinct.into_iter().collect();
    let releases = template_channels::list_named(&app.db, account, &distinct).await?;
    let releases = releases
        .into_iter()
        .map(|release| ((release.template, release.channel.clone()), release));
    let releases: HashMap<_, _> = releases.collect();
    let mut problems = Vec::new();
    for (part, named) in named {
        match releases.get(&named) {
            Some(release) if release.kind == TemplateKind::Partial => problems.push(is_partial(part)),
            Some(release) => match release.version {
                Some(version) => request.note_version(part, version),
                None => problems.push(not_released(part, release)),
            },
            None => problems.push(no_such_template(part, &named.0.to_string())),
        }
    }
    Ok(if problems.is_empty() { Ok(()) } else { Err(problems) })
}

/// Returns the validation error of a part whose channel has no release of the template.
fn not_released(part: usize, release: &NamedRelease) -> Problem {
    let NamedRelease { channel, channels, .. } = release;
    let detail = if channels.contains(channel) {
        format!(
            "The template has no release in {channel} yet. Promote one to it, or name another channel: {}",
            channels.listed()
        )
    } else {
        format!(
            "No such channel: {}. The account has {}",
            quote(channel.as_str()),
            channels.listed()
        )
    };
    Problem::invalid(format!("/parts/{part}/content/channel"), detail)
}

fn is_partial(part: usize) -> Problem {
    let detail = "The template is a partial, which is rendered only as part of the templates that use it. Render one of \
                  these, or change the template's kind to document";
    Problem::invalid(format!("/parts/{part}/content/template_id"), detail)
}

/// Fills the templates among the parts, one after the other, because an account has one worker process at a time. Fails
/// at the first one that can't be filled, and if they yield more than `most_bytes` bytes in total.
pub(super) async fn fill_parts(
    app: &Services,
    account: AccountId,
    sources: Vec<PartSource>,
    language: Option<&str>,
    most_bytes: u64,
) -> Result<Filled, FailureReason> {
    let mut filled = Filled {
        parts: Vec::with_capacity(sources.len()),
        warnings: Vec::new(),
        strict: BTreeSet::new(),
    };
    let mut filled_bytes = 0;
    // Parts of the same template often follow one another.
    let mut last = None;
    for (index, source) in sources.into_iter().enumerate() {
        let part = match source {
            PartSource::Given(part) => part,
            PartSource::Template(part) => {
                let named = (part.template, part.version);
                let template = match last.take() {
                    Some((last, template)) if last == named => template,
                    _ => find(app, account, index, &part).await?,
                };
                if template.settings.strict {
                    filled.strict.insert(index);
                }
                let filled_template = fill_part(app, account, (index, &part), &template, language).await?;
                last = Some((named, template));
                filled_bytes += filled_template.html.len() as u64;
                if filled_bytes > most_bytes {
                    return Err(FailureReason::Templates(vec![too_much_filled(index, most_bytes)]));
                }
                filled.warnings.extend(filled_template.warnings);
                Part::Html(filled_template.html)
            }
        };
        filled.parts.push(part);
    }
    Ok(filled)
}

/// Fails if parts with strict templates have requested assets that don't exist, with a validation error for each of the
/// first ones.
pub(super) fn require_assets(strict: &BTreeSet<usize>, log: &RenderLog) -> Result<(), FailureReason> {
    if strict.is_empty() {
        return Ok(());
    }
    let missing = log.missing_assets(strict);
    let problems: Vec<_> = missing.iter().take(MOST_MISSING).map(missing_asset).collect();
    if problems.is_empty() {
        Ok(())
    } else {
        Err(FailureReason::Templates(problems))
    }
}

fn missing_asset((part, address): &(usize, String)) -> Problem {
    let detail = format!(
        "The template is strict, and {address} doesn't exist. Upload it, add it to the request's assets, or correct the name"
    );
    Problem::invalid(format!("/parts/{part}"), detail)
}

async fn find(
    app: &Services,
    account: AccountId,
    index: usize,
    part: &TemplatePart,
) -> Result<RenderedVersion, FailureReason> {
    let found = templates::find_version(&app.db, account, part.template, part.version).await?;
    found.ok_or_else(|| FailureReason::Templates(vec![no_such_template(index, &part.template.to_string())]))
}

async fn fill_part(
    app: &Services,
    account: AccountId,
    (index, part): (usize, &TemplatePart),
    template: &RenderedVersion,
    language: Option<&str>,
) -> Result<FilledTemplate, FailureReason> {
    let pointer = format!("/parts/{index}");
    let filled = fill(
        app,
        account,
        sources(template, language),
        &part.context,
        template.settings,
        &pointer,
    )
    .await;
    filled.map_err(|error| match error {
        pool::Error::Template(problem) => FailureReason::Templates(vec![faulty_template(&pointer, &problem)]),
        error @ pool::Error::Process(_) => FailureReason::TemplateProcess(error),
    })
}

/// Returns a template with its partials, and with the catalogues for a language or, without one, for the template's own.
pub(in crate::service) fn sources<'a>(template: &'a RenderedVersion, language: Option<&str>) -> Sources<'a> {
    let partials = template.partials.iter();
    let sources = Sources::new(
        &template.content,
        partials.map(|partial| (&partial.handle, &partial.content)),
    );
    let partials = template.partials.iter().map(|partial| &partial.translations);
    sources.with_catalogues(catalogues(iter::once(&template.translations).chain(partials), language))
}

fn too_much_filled(part: usize, most_bytes: u64) -> Problem {
    let detail = format!(
        "The templates of a request may yield up to {most_bytes} bytes of HTML in total; this part exceeds that. \
         Split the request, or shorten the templates"
    );
    Problem::invalid(format!("/parts/{part}"), detail)
}

/// A filled template.
pub(in crate::service) struct FilledTemplate {
    pub(in crate::service) html: String,
    pub(in crate::service) warnings: Vec<Warning>,
}

/// Fills a template. `pointer` is the JSON pointer of the part that contains or names it, for warnings.
pub(in crate::service) async fn fill(
    app: &Services,
    account: AccountId,
    sources: Sources<'_>,
    context: &(impl Serialize + ?Sized),
    settings: TemplateSettings,
    pointer: &str,
) -> Result<FilledTemplate, pool::Error> {
    let undefined = if settings.strict {
        Undefined::Refuse
    } else {
        Undefined::Warn
    };
    let filled = app.templates.render(account.0, sources, context, undefined).await?;
    let warnings = filled.warnings.iter();
    Ok(FilledTemplate {
        warnings: warnings.map(|warning| missing(pointer, warning)).collect(),
        html: filled.text,
    })
}

/// Returns the warning about an undefined value or a missing text.
fn missing(pointer: &str, warning: &template::Warning) -> Warning {
    let place = named_place(&warning.place).to_lowercase();
    let code = match &warning.kind {
        WarningKind::Undefined { .. } => "template_undefined",
        WarningKind::MissingText { .. }
        | WarningKind::UntranslatedText { .. }
        | WarningKind::MissingArgument { .. } => "template_translation",
    };
    Warning {
        code,
        message: format!("{pointer}: {place}: {}", warning.kind),
    }
}
