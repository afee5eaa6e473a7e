//! Errors in templates, described so that the author can fix them.

use std::{error::Error as _, fmt, ops::Range};

use serde::{Deserialize, Serialize};

use crate::{language::blocks::find_unclosed, sources::Sources};

/// Longest part of a line that an excerpt shows, in characters.
const EXCERPT_CHARACTERS: usize = 120;

/// Longest message that is returned, in characters: a message may quote values of any length.
const MESSAGE_CHARACTERS: usize = 500;

/// How the engine's messages about missing end tags begin.
const END_OF_BLOCK: [&str; 2] = ["unexpected end of input", "unknown statement end"];

/// Why a template could not be parsed or filled. The cause always lies in the template or its context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Diagnostic {
    /// Category of the error.
    pub kind: DiagnosticKind,
    /// One sentence without the place, at most 500 characters.
    pub message: String,
    /// Where in the template or a partial; `None` if a limit ended the process before it could report the place.
    pub place: Option<Place>,
}

/// Categories of template errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DiagnosticKind {
    /// The template cannot be parsed.
    Syntax,
    /// The template is strict and uses an undefined value or a missing text.
    Undefined,
    /// An impossible operation, such as an unknown filter or a sum of words.
    Operation,
    /// The template exceeded the memory limit, [`crate::child::MEMORY`].
    Memory,
    /// The template exceeded the limit on steps, processor time or wall-clock time.
    Time,
    /// The output exceeds [`crate::language::LONGEST_OUTPUT`].
    Output,
    /// Template, catalogues and context together exceed [`crate::pool::LONGEST_INPUT`], or the context is nested more
    /// than about 120 levels deep.
    Input,
}

/// A value or text that is missing where it is used. Filling continued without it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// What is missing.
    pub kind: WarningKind,
    /// Where it is used. Several uses at one place, as in a loop, are one warning.
    pub place: Place,
}

/// What can be missing without an error. It is displayed as a sentence without its end: `a.b is undefined and counts as
/// empty`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// A value is undefined where that matters. It counted as empty.
    Undefined {
        /// The expression as the template writes it: `customer.adress`.
        name: String,
    },
    /// No catalogue has a text. Its key was printed.
    MissingText {
        /// Key of the text, at most 200 characters.
        key: String,
    },
    /// The catalogue of the chosen language lacks a text. That of another language was printed.
    UntranslatedText {
        /// Key of the text.
        key: String,
        /// The chosen language.
        language: String,
        /// The language of the text that was printed.
        used: String,
    },
    /// A text needs an argument that the call doesn't have. Its placeholder was printed, or its plural form `other`.
    MissingArgument {
        /// Key of the text.
        key: String,
        /// Language of the text.
        language: String,
        /// The argument that is missing.
        name: String,
    },
}

impl WarningKind {
    /// Returns what is missing, without what happened instead: the message if it is an error.
    pub(crate) fn problem(&self) -> String {
        match self {
            Self::Undefined { name } => format!("{name} is undefined"),
            Self::MissingText { key } => format!("the text {key:?} is missing"),
            Self::UntranslatedText { key, language, .. } => format!("the text {key:?} is missing in {language}"),
            Self::MissingArgument { key, language, name } => {
                format!("the text {key:?} in {language} needs the argument {name}")
            }
        }
    }
}

impl fmt::Display for WarningKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.problem())?;
        match self {
            Self::Undefined { .. } => formatter.write_str(" and counts as empty"),
            Self::MissingText { .. } => formatter.write_str(", and its key is printed"),
            Self::UntranslatedText { used, .. } => write!(formatter, ", and printed in {used}"),
            Self::MissingArgument { .. } => formatter.write_str(", which is missing"),
        }
    }
}

/// A place in a template, or in a partial that it uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Handle of the partial; `None` for the template itself.
    pub partial: Option<String>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The line, shortened around the column if it is long.
    pub excerpt: String,
}

impl Diagnostic {
    /// Returns the error for an exceeded limit, without a place.
    pub(crate) fn limit(kind: DiagnosticKind) -> Self {
        let message = match kind {
            DiagnosticKind::Memory => "The template exceeded the memory limit.",
            DiagnosticKind::Time => "Filling the template takes longer than the time limit.",
            DiagnosticKind::Output => "The filled template is longer than the limit for output.",
            DiagnosticKind::Input => {
                "The template and its context are too large together, or the context is nested too deeply."
            }
            DiagnosticKind::Syntax | DiagnosticKind::Undefined | DiagnosticKind::Operation => {
                "The template cannot be filled."
            }
        };
        Self {
            kind,
            message: message.to_owned(),
            place: None,
        }
    }

    /// Creates an error with a message of any length.
    pub(crate) fn new(kind: DiagnosticKind, message: &str, place: Option<Place>) -> Self {
        Self {
            kind,
            message: message.chars().take(MESSAGE_CHARACTERS).collect(),
            place,
        }
    }

    /// Converts an error of the engine about these sources.
    pub(crate) fn from_engine(error: &minijinja::Error, sources: &Sources<'_>) -> Self {
        Self::from_changed(error, sources, |_, offset| offset)
    }

