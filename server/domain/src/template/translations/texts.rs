//! The texts of a language.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Found, LONGEST_KEY, LONGEST_TEXT, MOST_LEVELS, MOST_TEXTS, Text, Texts};
use crate::validation::{member, quote, schema::type_of};

/// The plural categories of all languages (CLDR).
const CATEGORIES: [&str; 6] = ["zero", "one", "two", "few", "many", OTHER];
/// The category that counts for those that are missing.
const OTHER: &str = "other";
/// The character before an exact number.
const EXACT: char = '=';
/// Maximum number of digits of an exact number.
const MOST_DIGITS: usize = 9;

/// Reads the texts of a language at a JSON pointer, and adds the errors.
pub(super) fn read_texts(members: &Value, pointer: &str, found: &mut Found) -> Texts {
    let mut catalogue = Catalogue {
        found,
        texts: Texts::new(),
        language: pointer,
    };
    match members {
        Value::Object(members) => catalogue.add_group(members, "", pointer, 0),
        other => catalogue.found.add(pointer, || {
            format!("Must be an object of texts by their keys; got {}", type_of(other))
        }),
    }
    catalogue.texts
}

struct Catalogue<'c, 'p> {
    found: &'c mut Found<'p>,
    texts: Texts,
    /// Pointer of the language.
    language: &'c str,
}

impl Catalogue<'_, '_> {
    /// Adds the members of a group, whose key is `prefix`, on a level of groups.
    fn add_group(&mut self, members: &Map<String, Value>, prefix: &str, pointer: &str, level: usize) {
        for (name, value) in members {
            let pointer = &member(pointer, name);
            let key = if prefix.is_empty() {
                name.clone()
            } else {
                format!("{prefix}.{name}")
            };
            let length = key.chars().count();
            if name.is_empty() || length > LONGEST_KEY || name.contains(char::is_control) {
                self.found.add(pointer, || {
                    format!(
                        "Must have a key of 1 to {LONGEST_KEY} characters, none of them control characters; got {} \
                         with {length}",
                        quote(&key)
                    )
                });
                continue;
            }
            match value {
                Value::String(text) => {
                    let text = self.text(text, pointer);
                    self.add(key, Text::Plain(text), pointer);
                }
                Value::Object(members) => match kind_of(members) {
                    Ok(Kind::Plural) => {
                        let forms = self.forms(members, pointer);
                        self.add(key, Text::Plural(forms), pointer);
                    }
                    Ok(Kind::Group) if level < MOST_LEVELS => self.add_group(members, &key, pointer, level + 1),
                    Ok(Kind::Group) => self.found.add(pointer, || {
                        format!(
                            "Must be on one of {MOST_LEVELS} levels of groups; got level {}",
                            level + 1
                        )
                    }),
                    Err(detail) => self.found.add(pointer, || detail),
                },
                other => self.found.add(pointer, || {
                    format!(
                        "Must be a text, plural forms or a group of texts; got {}",
                        type_of(other)
                    )
                }),
            }
        }
    }

    fn add(&mut self, key: String, text: Text, pointer: &str) {
        if self.texts.contains_key(&key) {
            self.found.add(pointer, || {
                format!(
                    "Must have a key that differs from the others; got {} again",
                    quote(&key)
                )
            });
        } else if self.texts.len() == MOST_TEXTS {
            self.found.add(self.language, || {
                format!("Must have at most {MOST_TEXTS} texts; has more")
            });
        } else {
            self.texts.insert(key, text);
        }
    }

    /// Reads plural forms.
    fn forms(&mut self, members: &Map<String, Value>, pointer: &str) -> BTreeMap<String, String> {
        let mut forms = BTreeMap::new();
        for (form, value) in members {
            let pointer = &member(pointer, form);
            if form.strip_prefix(EXACT).is_some_and(|number| !is_exact_number(number)) {
                self.found.add(pointer, || {
                    format!(
                        "Must be named by a plural category or an exact number of at most {MOST_DIGITS} digits, such as =0; got {}",
                        quote(form)
                    )
                });
                continue;
            }
            match value {
                Value::String(text) => _ = forms.insert(form.clone(), self.text(text, pointer)),
                other => self.found.add(pointer, || {
                    format!("Must be a text, as other plural forms are; got {}", type_of(other))
                }),
            }
        }
        forms
    }

    /// Checks a text, and copies it.
    fn text(&mut self, text: &str, pointer: &str) -> String {
        let length = text.chars().count();
        if length > LONGEST_TEXT {
            self.found.add(pointer, || {
                format!("Must have at most {LONGEST_TEXT} characters; has {length}")
            });
        } else if text.contains('\0') {
            self.found
                .add(pointer, || "Must not contain the character U+0000".to_owned());
        } else if let Some(brace) = unmatched_brace(text) {
            self.found.add(pointer, || {
                format!(
                    "Must have braces only around the name of an argument, as in {{name}}, and doubled ones in place of \
                     single ones; got {}",
                    quote(brace)
                )
            });
        }
        text.to_owned()
    }
}

enum Kind {
    Group,
    Plural,
}

/// Tells plural forms from groups, or returns why an object is neither. Groups may have the names of plural categories, but
/// not for texts: these are probably forms.
fn kind_of(members: &Map<String, Value>) -> Result<Kind, String> {
    let is_form = |name: &str| CATEGORIES.contains(&name) || name.starts_with(EXACT);
    let text_of_form = members.iter().find(|(name, value)| is_form(name) && value.is_string());
    let Some((form, _)) = text_of_form else {
        return Ok(Kind::Group);
    };
    if let Some(name) = members.keys().find(|name| !is_form(name)) {
        return Err(format!(
            "Must be either plural forms or a group of texts; got the plural form {} and the key {}",
            quote(form),
            quote(name)
        ));
    }
    match members.get(OTHER) {
        Some(Value::String(_)) => Ok(Kind::Plural),
        _ => Err(format!(
            "Must have the text {OTHER}, which counts for the plural forms that are missing; got only {}",
            members.keys().map(|name| quote(name)).collect::<Vec<_>>().join(", ")
        )),
    }
}

fn is_exact_number(number: &str) -> bool {
    let is_number = (1..=MOST_DIGITS).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number && (number == "0" || !number.starts_with('0'))
}

/// Returns a text from its first brace that neither is doubled nor belongs to a placeholder.
fn unmatched_brace(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let brace = &rest[at..];
        rest = match brace.strip_prefix("{{").or_else(|| brace.strip_prefix("}}")) {
            Some(rest) => rest,
            None => match brace.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
                Some((name, rest)) if is_name(name) => rest,
                _ => return Some(brace),
            },
        };
    }
    None
}

/// Returns whether a template can name an argument like this.
fn is_name(name: &str) -> bool {
    let is_part = |character: char| character == '_' || character.is_alphanumeric();
    name.chars().all(is_part) && name.starts_with(|first: char| is_part(first) && !first.is_numeric())
}
