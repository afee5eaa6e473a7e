//! Valid and invalid changes at every place of a document. Those that pass the check are checked by veraPDF.

use super::{FIXTURES, archived, declared_as_2b, edited, examine};
use crate::document::Document;
use crate::object::{Dictionary, Object, Stream};

/// Interval at which passing mutations are sampled: a prime, so that all kinds of places occur.
const STEP: usize = 61;

/// Returns files with one entry or item removed or replaced that pass the check.
pub(super) fn accepted_mutations() -> Vec<Vec<u8>> {
    let mut accepted = Vec::new();
    for (_, fixture) in FIXTURES
        .iter()
        .filter(|(name, _)| matches!(*name, "graphics" | "missing-glyphs" | "links"))
    {
        let archive = declared_as_2b(&archived(fixture));
        let document = Document::open(&[&archive]).expect("an archive");
        for number in 1..document.size() {
            for mutation in mutations(&document.get(number).expect("an object")) {
                let bytes = edited(&archive, |document| document.set(number, mutation));
                if examine(&bytes).is_ok() {
                    accepted.push(bytes);
                }
            }
        }
    }
    accepted.into_iter().step_by(STEP).collect()
}

/// Interval at which changes of tags are tried.
const TAG_STEP: usize = 7;

/// Returns files with one change of an archive that still earn everything that it declares.
pub(super) fn accepted_tags(archive: &[u8]) -> Vec<Vec<u8>> {
    let document = Document::open(&[archive]).expect("an archive");
    let objects = (1..document.size()).map(|number| (number, document.get(number).expect("an object")));
    let mutations = objects.flat_map(|(number, object)| {
        let mutations = mutations(&object);
        mutations.into_iter().map(move |mutation| (number, mutation))
    });
    let mutated = mutations
        .step_by(TAG_STEP)
        .map(|(number, mutation)| edited(archive, |document| document.set(number, mutation.clone())));
    mutated.filter(|bytes| examine(bytes).is_ok()).collect()
}

/// Returns the object with a single change, in every possible way.
fn mutations<'a>(object: &Object<'a>) -> Vec<Object<'a>> {
    match object {
        Object::Dictionary(dictionary) => mutated(dictionary).into_iter().map(Object::Dictionary).collect(),
        Object::Stream(stream) => {
            let with = |dictionary| {
                Object::Stream(Stream {
                    dictionary,
                    data: stream.data.clone(),
                })
            };
            mutated(&stream.dictionary).into_iter().map(with).collect()
        }
        Object::Array(items) => {
            let mut mutations = Vec::new();
            for index in 0..items.len().min(4) {
                let mut fewer = items.clone();
                fewer.remove(index);
                mutations.push(Object::Array(fewer));
                for other in replacements(&items[index]) {
                    let mut changed = items.clone();
                    changed[index] = other;
                    mutations.push(Object::Array(changed));
                }
            }
            mutations
        }
        _ => Vec::new(),
    }
}

fn mutated<'a>(dictionary: &Dictionary<'a>) -> Vec<Dictionary<'a>> {
    let mut mutations = Vec::new();
    for index in 0..dictionary.entries.len() {
        let mut fewer = dictionary.clone();
        fewer.entries.remove(index);
        mutations.push(fewer);
        for other in replacements(&dictionary.entries[index].1) {
            let mut changed = dictionary.clone();
            changed.entries[index].1 = other;
            mutations.push(changed);
        }
    }
    mutations
}

fn replacements<'a>(object: &Object<'a>) -> Vec<Object<'a>> {
    let mut others = vec![
        Object::Null,
        Object::Boolean(true),
        Object::Integer(0),
        Object::Integer(3),
        Object::Integer(-70_000),
        Object::Real(0.5),
        Object::name("Normal"),
        Object::String(b"a".as_slice().into()),
        Object::Array(Vec::new()),
        Object::Dictionary(Dictionary::default()),
        Object::Reference(1),
        Object::Reference(5),
    ];
    others.extend(mutations(object));
    others
}