    /// Like [`Self::from_engine`], if the engine had other texts. `original` converts an offset in one of them, given by
    /// the handle of its partial, into that in the source.
    pub(crate) fn from_changed(
        error: &minijinja::Error,
        sources: &Sources<'_>,
        original: impl Fn(Option<&str>, usize) -> usize,
    ) -> Self {
        let error = cause(error);
        let partial = error.name().filter(|name| sources.partials.contains_key(*name));
        let range = error.range();
        let range = range.map(|range| original(partial, range.start)..original(partial, range.end));
        Self::at(error, partial, sources.text(partial), range)
    }

    /// Converts an error of the engine. Its place is `range`, in bytes of the text of `partial`, or else the line that
    /// the engine reports.
    pub(crate) fn at(error: &minijinja::Error, partial: Option<&str>, text: &str, range: Option<Range<usize>>) -> Self {
        use minijinja::ErrorKind;
        let kind = match error.kind() {
            ErrorKind::SyntaxError | ErrorKind::BadEscape | ErrorKind::InvalidDelimiter => DiagnosticKind::Syntax,
            ErrorKind::UndefinedError => DiagnosticKind::Undefined,
            ErrorKind::OutOfFuel => DiagnosticKind::Time,
            _ => DiagnosticKind::Operation,
        };
        if kind == DiagnosticKind::Syntax
            && error
                .detail()
                .is_some_and(|detail| END_OF_BLOCK.iter().any(|words| detail.starts_with(words)))
            && let Some(block) = find_unclosed(text)
        {
            let message = format!("{{% {0} %}} is not closed: {{% end{0} %}} is missing", block.keyword);
            return Self::new(kind, &message, Some(Place::at(partial, text, block.offset)));
        }
        let message = match (error.kind(), error.detail()) {
            (ErrorKind::OutOfFuel, _) => Self::limit(kind).message,
            (_, None) => error.kind().to_string(),
            // Its detail says already that a filter, test or function is unknown.
            (ErrorKind::UnknownFilter | ErrorKind::UnknownTest, Some(detail)) => detail.to_owned(),
            (ErrorKind::UnknownFunction, Some(detail)) => format!("function {detail}"),
            (_, Some(detail)) if matches!(kind, DiagnosticKind::Syntax | DiagnosticKind::Undefined) => {
                detail.to_owned()
            }
            (_, Some(detail)) => format!("{}: {detail}", error.kind()),
        };
        let place = match (range, error.line()) {
            (Some(range), _) => Some(Place::at(partial, text, range.start)),
            (None, Some(line)) => Some(Place::at(partial, text, start_of_line(text, line))),
            (None, None) => None,
        };
        Self::new(kind, &message, place)
    }
}

/// Returns the error that happened in a partial or a block, rather than the one that it caused where that is used.
pub(crate) fn cause(error: &minijinja::Error) -> &minijinja::Error {
    let mut cause = error;
    while let minijinja::ErrorKind::BadInclude | minijinja::ErrorKind::EvalBlock = cause.kind()
        && let Some(inner) = cause.source().and_then(|source| source.downcast_ref())
    {
        cause = inner;
    }
    cause
}

impl Place {
    /// Returns the place of the byte at `offset` of a text, or its end if `offset` lies beyond it. `partial` is the handle
    /// of the text, unless it is the template.
    pub(crate) fn at(partial: Option<&str>, text: &str, offset: usize) -> Self {
        let offset = text.floor_char_boundary(offset);
        let (before, after) = text.split_at(offset);
        let line = before.matches('\n').count() + 1;
        let before = before.rsplit('\n').next().unwrap_or_default();
        let after = after.lines().next().unwrap_or_default();
        let column = before.chars().count() + 1;
        // A third of a long line's excerpt shows the text before the place.
        let skipped = if column > EXCERPT_CHARACTERS / 3 && column + after.chars().count() > EXCERPT_CHARACTERS {
            column - EXCERPT_CHARACTERS / 3
        } else {
            0
        };
        let excerpt = before.chars().skip(skipped).chain(after.chars());
        Self {
            partial: partial.map(ToOwned::to_owned),
            line,
            column,
            excerpt: excerpt.take(EXCERPT_CHARACTERS).collect(),
        }
    }
}

fn start_of_line(text: &str, line: usize) -> usize {
    text.split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_characters_and_shows_its_line() {
        let template = "Größe\n  {{ häufig|nope }}\nEnde";
        let place = Place::at(None, template, template.find("nope").unwrap_or_default());
        assert_eq!((place.line, place.column), (2, 13));
        assert_eq!(place.excerpt, "  {{ häufig|nope }}");
    }

    #[test]
    fn a_long_line_is_shortened_around_the_place() {
        let template = format!("{}HERE{}", "ä".repeat(5000), "z".repeat(5000));
        let place = Place::at(None, &template, 10_000);
        assert_eq!(place.column, 5001);
        assert!(place.excerpt.contains("HERE"));
        assert_eq!(place.excerpt.chars().count(), EXCERPT_CHARACTERS);
    }

    #[test]
    fn an_offset_beyond_the_end_is_the_end() {
        assert_eq!(Place::at(None, "ab", 99).column, 3);
    }
}
