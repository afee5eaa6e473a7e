//! The function `t`, which prints texts of catalogues in the chosen language.
//!
//! It exists only if there are catalogues, or if a template calls it that can't be filled without it: names that a
//! template or its context define come first, and templates that use the name for something else stay as they are.

use std::{
    fmt::{self, Write},
    iter,
    sync::Arc,
};

use fixed_decimal::Decimal;
use icu_locale::Locale;
use icu_plurals::PluralCategory;
use minijinja::{
    Environment, Error, ErrorKind, HtmlEscape, State, Value,
    machinery::parse,
    syntax::SyntaxConfig,
    value::{Kwargs, Object, ObjectRepr, from_args},
};

use crate::{
    diagnostic::WarningKind,
    filters::{
        arguments::{invalid, is_empty},
        numbers::{category, count, formatted},
    },
    language::{NAME, undefined::record_text, uses::Uses},
    sources::{Catalogue, Sources, Text},
};

/// Name of the function.
pub(crate) const FUNCTION: &str = "t";
/// Variable that contains the chosen language.
pub(crate) const LANGUAGE: &str = "language";
/// Variable that contains the locale of filters, which is the chosen language as well.
pub(crate) const LOCALE: &str = "locale";
/// The argument that selects plural forms.
const COUNT: &str = "count";
/// The plural form that counts for those that are missing.
const OTHER: &str = "other";
/// How keys of texts that are HTML end.
const HTML_SUFFIX: &str = "_html";
/// Longest key or name in a warning, in characters.
const LONGEST_SHOWN: usize = 200;

/// Catalogues in the order in which they are searched.
#[derive(Clone, Default)]
pub(super) struct Translations(Arc<[Catalogue<'static>]>);

impl Translations {
    /// Takes the catalogues from the sources. Returns `None` if there are none.
    pub(super) fn take_from(sources: &mut Sources<'_>) -> Option<Self> {
        if sources.catalogues.is_empty() {
            return None;
        }
        let catalogues = std::mem::take(&mut sources.catalogues).into_iter();
        Some(Self(catalogues.map(Catalogue::into_owned).collect()))
    }

    /// Adds the function and the variables.
    pub(super) fn add_to(&self, environment: &mut Environment) {
        let translator = Translator {
            translations: self.clone(),
            number: None,
        };
        environment.add_global(FUNCTION, Value::from_object(translator));
        if let Some(chosen) = self.0.first() {
            environment.add_global(LANGUAGE, chosen.language.as_ref());
            if Locale::try_from_str(&chosen.language).is_ok() {
                environment.add_global(LOCALE, chosen.language.as_ref());
            }
        }
    }
}

/// Returns whether a text calls the function, or one of its own by this name.
pub(super) fn are_used_by(sources: &Sources<'_>) -> bool {
    sources.texts().any(|(partial, text)| {
        parse(text, partial.unwrap_or(NAME), SyntaxConfig::default())
            .is_ok_and(|tree| !Uses::of(&tree).translators.is_empty())
    })
}

/// Binds the function, if a value is that, to the use with this number.
pub(super) fn bound_to(value: Value, number: usize) -> Value {
    match value.downcast_object_ref::<Translator>() {
        Some(translator) => Value::from_object(Translator {
            translations: translator.translations.clone(),
            number: Some(number),
        }),
        None => value,
    }
}

/// The function.
struct Translator {
    translations: Translations,
    /// Number of the use at which problems are recorded. Without one, they are errors.
    number: Option<usize>,
}

impl fmt::Debug for Translator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(FUNCTION)
    }
}

impl Object for Translator {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, arguments: &[Value]) -> Result<Value, Error> {
        let (key, arguments): (&Value, Kwargs) = from_args(arguments)?;
        if is_empty(state, key)? {
            return Ok(Value::from(""));
        }
        let Some(key) = key.as_str() else {
            return Err(invalid(format!("a key is a text such as 'total', not {}", key.kind())));
        };
        let Some((catalogue, text)) = self.find(key) else {
            self.report(state, || WarningKind::MissingText { key: shortened(key) })?;
            return Ok(Value::from(key));
        };
        let language = &catalogue.language;
        if let Some(chosen) = self.translations.0.first()
            && !is_variant(&chosen.language, language)
        {
            self.report(state, || WarningKind::UntranslatedText {
                key: shortened(key),
                language: chosen.language.to_string(),
                used: language.to_string(),
            })?;
        }
        let call = Call {
            key,
            language,
            arguments: &arguments,
            is_html: key.ends_with(HTML_SUFFIX),
        };
        let text = self.fill(state, &call, text)?;
        Ok(if call.is_html {
            Value::from_safe_string(text)
        } else {
            Value::from(text)
        })
    }
}

/// A call for a text that has been found.
struct Call<'c> {
    key: &'c str,
    /// Language of the text.
    language: &'c str,
    arguments: &'c Kwargs,
    /// Whether the text is HTML, in which arguments are escaped.
    is_html: bool,
}

