//! The language: Jinja2 as `minijinja` has it, with escaping for HTML, filters for documents, and nothing from outside.
//!
//! `include`, `import` and `extends` find nothing: one template is one text. See `filters` for what documents need beyond
//! Jinja's own filters.

mod environment;
mod undefined;
mod uses;

use std::io;

use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value, machinery::parse, syntax::SyntaxConfig};
use serde::{Deserialize, Serialize};

use crate::{
    fault::{Fault, FaultKind, Warning},
    language::{undefined::Instrumented, uses::Uses},
};

/// The longest output of one template, in bytes.
pub const LONGEST_OUTPUT: usize = 16 << 20;

/// The name under which the engine knows the one template.
pub(crate) const NAME: &str = "template";

/// What becomes of the use of something undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Undefined {
    /// It counts as empty, and is reported.
    Warn,
    /// It is a fault.
    Refuse,
}

/// A filled template.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    /// HTML.
    pub text: String,
    /// What was undefined, in the order of the template.
    pub warnings: Vec<Warning>,
}

/// Fills a template with a context, a map of the names that it may use.
///
/// Asking whether something is defined or true, or giving it a default is no use of something undefined;
/// printing, looping over, filtering, comparing or calculating with it is, and so is asking for its
/// members.
///
/// # Errors
/// The first fault. Memory is limited only by the process that this runs in.
pub fn render(template: &str, context: Value, undefined: Undefined) -> Result<Rendered, Fault> {
    // Templates that use nothing undefined are the rule, and the engine itself finds out most quickly whether one does.
    let environment = environment::with_behavior(UndefinedBehavior::SemiStrict);
    let refused = match fill(&environment, template, context.clone()) {
        Ok((text, _)) => {
            return Ok(Rendered {
                text,
                warnings: Vec::new(),
            });
        }
        Err(fault) => fault,
    };
    match undefined {
        Undefined::Warn if refused.error.kind() == ErrorKind::UndefinedError => fill_and_warn(template, context),
        _ => Err(refused.into_fault(template, None)),
    }
}

/// Looks for faults without filling the template: of syntax, and filters and tests that do not exist.
///
/// # Errors
/// The first fault.
pub fn check(template: &str) -> Result<(), Fault> {
    let environment = environment::with_behavior(UndefinedBehavior::SemiStrict);
    let fault = |error: Error| Fault::from_engine(&error, template, error.range());
    let tree = parse(template, NAME, SyntaxConfig::default()).map_err(fault)?;
    environment.template_from_named_str(NAME, template).map_err(fault)?;
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
    Err(Fault::from_engine(&error, template, Some(range)))
}

/// Fills once more, with every use of a name watched.
fn fill_and_warn(template: &str, context: Value) -> Result<Rendered, Fault> {
    let watched = Instrumented::new(template).map_err(|error| Fault::from_engine(&error, template, error.range()))?;
    let mut environment = environment::with_behavior(UndefinedBehavior::Chainable);
    undefined::add_filter(&mut environment);
    let (text, seen) =
        fill(&environment, &watched.source, context).map_err(|refused| refused.into_fault(template, Some(&watched)))?;
    Ok(Rendered {
        text,
        warnings: watched.warnings(template, &seen),
    })
}

/// What ended the filling: the engine's error, and whether the output's length was its cause.
struct Refused {
    error: Error,
    output_full: bool,
}

impl Refused {
    fn into_fault(self, template: &str, watched: Option<&Instrumented>) -> Fault {
        let original = |offset| watched.map_or(offset, |watched| watched.original_offset(offset));
        let range = self
            .error
            .range()
            .map(|range| original(range.start)..original(range.end));
        let mut fault = Fault::from_engine(&self.error, template, range);
        if self.output_full {
            fault.kind = FaultKind::Output;
            fault.message = Fault::limit(FaultKind::Output).message;
        }
        fault
    }
}

fn fill(environment: &Environment, source: &str, context: Value) -> Result<(String, undefined::Seen), Refused> {
    let mut output = LimitedOutput::default();
    let filled = environment
        .template_from_named_str(NAME, source)
        .and_then(|template| template.render_captured_to(context, &mut output))
        .map(|mut captured| captured.with_state_mut(undefined::seen));
    match filled {
        Ok(seen) => String::from_utf8(output.bytes)
            .map(|text| (text, seen))
            .map_err(|_| Refused {
                error: Error::new(ErrorKind::WriteFailure, "the output is not text"),
                output_full: false,
            }),
        Err(error) => Err(Refused {
            error,
            output_full: output.full,
        }),
    }
}

/// Collects output up to its limit.
#[derive(Default)]
struct LimitedOutput {
    bytes: Vec<u8>,
    full: bool,
}

impl io::Write for LimitedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > LONGEST_OUTPUT {
            self.full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
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
