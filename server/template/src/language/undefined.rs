//! Finds which names were undefined, and where.
//!
//! The engine can refuse undefined values or accept them silently, but not report them. So each name that the template
//! uses where an undefined value matters is passed to a filter that records the undefined ones: `{{ a.b }}` is filled
//! as `{{ ((a.b)|_use(0)) }}`.

use std::collections::BTreeSet;

use minijinja::{Environment, Error, State, Value, machinery::parse, syntax::SyntaxConfig};

use crate::{
    diagnostic::{Place, Warning},
    language::{NAME, uses::Uses},
};

const FILTER: &str = "_use";

/// Limit on warnings; longer lists are not helpful.
const MOST_WARNINGS: usize = 100;

/// Longest name in a warning, in characters.
const LONGEST_NAME: usize = 100;

/// Numbers of the uses whose value was undefined.
pub(super) type Seen = BTreeSet<usize>;

/// A template in which each use of a name is watched.
pub(super) struct Instrumented {
    pub(super) source: String,
    /// Offset of each use in the original, in bytes, and its text.
    uses: Vec<(usize, String)>,
    /// Offset in the original and length of each insertion, in bytes and in order.
    insertions: Vec<(usize, usize)>,
}

impl Instrumented {
    /// Instruments a template, or returns its syntax error.
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

    /// Returns the offset in the original of a byte of the watched template.
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

    /// Returns the warnings for the uses whose value was undefined, at most [`MOST_WARNINGS`].
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

/// Adds the filter that records undefined values.
pub(super) fn add_filter(environment: &mut Environment) {
    environment.add_filter(FILTER, |state: &mut State, value: Value, number: usize| {
        if value.is_undefined() {
            state.get_or_insert_extension(Seen::new()).insert(number);
        }
        value
    });
}

/// Takes the uses that the filter has recorded.
pub(super) fn seen(state: &mut State) -> Seen {
    state
        .get_extension_mut::<Seen>()
        .map(std::mem::take)
        .unwrap_or_default()
}

/// Returns the text of a use as the template's author knows it, with the brackets that [`Uses`] leaves out.
fn name(text: &str) -> String {
    let missing = text.matches(')').count().saturating_sub(text.matches('(').count());
    let name = "(".repeat(missing) + text;
    name.chars().take(LONGEST_NAME).collect()
}
