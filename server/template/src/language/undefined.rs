//! Finds which names were undefined, and where.
//!
//! The engine can refuse undefined values or accept them silently, but not report them. So each name that the template
//! uses where an undefined value matters is passed to a filter that records the undefined ones: `{{ a.b }}` is filled
//! as `{{ ((a.b)|_use(0)) }}`.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::{Environment, Error, State, Value, machinery::parse, syntax::SyntaxConfig};

use crate::{
    diagnostic::{Place, Warning},
    language::{NAME, uses::Uses},
    sources::Sources,
};

const FILTER: &str = "_use";

/// Limit on warnings; longer lists are not helpful.
const MOST_WARNINGS: usize = 100;

/// Longest name in a warning, in characters.
const LONGEST_NAME: usize = 100;

/// Numbers of the uses whose value was undefined.
pub(super) type Seen = BTreeSet<usize>;

/// Sources in which each use of a name is watched.
pub(super) struct Instrumented {
    pub(super) sources: Sources<'static>,
    /// The uses of all texts, in their order; their numbers are their indices.
    uses: Vec<Use>,
    /// Insertions into each text, by the handle of its partial.
    insertions: BTreeMap<Option<String>, Vec<Insertion>>,
}

/// A use of a name.
struct Use {
    /// Handle of the partial that contains it.
    partial: Option<String>,
    /// Offset in the original, in bytes.
    offset: usize,
    name: String,
}

/// Offset in the original and length of an insertion, in bytes.
type Insertion = (usize, usize);

impl Instrumented {
    /// Instruments a template and its partials, or returns the first syntax error.
    pub(super) fn new(sources: &Sources<'_>) -> Result<Self, Error> {
        let mut instrumented = Self {
            sources: "".into(),
            uses: Vec::new(),
            insertions: BTreeMap::new(),
        };
        for (partial, text) in sources.texts() {
            let watched = instrumented.add(partial, text)?.into();
            match partial {
                Some(handle) => _ = instrumented.sources.partials.insert(handle.to_owned().into(), watched),
                None => instrumented.sources.template = watched,
            }
        }
        Ok(instrumented)
    }

    /// Instruments a text.
    fn add(&mut self, partial: Option<&str>, original: &str) -> Result<String, Error> {
        let partial = partial.map(ToOwned::to_owned);
        let tree = parse(original, partial.as_deref().unwrap_or(NAME), SyntaxConfig::default())?;
        let mut insertions = Vec::new();
        for (start, end) in Uses::of(&tree).names {
            let Some(text) = original.get(start..end).filter(|text| !starts_with_not(text)) else {
                continue;
            };
            insertions.push((start, "((".to_owned()));
            insertions.push((end, format!(")|{FILTER}({}))", self.uses.len())));
            self.uses.push(Use {
                partial: partial.clone(),
                offset: start,
                name: name(text),
            });
        }
        insertions.sort_by_key(|(offset, _)| *offset);
        let mut source = String::with_capacity(original.len() + 16 * insertions.len());
        let mut copied = 0;
        for (offset, text) in &insertions {
            source.push_str(original.get(copied..*offset).unwrap_or_default());
            source.push_str(text);
            copied = *offset;
        }
        source.push_str(original.get(copied..).unwrap_or_default());
        let insertions = insertions.into_iter().map(|(offset, text)| (offset, text.len()));
        self.insertions.insert(partial, insertions.collect());
        Ok(source)
    }

    /// Returns the offset in the original of a byte of the watched text.
    pub(super) fn original_offset(&self, partial: Option<&str>, offset: usize) -> usize {
        let insertions = self.insertions.get(&partial.map(ToOwned::to_owned));
        let mut inserted = 0;
        for (original, length) in insertions.into_iter().flatten() {
            if original + inserted >= offset {
                break;
            }
            inserted += length.min(&(offset - original - inserted));
        }
        offset - inserted
    }

    /// Returns the warnings for the uses whose value was undefined, at most [`MOST_WARNINGS`].
    pub(super) fn warnings(&self, originals: &Sources<'_>, seen: &Seen) -> Vec<Warning> {
        let mut uses: Vec<_> = seen.iter().filter_map(|number| self.uses.get(*number)).collect();
        uses.sort_by_key(|used| (&used.partial, used.offset));
        uses.into_iter()
            .take(MOST_WARNINGS)
            .map(|used| {
                let partial = used.partial.as_deref();
                Warning {
                    name: used.name.clone(),
                    place: Place::at(partial, originals.text(partial), used.offset),
                }
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

/// Tells whether a use starts with the word `not`. The grammar takes it as a name only after an operator (`a ~ not`) and
/// as the operator after a bracket, so such a use is not watched.
fn starts_with_not(text: &str) -> bool {
    text.strip_prefix("not")
        .is_some_and(|rest| !rest.starts_with(|next: char| next == '_' || next.is_alphanumeric()))
}

/// Returns the text of a use as the template's author knows it, with the brackets that [`Uses`] leaves out.
fn name(text: &str) -> String {
    let missing = text.matches(')').count().saturating_sub(text.matches('(').count());
    let name = "(".repeat(missing) + text;
    name.chars().take(LONGEST_NAME).collect()
}
