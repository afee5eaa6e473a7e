//! Template syntax: Jinja2 as implemented by `minijinja`, with HTML escaping, filters for documents, and no access to
//! anything outside.
//!
//! `include`, `import` and `extends` find nothing, because a template is a single text. See `filters` for the filters
//! beyond Jinja's own.

pub(crate) mod blocks;
mod environment;
mod undefined;
mod uses;

use std::io;

use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value, machinery::parse, syntax::SyntaxConfig};
use serde::{Deserialize, Serialize};

use crate::{
    diagnostic::{Diagnostic, DiagnosticKind, Warning},
    language::{undefined::Instrumented, uses::Uses},
    source_text::{Mark, Places, SourceText, source_texts},
};

/// Longest output of one template, in bytes.
pub const LONGEST_OUTPUT: usize = 16 << 20;

/// Name of the only template in the engine.
pub(crate) const NAME: &str = "template";

/// How the use of an undefined value is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Undefined {
    /// It counts as empty, and is reported.
    Warn,
    /// It is an error.
    Refuse,
}

/// A filled template.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    /// HTML.
    pub text: String,
    /// Uses of undefined values in the order of the template, at most 100.
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
pub fn render(template: &str, context: Value, undefined: Undefined) -> Result<Rendered, Diagnostic> {
    render_with(template, context, undefined, |_| None).map(|(rendered, _)| rendered)
}

/// Fills a template like [`render`], and finds the lines of the template that made the text.
pub fn trace(template: &str, context: Value, undefined: Undefined) -> Result<Traced, Diagnostic> {
    let (rendered, origin) = render_with(template, context, undefined, |source| Some(Places::of(source)))?;
    let texts = source_texts(&rendered.text, template, &origin.marks, |offset| {
        let watched = origin.watched.as_ref();
        watched.map_or(offset, |watched| watched.original_offset(offset))
    });
    Ok(Traced { rendered, texts })
}

/// Where output comes from.
struct Origin {
    marks: Vec<Mark>,
    /// The template that was filled, if it isn't the author's.
    watched: Option<Instrumented>,
}

/// Fills a template. `places` creates the record of places for the template that is filled.
fn render_with(
    template: &str,
    context: Value,
    undefined: Undefined,
    places: fn(&str) -> Option<Places>,
) -> Result<(Rendered, Origin), Diagnostic> {
    // Most templates use nothing undefined, and the engine itself is the fastest way to find out.
    let environment = environment::with_behavior(UndefinedBehavior::SemiStrict);
    let refused = match fill(&environment, template, context.clone(), places(template)) {
        Ok(Filled { text, marks, .. }) => {
            let warnings = Vec::new();
            return Ok((Rendered { text, warnings }, Origin { marks, watched: None }));
        }
        Err(diagnostic) => diagnostic,
    };
    match undefined {
        Undefined::Warn if refused.error.kind() == ErrorKind::UndefinedError => {
            fill_and_warn(template, context, places)
        }
        _ => Err(refused.into_fault(template, None)),
    }
}

/// Checks a template without filling it, for syntax errors and for unknown filters and tests. Returns the first error.
pub fn check(template: &str) -> Result<(), Diagnostic> {
    let environment = environment::with_behavior(UndefinedBehavior::SemiStrict);
    let diagnostic = |error: Error| Diagnostic::from_engine(&error, template, error.range());
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
        (None, None) => return Ok(()),
    };
    let error = Error::new(kind, format!("{word} {name} is unknown"));
    Err(Diagnostic::from_engine(&error, template, Some(range)))
}

/// Fills the template again, with every use of a name watched.
fn fill_and_warn(
    template: &str,
    context: Value,
    places: fn(&str) -> Option<Places>,
) -> Result<(Rendered, Origin), Diagnostic> {
    let watched =
        Instrumented::new(template).map_err(|error| Diagnostic::from_engine(&error, template, error.range()))?;
    let mut environment = environment::with_behavior(UndefinedBehavior::Chainable);
    undefined::add_filter(&mut environment);
    let filled = fill(&environment, &watched.source, context, places(&watched.source));
    let Filled { text, seen, marks } = filled.map_err(|refused| refused.into_fault(template, Some(&watched)))?;
    let warnings = watched.warnings(template, &seen);
    let watched = Some(watched);
    Ok((Rendered { text, warnings }, Origin { marks, watched }))
}

/// Why filling failed: the engine's error, and whether the output limit caused it.
struct Refused {
    error: Error,
    output_full: bool,
}

impl Refused {
    fn into_fault(self, template: &str, watched: Option<&Instrumented>) -> Diagnostic {
        let original = |offset| watched.map_or(offset, |watched| watched.original_offset(offset));
        let range = self
            .error
            .range()
            .map(|range| original(range.start)..original(range.end));
        let mut diagnostic = Diagnostic::from_engine(&self.error, template, range);
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

fn fill(environment: &Environment, source: &str, context: Value, places: Option<Places>) -> Result<Filled, Refused> {
    let mut output = LimitedOutput {
        places,
        ..LimitedOutput::default()
    };
    let filled = environment
        .template_from_named_str(NAME, source)
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
