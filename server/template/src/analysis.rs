//! Static analysis: what a template reveals about its context without being filled.
//!
//! Names are followed through attributes, items, loops, `set`, `with`, macros, partials and the filters that pass on their
//! input.
//! Names that cannot be followed, such as a computed key, are omitted from schemas and never reported as unused.

mod schema;
mod shape;
mod unused;
mod walk;

use std::collections::HashMap;

use minijinja::{
    Value,
    machinery::{ast::Stmt, parse},
    syntax::SyntaxConfig,
};

use crate::{analysis::shape::Shapes, diagnostic::Diagnostic, language::NAME, sources::Sources};

/// Returns the JSON schema (draft 2020-12) of the contexts that suit a template, or the template's syntax error.
///
/// A name is required if it is used where an undefined value would be a warning, and is nowhere tested, as by `if` or
/// `default`. Values nested more than 50 levels deep are unrestricted.
pub fn schema<'a>(sources: impl Into<Sources<'a>>) -> Result<serde_json::Value, Diagnostic> {
    Ok(schema::of(&shapes(&sources.into())?))
}

/// Returns the names in a context that a template never uses, such as `customer.fax` or `lines[].sku`, in the context's
/// order, at most 200; or the template's syntax error.
pub fn unused<'a>(sources: impl Into<Sources<'a>>, context: &Value) -> Result<Vec<String>, Diagnostic> {
    Ok(unused::in_context(&shapes(&sources.into())?, context))
}

fn shapes(sources: &Sources<'_>) -> Result<Shapes, Diagnostic> {
    let tree = |name, text| {
        parse(text, name, SyntaxConfig::default()).map_err(|error| Diagnostic::from_engine(&error, sources))
    };
    let mut partials: HashMap<&str, Stmt> = HashMap::with_capacity(sources.partials.len());
    for (handle, text) in &sources.partials {
        partials.insert(handle, tree(handle, text)?);
    }
    Ok(walk::shapes(&tree(NAME, &sources.template)?, &partials))
}

#[cfg(test)]
mod tests;
