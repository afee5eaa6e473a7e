//! Settings of the engine, and everything that a template can call.

use std::sync::LazyLock;

use minijinja::{AutoEscape, Environment, UndefinedBehavior};

use crate::{filters, language::translations::Translations};

/// Limit on the engine's steps, about a fifth of a second. The rows of the longest documents need a tenth.
const FUEL: u64 = 10_000_000;

/// Limit on nested blocks and calls while a template is filled. A loop or block counts as 1, the call of a macro as 4, and a
/// partial as 10. It allows for the deepest partials, each used in a loop of a macro. Each call takes some kilobytes of stack.
const DEEPEST_RECURSION: usize = 200;

/// Filters and functions, which are the same for all accounts and contain no account's data.
static COMMON: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    // It prints the whole context.
    environment.remove_global("debug");
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(DEEPEST_RECURSION);
    // Errors have columns only in debug mode.
    environment.set_debug(true);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    minijinja_contrib::add_to_environment(&mut environment);
    filters::add_to(&mut environment);
    environment
});

/// Returns a fresh environment for one template, with the function `t` if there are translations.
pub(super) fn with<'source>(undefined: UndefinedBehavior, translations: Option<&Translations>) -> Environment<'source> {
    let mut environment = COMMON.clone();
    environment.set_undefined_behavior(undefined);
    if let Some(translations) = translations {
        translations.add_to(&mut environment);
    }
    environment
}
