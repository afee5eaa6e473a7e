//! Finds which names were undefined, and where.
//!
//! The engine can refuse undefined values or accept them silently, but not report them. So each name that the template
//! uses where an undefined value matters is passed to a filter that records the undefined ones: `{{ a.b }}` is filled
//! as `{{ ((a.b)|_use(0)) }}`. In the same way, a filter tells the function `t` its place, at which it records problems of
//! texts: `{{ t('key') }}` is filled as `{{ ((t)|_at(1))('key') }}`.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::{Environment, Error, State, Value, machinery::parse, syntax::SyntaxConfig};

use crate::{
    diagnostic::{Place, Warning, WarningKind},
    language::{NAME, translations, uses::Uses},
    sources::Sources,
};

/// The filter that records undefined values.
const USE: &str = "_use";
/// The filter that binds the function `t` to its place.
const PLACE: &str = "_at";

/// Limit on warnings; longer lists are not helpful.
const MOST_WARNINGS: usize = 100;

/// Longest name in a warning, in characters.
const LONGEST_NAME: usize = 100;

/// What is missing, by the number of the use.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Uses whose value was undefined.
    undefined: BTreeSet<usize>,
    /// Problems of texts, at most [`MOST_WARNINGS`].
    texts: BTreeSet<(usize, WarningKind)>,
}

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
    /// Instruments a template and its partials, or returns the first syntax error. `translates` tells whether the
    /// function `t` exists.
    pub(super) fn new(sources: &Sources<'_>, translates: bool) -> Result<Self, Error> {
        let mut instrumented = Self {
            sources: "".into(),
            uses: Vec::new(),
            insertions: BTreeMap::new(),
        };
        for (partial, text) in sources.texts() {
            let watched = instrumented.add(partial, text, translates)?.into();
            match partial {
                Some(handle) => _ = instrumented.sources.partials.insert(handle.to_owned().into(), watched),
                None => instrumented.sources.template = watched,
            }
        }
        Ok(instrumented)
    }

    /// Instruments a text.
    fn add(&mut self, partial: Option<&str>, original: &str, translates: bool) -> Result<String, Error> {
        let partial = partial.map(ToOwned::to_owned);
        let tree = parse(original, partial.as_deref().unwrap_or(NAME), SyntaxConfig::default())?;
        let mut insertions = Vec::new();
        let Uses { names, translators, .. } = Uses::of(&tree);
        let names = names.into_iter().map(|range| (range, USE));
        let translators = translators.into_iter().filter(|_| translates);
        let translators = translators.map(|range| (range, PLACE));
        for ((start, end), filter) in names.chain(translators) {
            let Some(text) = original.get(start..end).filter(|text| !starts_with_not(text)) else {
                continue;
            };
            insertions.push((start, "((".to_owned()));
            insertions.push((end, format!(")|{filter}({}))", self.uses.len())));
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

    /// Returns the warnings about what is missing, in the order of the texts, at most [`MOST_WARNINGS`].
    pub(super) fn warnings(&self, originals: &Sources<'_>, seen: Seen) -> Vec<Warning> {
        let used = |number: usize| self.uses.get(number);
        let undefined = seen.undefined.into_iter().filter_map(used).map(|used| {
            let name = used.name.clone();
            (used, WarningKind::Undefined { name })
        });
        let texts = seen.texts.into_iter();
        let texts = texts.filter_map(|(number, kind)| Some((used(number)?, kind)));
        let mut found: Vec<_> = undefined.chain(texts).collect();
        found.sort_by_key(|(used, _)| (&used.partial, used.offset));
        let found = found.into_iter().take(MOST_WARNINGS);
        let warnings = found.map(|(used, kind)| {
            let partial = used.partial.as_deref();
            let place = Place::at(partial, originals.text(partial), used.offset);
            Warning { kind, place }
        });
        warnings.collect()
    }
}

/// Adds the filters that watch uses.
pub(super) fn add_filters(environment: &mut Environment) {
    environment.add_filter(USE, |state: &mut State, value: Value, number: usize| {
        if value.is_undefined() {
            seen_so_far(state).undefined.insert(number);
        }
        value
    });
    environment.add_filter(PLACE, translations::bound_to);
}

/// Records a problem of a text at a use.
pub(super) fn record_text(state: &mut State, number: usize, problem: WarningKind) {
    let seen = seen_so_far(state);
    if seen.texts.len() < MOST_WARNINGS {
        seen.texts.insert((number, problem));
    }
}

fn seen_so_far<'s>(state: &'s mut State) -> &'s mut Seen {
    state.get_or_insert_extension_with(Seen::default)
}

/// Takes what has been recorded.
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