impl Call<'_> {
    /// Returns an argument, if it is given.
    fn argument(&self, name: &str) -> Result<Option<Value>, Error> {
        self.arguments.has(name).then(|| self.arguments.peek(name)).transpose()
    }

    /// Returns the argument `count`; `None` if it is missing or empty.
    fn count(&self, state: &State) -> Result<Option<Decimal>, Error> {
        match self.argument(COUNT)? {
            Some(value) => count(state, &value),
            None => Ok(None),
        }
    }

    /// Returns the locale of the text. A tag without one has the rules of no language.
    fn locale(&self) -> Locale {
        Locale::try_from_str(self.language).unwrap_or(Locale::UNKNOWN)
    }
}

impl Translator {
    fn find(&self, key: &str) -> Option<(&Catalogue<'static>, &Text<'static>)> {
        let mut catalogues = self.translations.0.iter();
        catalogues.find_map(|catalogue| Some((catalogue, catalogue.texts.get(key)?)))
    }

    /// Records a problem, or returns it as an error.
    fn report(&self, state: &mut State, problem: impl FnOnce() -> WarningKind) -> Result<(), Error> {
        let Some(number) = self.number else {
            return Err(Error::new(ErrorKind::UndefinedError, problem().problem()));
        };
        record_text(state, number, problem());
        Ok(())
    }

    fn report_missing_argument(&self, state: &mut State, call: &Call, name: &str) -> Result<(), Error> {
        self.report(state, || WarningKind::MissingArgument {
            key: shortened(call.key),
            language: call.language.to_owned(),
            name: shortened(name),
        })
    }

    /// Returns a text with its placeholders replaced.
    fn fill(&self, state: &mut State, call: &Call, text: &Text) -> Result<String, Error> {
        let text = match text {
            Text::Plain(text) => text.as_ref(),
            Text::Plural(forms) => {
                if !call.arguments.has(COUNT) {
                    self.report_missing_argument(state, call, COUNT)?;
                }
                let form = |name: &str| forms.get(name).map(AsRef::as_ref);
                let selected = match call.count(state)? {
                    Some(number) => match form(&format!("={number}")) {
                        Some(exact) => Some(exact),
                        None => form(name(category(&number, call.locale())?)),
                    },
                    None => None,
                };
                selected.or_else(|| form(OTHER)).unwrap_or_default()
            }
        };
        let mut filled = String::with_capacity(text.len());
        for piece in pieces(text) {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Placeholder(COUNT) if call.arguments.has(COUNT) => {
                    if let Some(number) = call.count(state)? {
                        filled.push_str(&formatted(&number, call.locale())?);
                    }
                }
                Piece::Placeholder(name) => {
                    if let Some(value) = call.argument(name)? {
                        print(state, &mut filled, &value, call.is_html)?;
                    } else {
                        self.report_missing_argument(state, call, name)?;
                        write!(filled, "{{{name}}}")?;
                    }
                }
            }
        }
        Ok(filled)
    }
}

/// Prints a value as the engine does.
fn print(state: &State, output: &mut String, value: &Value, escaped: bool) -> Result<(), Error> {
    // Fails if it is undefined and the template is strict.
    is_empty(state, value)?;
    if escaped && !value.is_safe() {
        write!(output, "{}", HtmlEscape(&value.to_string()))?;
    } else {
        write!(output, "{value}")?;
    }
    Ok(())
}

/// Part of a text.
enum Piece<'t> {
    Text(&'t str),
    /// The name between braces.
    Placeholder(&'t str),
}

/// Splits a text at its placeholders. Doubled braces are single ones in the result; braces without a partner stay.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, length) = match rest.find(['{', '}']).unwrap_or(rest.len()) {
            0 if rest.starts_with("{{") || rest.starts_with("}}") => (Piece::Text(&rest[..1]), 2),
            0 => match rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
                Some((name, _)) => (Piece::Placeholder(name), name.len() + 2),
                None => (Piece::Text(&rest[..1]), 1),
            },
            length => (Piece::Text(&rest[..length]), length),
        };
        rest = &rest[length..];
        Some(piece)
    })
}

/// Returns whether the first language is the other one or a variant of it, as `de-AT` is of `de`, so that texts of the
/// other one need no translation.
fn is_variant(language: &str, of: &str) -> bool {
    let begins = language
        .get(..of.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(of));
    begins && language[of.len()..].chars().next().is_none_or(|next| next == '-')
}

/// Returns the name of a plural category in catalogues.
fn name(category: PluralCategory) -> &'static str {
    match category {
        PluralCategory::Zero => "zero",
        PluralCategory::One => "one",
        PluralCategory::Two => "two",
        PluralCategory::Few => "few",
        PluralCategory::Many => "many",
        PluralCategory::Other => OTHER,
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(LONGEST_SHOWN).collect()
}
