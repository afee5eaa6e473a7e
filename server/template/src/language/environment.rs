//! The engine's settings and everything that a template can call.

use std::sync::LazyLock;

use minijinja::{AutoEscape, Environment, UndefinedBehavior};

use crate::filters;

/// Steps of the engine, about a fifth of a second of them. The rows of the longest documents need a tenth.
const FUEL: u64 = 10_000_000;

/// Macros within macros. Each level takes some kilobytes of stack.
const DEEPEST_RECURSION: usize = 100;

/// The filters and functions, which are the same for everybody and hold nothing of anybody.
static COMMON: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    // It prints the whole context.
    environment.remove_global("debug");
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(DEEPEST_RECURSION);
    // Errors tell columns only so.
    environment.set_debug(true);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    minijinja_contrib::add_to_environment(&mut environment);
    filters::add_to(&mut environment);
    environment
});

/// A fresh environment for one template.
pub(super) fn with_behavior<'source>(undefined: UndefinedBehavior) -> Environment<'source> {
    let mut environment = COMMON.clone();
    environment.set_undefined_behavior(undefined);
    environment
}
