//! Template syntax: Jinja2 as implemented by `minijinja`, with HTML escaping, filters for documents, and no access to
//! anything outside.
//!
//! `include`, `import` and `extends` find the partials among the template's [`Sources`], and nothing else. See `filters`
//! for the filters beyond Jinja's own, and `translations` for the function `t`.

pub(crate) mod blocks;
mod environment;
pub(crate) mod translations;
mod undefined;
pub(crate) mod uses;

use std::io;

use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value, machinery::parse, syntax::SyntaxConfig};
use serde::{Deserialize, Serialize};

use crate::{
    diagnostic::{Diagnostic, DiagnosticKind, Place, Warning, cause},
    language::{
        translations::Translations,
        undefined::Instrumented,
        uses::{Reference, Uses},
    },
    partials::name_of,
    source_text::{Mark, Places, SourceText, source_texts},
    sources::Sources,
};

/// Longest output of one template, in bytes.
pub const LONGEST_OUTPUT: usize = 16 << 20;

/// Name of the template in the engine. It is no handle, so that no partial has it.
pub(crate) const NAME: &str = "<template>";

/// How the use of an undefined value or a missing text is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Undefined {
    /// The value counts as empty, the text is replaced, and both are reported.
    Warn,
    /// It is an error.
    Refuse,
}

/// A filled template.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    /// HTML.
    pub text: String,
    /// Uses of undefined values and missing texts, in the order of the template, at most 100.
    pub warnings: Vec<Warning>,
}

/// A filled template, and the lines that made its text.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traced {
    /// The filled template.
    pub rendered: Rendered,
    /// Its words in their order, at most 5,000.
    pub texts: Vec<SourceText>,
}

/// Fills a template with a context, a map of the names that the template may use. Returns the first error.
///
/// Testing whether a value is defined or true, or giving it a default, is not a use of an undefined value; printing,
/// looping over, filtering, comparing or calculating with it is, and so is accessing its members.
///
/// Output is limited to [`LONGEST_OUTPUT`]; memory is limited only by the process that this runs in.
pub fn render<'a>(
    sources: impl Into<Sources<'a>>,
    context: Value,
    undefined: Undefined,
) -> Result<Rendered, Diagnostic> {
    render_with(&mut sources.into(), context, undefined, |_| None).map(|(rendered, _)| rendered)
}

/// Fills a template like [`render`], and finds the lines of the template that made the text. Text of a partial counts as
/// made by the tag that uses it.
pub fn trace<'a>(sources: impl Into<Sources<'a>>, context: Value, undefined: Undefined) -> Result<Traced, Diagnostic> {
    let mut sources = sources.into();
    let (rendered, origin) = render_with(&mut sources, context, undefined, |source| Some(Places::of(source)))?;
    let texts = source_texts(&rendered.text, &sources.template, &origin.marks, |offset| {
        let watched = origin.watched.as_ref();
        watched.map_or(offset, |watched| watched.original_offset(None, offset))
    });
    Ok(Traced { rendered, texts })
}

/// Where output comes from.
struct Origin {
    marks: Vec<Mark>,
    /// The sources that were filled, if they aren't the author's.
    watched: Option<Instrumented>,
}

/// Fills a template, and takes the catalogues from its sources. `places` creates the record of places for the template
/// that is filled.
fn render_with(
    sources: &mut Sources<'_>,
    context: Value,
    undefined: Undefined,
    places: fn(&str) -> Option<Places>,
) -> Result<(Rendered, Origin), Diagnostic> {
    let translations = Translations::take_from(sources);
    let filled = fill_or_warn(sources, translations.as_ref(), context.clone(), undefined, places);
    match filled {
        // Without catalogues, there is no function `t` that could change what a template does that works without it.
        Err(diagnostic)
            if translations.is_none()
                && diagnostic.kind == DiagnosticKind::Operation
                && translations::are_used_by(sources) =>
        {
            fill_or_warn(sources, Some(&Translations::default()), context, undefined, places)
        }
        other => other,
    }
}

fn fill_or_warn(
    sources: &Sources<'_>,
    translations: Option<&Translations>,
    context: Value,
    undefined: Undefined,
    places: fn(&str) -> Option<Places>,
) -> Result<(Rendered, Origin), Diagnostic> {
    // Most templates use nothing undefined, and the engine itself is the fastest way to find out.
    let environment = environment::with(UndefinedBehavior::SemiStrict, translations);
    let refused = match fill(environment, sources, context.clone(), places(&sources.template)) {
        Ok(Filled { text, marks, .. }) => {
            let warnings = Vec::new();
            return Ok((Rendered { text, warnings }, Origin { marks, watched: None }));
        }
        Err(refused) => refused,
    };
    match undefined {
        Undefined::Warn if cause(&refused.error).kind() == ErrorKind::UndefinedError => {
            fill_and_warn(sources, translations, context, places)
        }
        _ => Err(refused.into_fault(sources, None)),
    }
}

