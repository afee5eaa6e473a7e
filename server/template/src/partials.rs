//! Finds the partials that a template names, and bounds how they use each other.
//!
//! Partials are named by constant texts only, so that a service can find them without filling the template.

use std::collections::HashMap;

use minijinja::{machinery::parse, syntax::SyntaxConfig};
use serde::{Deserialize, Serialize};

use crate::{
    diagnostic::{Diagnostic, DiagnosticKind, Place},
    language::{
        NAME,
        uses::{Reference, Uses},
    },
    sources::Sources,
};

/// Maximum number of partials that a template uses, directly or through others.
pub const MOST_PARTIALS: usize = 50;
/// Maximum number of levels of partials that use each other.
pub const MOST_LEVELS: usize = 8;

/// A partial that is named but not among the sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Handle of the partial.
    pub handle: String,
    /// Where it is named first.
    pub place: Place,
    /// Whether the template can be filled without it: it is named only with `ignore missing`.
    pub optional: bool,
}

/// Returns the partials that the sources name but don't contain, at most [`MOST_PARTIALS`]; none once the sources are
/// complete. `own` is the handle of the template, if it is a partial itself.
///
/// Fails if a text has a syntax error or names a partial by anything but a constant text, if partials use each other
/// in a cycle or on more than [`MOST_LEVELS`] levels, and if there are more than [`MOST_PARTIALS`].
pub fn missing(sources: &Sources<'_>, own: Option<&str>) -> Result<Vec<Missing>, Diagnostic> {
    let mut search = Search {
        sources,
        chain: own.into_iter().collect(),
        top: own.map_or(0, |_| 1),
        levels: HashMap::new(),
        missing: Vec::new(),
        named: 0,
    };
    search.levels_below(None)?;
    Ok(search.missing)
}

/// Returns the name by which a reference names a partial, or the reason why it is invalid.
pub(crate) fn name_of(reference: &Reference) -> Result<&str, &'static str> {
    reference.name.as_deref().ok_or(
        "a partial is named by a constant text, such as \"footer\", so that it can be found before the template is filled",
    )
}

struct Search<'s> {
    sources: &'s Sources<'s>,
    /// Handles of the partials that are being searched, each used by the one before. It begins with the template's own
    /// handle, if it has one.
    chain: Vec<&'s str>,
    /// Number of handles in the chain that are the template's own.
    top: usize,
    /// Number of levels below each partial that has been searched.
    levels: HashMap<&'s str, usize>,
    missing: Vec<Missing>,
    /// Number of partials that are named, missing or not.
    named: usize,
}

impl<'s> Search<'s> {
    /// Searches a partial or, without a handle, the template. Returns the number of levels of partials that it uses.
    fn levels_below(&mut self, partial: Option<&'s str>) -> Result<usize, Diagnostic> {
        let text = self.sources.text(partial);
        let tree = parse(text, partial.unwrap_or(NAME), SyntaxConfig::default())
            .map_err(|error| Diagnostic::from_engine(&error, self.sources))?;
        let mut levels = 0;
        for reference in Uses::of(&tree).partials {
            let place = || Place::at(partial, text, reference.range.start);
            let refused = |message: String| Diagnostic::new(DiagnosticKind::Operation, &message, Some(place()));
            let handle = name_of(&reference).map_err(|reason| refused(reason.to_owned()))?;
            if let Some(start) = self.chain.iter().position(|used| *used == handle) {
                let cycle = self.chain[start..].join(" → ");
                return Err(refused(format!(
                    "partials use each other in a cycle: {cycle} → {handle}"
                )));
            }
            let level = self.chain.len() - self.top + 1;
            let below = match (self.levels.get(handle), self.sources.partials.get_key_value(handle)) {
                (Some(below), _) => *below,
                (None, Some((handle, _))) if level <= MOST_LEVELS => {
                    self.count(handle).map_err(refused)?;
                    self.chain.push(handle);
                    let below = self.levels_below(Some(handle))?;
                    self.chain.pop();
                    self.levels.insert(handle, below);
                    below
                }
                (None, Some(_)) => 0,
                (None, None) => {
                    self.note_missing(handle, &reference, place()).map_err(refused)?;
                    0
                }
            };
            if level + below > MOST_LEVELS {
                let chain = [&self.chain[self.top..], &[handle]].concat().join(" → ");
                return Err(refused(format!(
                    "partials can use each other on up to {MOST_LEVELS} levels; {chain} has {}",
                    level + below
                )));
            }
            levels = levels.max(1 + below);
        }
        Ok(levels)
    }

