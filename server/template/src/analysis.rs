//! What a template says about its context without being filled.
//!
//! Names are followed through attributes, items, loops, `set`, `with`, macros and the filters that pass on what they get.
//! What cannot be followed, such as a key that is calculated, is left out of a schema and never reported as unused.

mod schema;
mod shape;
mod unused;
mod walk;

use minijinja::{Value, machinery::parse, syntax::SyntaxConfig};

use crate::{analysis::shape::Shapes, fault::Fault, language::NAME};

/// The JSON schema (draft 2020-12) of the contexts that suit a template.
///
/// A name is required if it is used where something undefined would be a warning, and nowhere asked for, as by `if` or
/// `default`.
///
/// # Errors
/// Faults of syntax.
pub fn schema(template: &str) -> Result<serde_json::Value, Fault> {
    Ok(schema::of(&shapes(template)?))
}

/// The names in a context that a template never uses, such as `customer.fax` or `lines[].sku`, in the context's order.
///
/// # Errors
/// Faults of syntax.
pub fn unused(template: &str, context: &Value) -> Result<Vec<String>, Fault> {
    Ok(unused::in_context(&shapes(template)?, context))
}

fn shapes(template: &str) -> Result<Shapes, Fault> {
    let tree = parse(template, NAME, SyntaxConfig::default())
        .map_err(|error| Fault::from_engine(&error, template, error.range()))?;
    Ok(walk::shapes(&tree))
}

#[cfg(test)]
mod tests;