/// Checks a template without filling it, for syntax errors, unknown filters and tests, and partials that are not named
/// by a constant text. Returns the first error of the first of these kinds. Partials are not looked for.
pub fn check(template: &str) -> Result<(), Diagnostic> {
    let environment = environment::with(UndefinedBehavior::SemiStrict, None);
    let diagnostic = |error: Error| Diagnostic::from_engine(&error, &template.into());
    let tree = parse(template, NAME, SyntaxConfig::default()).map_err(diagnostic)?;
    environment
        .template_from_named_str(NAME, template)
        .map_err(diagnostic)?;
    let uses = Uses::of(&tree);
    let mut state = environment.empty_state();
    let mut exists = |kind: &str, name: &str| state.perform_test(kind, &[Value::from(name)]).unwrap_or_default();
    let unknown_filter = uses.filters.into_iter().find(|(name, _)| !exists("filter", name));
    let unknown_test = uses.tests.into_iter().find(|(name, _)| !exists("test", name));
    let (kind, word, (name, range)) = match (unknown_filter, unknown_test) {
        (Some(filter), _) => (ErrorKind::UnknownFilter, "filter", filter),
        (None, Some(test)) => (ErrorKind::UnknownTest, "test", test),
        (None, None) => return check_references(template, &uses.partials),
    };
    let error = Error::new(kind, format!("{word} {name} is unknown"));
    Err(Diagnostic::at(&error, None, template, Some(range)))
}

fn check_references(template: &str, references: &[Reference]) -> Result<(), Diagnostic> {
    for reference in references {
        if let Err(reason) = name_of(reference) {
            let place = Place::at(None, template, reference.range.start);
            return Err(Diagnostic::new(DiagnosticKind::Operation, reason, Some(place)));
        }
    }
    Ok(())
}

/// Fills the template again, with every use of a name watched.
fn fill_and_warn(
    sources: &Sources<'_>,
    translations: Option<&Translations>,
    context: Value,
    places: fn(&str) -> Option<Places>,
) -> Result<(Rendered, Origin), Diagnostic> {
    let watched =
        Instrumented::new(sources, translations.is_some()).map_err(|error| Diagnostic::from_engine(&error, sources))?;
    let mut environment = environment::with(UndefinedBehavior::Chainable, translations);
    undefined::add_filters(&mut environment);
    let filled = fill(
        environment,
        &watched.sources,
        context,
        places(&watched.sources.template),
    );
    let Filled { text, seen, marks } = filled.map_err(|refused| refused.into_fault(sources, Some(&watched)))?;
    let warnings = watched.warnings(sources, seen);
    let watched = Some(watched);
    Ok((Rendered { text, warnings }, Origin { marks, watched }))
}

/// Why filling failed: the engine's error, and whether the output limit caused it.
struct Refused {
    error: Error,
    output_full: bool,
}

impl Refused {
    fn into_fault(self, sources: &Sources<'_>, watched: Option<&Instrumented>) -> Diagnostic {
        let original =
            |partial: Option<&str>, offset| watched.map_or(offset, |watched| watched.original_offset(partial, offset));
        let mut diagnostic = Diagnostic::from_changed(&self.error, sources, original);
        if self.output_full {
            diagnostic.kind = DiagnosticKind::Output;
            diagnostic.message = Diagnostic::limit(DiagnosticKind::Output).message;
        }
        diagnostic
    }
}

/// The output of the engine.
struct Filled {
    text: String,
    seen: undefined::Seen,
    marks: Vec<Mark>,
}

fn fill<'s>(
    mut environment: Environment<'s>,
    sources: &'s Sources<'_>,
    context: Value,
    places: Option<Places>,
) -> Result<Filled, Refused> {
    let mut output = LimitedOutput {
        places,
        ..LimitedOutput::default()
    };
    let mut partials = sources.partials.iter();
    let filled = partials
        .try_for_each(|(handle, text)| environment.add_template(handle, text))
        .and_then(|()| environment.template_from_named_str(NAME, &sources.template))
        .and_then(|template| template.render_captured_to(context, &mut output))
        .map(|mut captured| captured.with_state_mut(undefined::seen));
    let marks = output.places.take().map(|places| places.marks).unwrap_or_default();
    match filled {
        Ok(seen) => String::from_utf8(output.bytes)
            .map(|text| Filled { text, seen, marks })
            .map_err(|_| Refused {
                error: Error::new(ErrorKind::WriteFailure, "the output is not valid UTF-8"),
                output_full: false,
            }),
        Err(error) => Err(Refused {
            error,
            output_full: output.full,
        }),
    }
}

/// Collects output up to [`LONGEST_OUTPUT`].
#[derive(Default)]
struct LimitedOutput {
    bytes: Vec<u8>,
    full: bool,
    places: Option<Places>,
}

impl io::Write for LimitedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > LONGEST_OUTPUT {
            self.full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if let Some(places) = &mut self.places {
            places.note(self.bytes.len(), bytes);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
