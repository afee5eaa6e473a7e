//! Finds out which names were undefined, and where.
//!
//! The engine can refuse what is undefined or let it pass in silence, but not report it. So each name that the template
//! uses where it matters is handed to a filter that notes the undefined ones: `{{ a.b }}` is filled as
//! `{{ ((a.b)|_use(0)) }}`.

use std::collections::BTreeSet;

use minijinja::{Environment, Error, State, Value, machinery::parse, syntax::SyntaxConfig};

use crate::{
    fault::{Place, Warning},
    language::{NAME, uses::Uses},
};

const FILTER: &str = "_use";

/// More warnings than this help nobody.
const MOST_WARNINGS: usize = 100;

/// The longest name in a warning, in characters.
const LONGEST_NAME: usize = 100;

/// The uses, by number, that met something undefined.
pub(super) type Seen = BTreeSet<usize>;

/// A template in which each use of a name is watched.
pub(super) struct Instrumented {
    pub(super) source: String,
    /// Where each use lies in the original, in bytes, and its text.
    uses: Vec<(usize, String)>,
    /// Where something was inserted, as offset in the original, and how many bytes; in order.
    insertions: Vec<(usize, usize)>,
}

impl Instrumented {
    /// # Errors
    /// Faults of syntax.
    pub(super) fn new(template: &str) -> Result<Self, Error> {
        let tree = parse(template, NAME, SyntaxConfig::default())?;
        let mut uses = Vec::new();
        let mut insertions = Vec::new();
        for (start, end) in Uses::of(&tree).names {
            let Some(text) = template.get(start..end) else {
                continue;
            };
            insertions.push((start, "((".to_owned()));
            insertions.push((end, format!(")|{FILTER}({}))", uses.len())));
            uses.push((start, name(text)));
        }
        insertions.sort_by_key(|(offset, _)| *offset);
        let mut source = String::with_capacity(template.len() + 16 * uses.len());
        let mut copied = 0;
        for (offset, text) in &insertions {
            source.push_str(template.get(copied..*offset).unwrap_or_default());
            source.push_str(text);
            copied = *offset;
        }
        source.push_str(template.get(copied..).unwrap_or_default());
        Ok(Self {
            source,
            uses,
            insertions: insertions
                .into_iter()
                .map(|(offset, text)| (offset, text.len()))
                .collect(),
        })
    }

    /// Where a byte of the watched template lies in the original.
    pub(super) fn original_offset(&self, offset: usize) -> usize {
        let mut inserted = 0;
        for (original, length) in &self.insertions {
            if original + inserted >= offset {
                break;
            }
            inserted += length.min(&(offset - original - inserted));
        }
        offset - inserted
    }

    /// What to report of the uses that met something undefined.
    pub(super) fn warnings(&self, template: &str, seen: &Seen) -> Vec<Warning> {
        let mut uses: Vec<_> = seen.iter().filter_map(|number| self.uses.get(*number)).collect();
        uses.sort();
        uses.into_iter()
            .take(MOST_WARNINGS)
            .map(|(offset, name)| Warning {
                name: name.clone(),
                place: Place::at(template, *offset),
            })
            .collect()
    }
}

/// Adds the filter that notes what is undefined.
pub(super) fn add_filter(environment: &mut Environment) {
    environment.add_filter(FILTER, |state: &mut State, value: Value, number: usize| {
        if value.is_undefined() {
            state.get_or_insert_extension(Seen::new()).insert(number);
        }
        value
    });
}

/// What the filter has noted.
pub(super) fn seen(state: &mut State) -> Seen {
    state
        .get_extension_mut::<Seen>()
        .map(std::mem::take)
        .unwrap_or_default()
}

/// The text of a use as the template's author knows it, with the brackets that [`Uses`] leaves out.
fn name(text: &str) -> String {
    let missing = text.matches(')').count().saturating_sub(text.matches('(').count());
    let name = "(".repeat(missing) + text;
    name.chars().take(LONGEST_NAME).collect()
}
