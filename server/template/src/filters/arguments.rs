//! Arguments that several filters share.

use icu_locale::Locale;
use minijinja::{Error, ErrorKind, State, UndefinedBehavior, Value, value::Kwargs};

const DEFAULT_LOCALE: &str = "en";

/// Returns the locale: the argument `locale`, else the template's or context's variable `locale`, else English.
pub(super) fn locale(state: &State, arguments: &Kwargs) -> Result<Locale, Error> {
    let name = named_or_variable(state, arguments, "locale")?;
    let name = name.as_deref().unwrap_or(DEFAULT_LOCALE);
    // Java and gettext write de_DE.
    Locale::try_from_str(&name.replace('_', "-"))
        .map_err(|_| invalid(format!("{name:?} is not a locale such as de-DE")))
}

/// Returns an argument by name, else the variable of this name.
pub(super) fn named_or_variable(state: &State, arguments: &Kwargs, name: &str) -> Result<Option<String>, Error> {
    if let Some(given) = arguments.get::<Option<String>>(name)? {
        return Ok(Some(given));
    }
    Ok(state
        .lookup(name)
        .and_then(|value| value.as_str().map(ToOwned::to_owned)))
}

/// Returns whether a value is empty, `none` or undefined, so that there is nothing to show. Fails if it is undefined
/// and the template is strict.
pub(crate) fn is_empty(state: &State, value: &Value) -> Result<bool, Error> {
    if value.is_undefined() && state.env().undefined_behavior() == UndefinedBehavior::SemiStrict {
        // Any access raises the engine's own error, which contains the name.
        value.get_attr("")?;
    }
    Ok(value.is_undefined() || value.is_none() || value.as_str() == Some(""))
}

/// Returns the error for a value or argument that a filter cannot use.
pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}
