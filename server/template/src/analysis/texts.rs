//! Texts that a template prints with the function `t`.

use std::collections::HashMap;

use minijinja::machinery::ast::{Call, CallArg};

/// Maximum number of keys.
const MOST_KEYS: usize = 2000;
/// Maximum number of arguments of a key, more than any text has placeholders.
const MOST_ARGUMENTS: usize = 50;

/// A text that a template prints by a constant key.
pub(super) struct PrintedText<'a> {
    pub(super) key: String,
    /// Names of the arguments of all calls, at most [`MOST_ARGUMENTS`].
    pub(super) arguments: Vec<&'a str>,
    /// Handle of the partial with the first call; `None` for the template itself.
    pub(super) partial: Option<&'a str>,
    /// Place of the first call, in bytes from the start of the text.
    pub(super) offset: usize,
}

/// Collects texts in the order of their first calls, at most [`MOST_KEYS`].
#[derive(Default)]
pub(super) struct Texts<'a> {
    list: Vec<PrintedText<'a>>,
    /// Indices of the list.
    by_key: HashMap<String, usize>,
}

impl<'a> Texts<'a> {
    /// Adds a call in a partial or, without a handle, in the template.
    pub(super) fn add(&mut self, call: &Call<'a>, partial: Option<&'a str>) {
        let Some(CallArg::Pos(key)) = call.args.first() else {
            return;
        };
        let key = key.as_const();
        let Some(key) = key.as_ref().and_then(|key| key.as_str()).filter(|key| !key.is_empty()) else {
            return;
        };
        let index = match self.by_key.get(key) {
            Some(index) => *index,
            None if self.list.len() == MOST_KEYS => return,
            None => {
                self.by_key.insert(key.to_owned(), self.list.len());
                self.list.push(PrintedText {
                    key: key.to_owned(),
                    arguments: Vec::new(),
                    partial,
                    offset: call.expr.span().start_offset as usize,
                });
                self.list.len() - 1
            }
        };
        let Some(PrintedText { arguments, .. }) = self.list.get_mut(index) else {
            return;
        };
        for argument in &call.args {
            if let CallArg::Kwarg(name, _) = argument
                && arguments.len() < MOST_ARGUMENTS
                && !arguments.contains(name)
            {
                arguments.push(name);
            }
        }
    }

    pub(super) fn into_list(self) -> Vec<PrintedText<'a>> {
        self.list
    }
}
