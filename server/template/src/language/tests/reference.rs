//! The reference of the template editor describes what the engine has, and its examples are true.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Deserialize;

use crate::{
    language::{Undefined, blocks::PAIRED, environment, render, translations::Translations},
    sources::{Catalogue, Sources, Text},
};

const REFERENCE: &str = include_str!("../../../../../frontend/elements/code-editor/reference.json");

/// The partials that examples use.
const PARTIALS: [(&str, &str); 3] = [
    ("footer", "Bye"),
    ("letterhead", "Dear {% block body %}{% endblock %}"),
    ("macros", "{% macro box(text) %}[{{ text }}]{% endmacro %}"),
];

/// Lists of names with their documentation. The members of `loop` have no examples.
#[derive(Deserialize)]
struct Reference {
    filters: BTreeMap<String, Entry>,
    tests: BTreeMap<String, Entry>,
    functions: BTreeMap<String, Entry>,
    tags: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
struct Entry {
    example: String,
    /// What the example prints.
    result: String,
}

/// Returns the texts that examples use.
fn catalogue() -> Catalogue<'static> {
    let pages = [("one", "{count} page"), ("other", "{count} pages")];
    let pages = pages.map(|(form, text)| (form.into(), text.into()));
    Catalogue {
        language: "en".into(),
        texts: BTreeMap::from([("invoice.pages".into(), Text::Plural(pages.into()))]),
    }
}

fn reference() -> Reference {
    serde_json::from_str(REFERENCE).expect("the reference is valid JSON")
}

fn names(entries: &BTreeMap<String, Entry>) -> BTreeSet<String> {
    entries.keys().cloned().collect()
}

/// Returns one of the engine's lists of names. The engine shows them only for debugging.
fn listed(environment: &Environment, list: &str) -> BTreeSet<String> {
    let shown = format!("{environment:?}");
    let (_, list) = shown.split_once(&format!(", {list}: ")).expect("a list of names");
    let mut lists = serde_json::Deserializer::from_str(list).into_iter::<BTreeSet<String>>();
    let names = lists.next().expect("a list").expect("a list of names");
    // Operators are tests as well: `<=`.
    let is_word = |name: &String| name.starts_with(|character: char| character.is_alphabetic());
    names.into_iter().filter(is_word).collect()
}

#[test]
fn the_reference_lists_what_the_engine_has() {
    let environment = environment::with(UndefinedBehavior::SemiStrict, Some(&Translations::default()));
    let reference = reference();
    assert_eq!(names(&reference.filters), listed(&environment, "filters"));
    assert_eq!(names(&reference.tests), listed(&environment, "tests"));
    let functions: BTreeSet<String> = environment.globals().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(names(&reference.functions), functions);
    for tag in PAIRED {
        assert!(reference.tags.contains_key(tag), "{tag} is missing");
    }
}

#[test]
fn every_example_of_the_reference_is_true() {
    let Reference {
        filters,
        tests,
        functions,
        tags,
    } = reference();
    let entries = filters.into_iter().chain(tests).chain(functions).chain(tags);
    let wrong: Vec<String> = entries
        .filter_map(|(name, Entry { example, result })| {
            let sources = Sources::new(&example, PARTIALS).with_catalogues([catalogue()]);
            let printed = match render(sources, Value::from(()), Undefined::Refuse) {
                Ok(rendered) => with_plain_spaces(&rendered.text),
                Err(diagnostic) => diagnostic.message,
            };
            (printed != result).then(|| format!("{name}: {example} prints {printed}, not {result}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn with_plain_spaces(text: &str) -> String {
    let spaced: String = text
        .chars()
        .map(|character| if character.is_whitespace() { ' ' } else { character })
        .collect();
    spaced.trim().to_owned()
}