    fn note_missing(&mut self, handle: &str, reference: &Reference, place: Place) -> Result<(), String> {
        if let Some(known) = self.missing.iter_mut().find(|missing| missing.handle == handle) {
            known.optional &= reference.optional;
            return Ok(());
        }
        self.count(handle)?;
        self.missing.push(Missing {
            handle: handle.to_owned(),
            place,
            optional: reference.optional,
        });
        Ok(())
    }

    /// Counts a partial that is named for the first time.
    fn count(&mut self, handle: &str) -> Result<(), String> {
        if self.named == MOST_PARTIALS {
            return Err(format!(
                "a template can use up to {MOST_PARTIALS} partials, directly and through others; {handle} is one more"
            ));
        }
        self.named += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(template: &str, partials: &[(&str, &str)]) -> Sources<'static> {
        let partials = partials.iter();
        let partials = partials.map(|(handle, text)| ((*handle).to_owned(), (*text).to_owned()));
        Sources::new(template.to_owned(), partials)
    }

    /// Returns the missing partials as `handle@partial:line:column`.
    fn found(template: &str, partials: &[(&str, &str)]) -> Vec<String> {
        let found = missing(&sources(template, partials), None).unwrap_or_else(|diagnostic| panic!("{diagnostic:?}"));
        let described = found.into_iter().map(|missing| {
            let Place {
                partial, line, column, ..
            } = missing.place;
            format!("{}@{}:{line}:{column}", missing.handle, partial.unwrap_or_default())
        });
        described.collect()
    }

    /// Returns the error with its place as `partial:line:column`.
    fn refused(sources: &Sources<'_>, own: Option<&str>) -> (String, String) {
        let diagnostic = missing(sources, own).expect_err("sources are refused");
        let Place {
            partial, line, column, ..
        } = diagnostic.place.expect("a place");
        (
            diagnostic.message,
            format!("{}:{line}:{column}", partial.unwrap_or_default()),
        )
    }

    #[test]
    fn all_tags_name_partials_which_are_searched_in_turn() {
        let template = "{% extends 'letterhead' %}\n{% import \"macros\" as m %}{% from 'macros' import price %}\n\
                        {% block body %}{% if false %}{% include 'terms' %}{% endif %}{% endblock %}";
        assert_eq!(
            found(template, &[]),
            ["letterhead@:1:12", "macros@:2:11", "terms@:3:42"]
        );
        let partials = [
            ("letterhead", "\n{% include 'logo' %}"),
            ("terms", ""),
            ("unused", "{% include 'x' %}"),
        ];
        assert_eq!(found(template, &partials), ["logo@letterhead:2:12", "macros@:2:11"]);
        assert_eq!(
            found("{% raw %}{% include 'a' %}{% endraw %}{# {% include 'a' %} #}", &[]),
            [""; 0]
        );
    }

    #[test]
    fn a_partial_is_optional_only_if_it_is_so_wherever_it_is_named() {
        let optional = |template: &str| missing(&template.into(), None).map(|missing| missing[0].optional);
        assert_eq!(optional("{% include 'a' ignore missing %}"), Ok(true));
        assert_eq!(optional("{% include 'a' ignore missing %}{% include 'a' %}"), Ok(false));
    }

