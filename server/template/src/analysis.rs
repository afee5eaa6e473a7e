//! Static analysis: what a template reveals about its context without being filled.
//!
//! Names are followed through attributes, items, loops, `set`, `with`, macros, partials and the filters that pass on their
//! input.
//! Names that cannot be followed, such as a computed key, are omitted from schemas and never reported as unused.

mod schema;
mod shape;
mod texts;
mod unused;
mod walk;

use std::collections::HashMap;

use minijinja::{
    Value,
    machinery::{ast::Stmt, parse},
    syntax::SyntaxConfig,
};

use serde::{Deserialize, Serialize};

use crate::{
    analysis::walk::Walked,
    diagnostic::{Diagnostic, Place},
    language::{
        NAME,
        translations::{FUNCTION, LANGUAGE, LOCALE},
    },
    sources::Sources,
};

/// A text that a template prints with the function `t`, by a constant key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranslationKey {
    /// The key.
    pub key: String,
    /// Names of the arguments of all calls, in the order in which they are used first; at most 50.
    pub arguments: Vec<String>,
    /// Where the text is printed first.
    pub place: Place,
}

/// Returns the JSON schema (draft 2020-12) of the contexts that suit a template, or the template's syntax error.
///
/// A name is required if it is used where an undefined value would be a warning, and is nowhere tested, as by `if` or
/// `default`. Values nested more than 50 levels deep are unrestricted. With catalogues, their function and the variable
/// `language` are no names of the context.
pub fn schema<'a>(sources: impl Into<Sources<'a>>) -> Result<serde_json::Value, Diagnostic> {
    let sources = sources.into();
    walked(&sources, |Walked { mut shapes, .. }| {
        if !sources.catalogues.is_empty() {
            shapes.forget(&[FUNCTION, LANGUAGE]);
            shapes.make_optional(LOCALE);
        }
        schema::of(&shapes)
    })
}

/// Returns the names in a context that a template never uses, such as `customer.fax` or `lines[].sku`, in the context's
/// order, at most 200; or the template's syntax error.
pub fn unused<'a>(sources: impl Into<Sources<'a>>, context: &Value) -> Result<Vec<String>, Diagnostic> {
    walked(&sources.into(), |Walked { shapes, .. }| {
        unused::in_context(&shapes, context)
    })
}

/// Returns the texts that a template and its partials print by constant keys, in the order in which they are used, at most
/// 2,000; or the template's syntax error. Calls of a function `t` that the template defines don't count.
pub fn translation_keys<'a>(sources: impl Into<Sources<'a>>) -> Result<Vec<TranslationKey>, Diagnostic> {
    let sources = sources.into();
    walked(&sources, |Walked { texts, .. }| {
        let keys = texts.into_iter().map(|text| TranslationKey {
            key: text.key,
            arguments: text.arguments.into_iter().map(ToOwned::to_owned).collect(),
            place: Place::at(text.partial, sources.text(text.partial), text.offset),
        });
        keys.collect()
    })
}

/// Walks a template, and returns what is made of what that has found.
fn walked<T>(sources: &Sources<'_>, result: impl FnOnce(Walked<'_>) -> T) -> Result<T, Diagnostic> {
    let tree = |name, text| {
        parse(text, name, SyntaxConfig::default()).map_err(|error| Diagnostic::from_engine(&error, sources))
    };
    let mut partials: HashMap<&str, Stmt> = HashMap::with_capacity(sources.partials.len());
    for (handle, text) in &sources.partials {
        partials.insert(handle, tree(handle, text)?);
    }
    let template = tree(NAME, &sources.template)?;
    Ok(result(walk::walk(&template, &partials)))
}

#[cfg(test)]
mod tests;