    #[test]
    fn partials_are_named_by_constant_texts() {
        for (template, reason) in [
            ("{% include name %}", "constant text"),
            ("{% include 'a' if b else 'c' %}", "constant text"),
            ("{% include ['a', 'b'] %}", "constant text"),
            ("{% extends a.b %}", "constant text"),
            ("{% import 7 as a %}", "constant text"),
        ] {
            let (message, place) = refused(&template.into(), None);
            assert!(message.contains(reason), "{template}: {message}");
            assert!(place.starts_with(":1:1"), "{template}: {place}");
            let checked = crate::language::check(template).map_err(|diagnostic| diagnostic.message);
            assert_eq!(checked, Err(message));
        }
        let partial = sources("{% include 'a' %}", &[("a", "\n{% include b %}")]);
        assert_eq!(refused(&partial, None).1, "a:2:12");
    }

    #[test]
    fn cycles_are_refused_with_their_chain() {
        let cycle = [("a", "{% include 'b' %}"), ("b", "x\n{% include 'a' %}")];
        let (message, place) = refused(&sources("{% include 'a' %}", &cycle), None);
        assert_eq!(message, "partials use each other in a cycle: a → b → a");
        assert_eq!(place, "b:2:12");
        // The text of the partial `a` itself.
        let (message, _) = refused(&sources("{% include 'b' %}", &cycle[1..]), Some("a"));
        assert_eq!(message, "partials use each other in a cycle: a → b → a");
    }

    #[test]
    fn levels_are_limited_on_every_path() {
        let chain = |length: usize| -> Vec<(String, String)> {
            let partials = (1..=length).map(|level| {
                let next = if level < length {
                    format!("{{% include 'p{}' %}}", level + 1)
                } else {
                    String::new()
                };
                (format!("p{level}"), next)
            });
            partials.collect()
        };
        let with = |template: &str, length: usize| {
            let chain = chain(length);
            let chain: Vec<_> = chain
                .iter()
                .map(|(handle, text)| (handle.as_str(), text.as_str()))
                .collect();
            sources(template, &chain)
        };
        assert_eq!(missing(&with("{% include 'p1' %}", 8), None), Ok(Vec::new()));
        let (message, _) = refused(&with("{% include 'p1' %}", 9), None);
        assert!(
            message.contains("up to 8 levels; p1 → p2 → ") && message.ends_with(" has 9"),
            "{message}"
        );
        // A partial that is known already, on a longer path.
        let mut longer = with("{% include 'p1' %}{% include 'top' %}", 8);
        longer.partials.insert("top".into(), "{% include 'p1' %}".into());
        assert_eq!(
            refused(&longer, None).0,
            "partials can use each other on up to 8 levels; top → p1 has 9"
        );
        assert_eq!(missing(&with("{% include 'p1' %}", 8), Some("own")), Ok(Vec::new()));
    }

    #[test]
    fn partials_are_counted() {
        let named = |count: usize| (0..count).map(|n| format!("{{% include 'p{n}' %}}"));
        let template = |count: usize| named(count).collect::<Vec<_>>().concat();
        assert_eq!(found(&template(50), &[]).len(), 50);
        assert_eq!(found(&template(2).repeat(60), &[]).len(), 2);
        let all_present = Sources::new(template(51), (0..51).map(|n| (format!("p{n}"), "")));
        let (message, _) = refused(&template(51).as_str().into(), None);
        assert!(
            message.contains("up to 50 partials") && message.ends_with("p50 is one more"),
            "{message}"
        );
        let (message, _) = refused(&all_present, None);
        assert!(message.ends_with("p50 is one more"), "{message}");
        let unused = Sources::new("{% include 'a' %}", (0..50).map(|n| (format!("p{n}"), "")));
        assert_eq!(missing(&unused, None).map(|missing| missing.len()), Ok(1));
    }

    #[test]
    fn partials_that_use_others_many_times_are_searched_once() {
        let mut partials: Vec<(String, String)> = (1..8)
            .map(|level| {
                (
                    format!("p{level}"),
                    format!("{{% include 'p{}' %}}", level + 1).repeat(1000),
                )
            })
            .collect();
        partials.push(("p8".to_owned(), String::new()));
        let partials: Vec<_> = partials
            .iter()
            .map(|(handle, text)| (handle.as_str(), text.as_str()))
            .collect();
        assert_eq!(found("{% include 'p1' %}", &partials), [""; 0]);
    }
}
