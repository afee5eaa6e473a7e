//! Checks a document without building values.

use std::{
    borrow::Cow,
    collections::HashSet,
    fmt,
    hash::{BuildHasher, RandomState},
};

use serde::{
    Deserialize,
    de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor},
};

use super::{
    LONGEST_NAME, Layout, MOST_VALUES, Unreadable,
    path::{Path, Region, Step},
};
use crate::validation::{Problem, Problems};

/// Returns the duplicate members of a document, or why it can't be read. `region` is the kind of document.
pub(super) fn scan(text: &[u8], layout: &Layout, region: Region) -> Result<Problems, Unreadable> {
    let mut scan = Scan {
        layout,
        values: 0,
        data_values: 0,
        hasher: RandomState::new(),
        repeated: Problems::default(),
        excess: None,
    };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let node = Node {
        scan: &mut scan,
        path: &Path::Root,
        region,
    };
    let read = node.deserialize(&mut deserializer).and_then(|()| deserializer.end());
    match (scan.excess, read) {
        (Some(problem), _) => Err(Unreadable::Excess(problem)),
        (None, Err(error)) => Err(Unreadable::Malformed(error)),
        (None, Ok(())) => Ok(scan.repeated),
    }
}

struct Scan<'a> {
    layout: &'a Layout,
    values: usize,
    data_values: usize,
    hasher: RandomState,
    repeated: Problems,
    /// The error that stopped the scan.
    excess: Option<Problem>,
}

impl Scan<'_> {
    /// Stops the scan.
    fn stop<E: Error>(&mut self, pointer: String, detail: String) -> E {
        self.excess = Some(Problem {
            pointer,
            title: "Too large".into(),
            detail,
        });
        E::custom("a limit is exceeded")
    }

    /// Counts a value, and stops the scan if there are too many.
    fn count<E: Error>(&mut self, path: &Path<'_>, region: Region) -> Result<(), E> {
        if region == Region::Data {
            self.data_values += 1;
            let most = self.layout.data_values;
            if self.data_values > most {
                let detail = format!(
                    "Data for templates may have at most {most} values in one request, counting arrays, objects and \
                     their contents; aggregate it, or split the document into several requests"
                );
                return Err(self.stop(path.pointer_above(self.layout.data.len()), detail));
            }
        } else {
            self.values += 1;
            if self.values > MOST_VALUES {
                let detail = format!(
                    "A body may have at most {MOST_VALUES} values besides the data for templates; omit members that \
                     the API reference does not list"
                );
                return Err(self.stop(String::new(), detail));
            }
        }
        Ok(())
    }
}

/// A value that is still to be scanned.
struct Node<'s, 'p, 'a> {
    scan: &'s mut Scan<'a>,
    path: &'p Path<'p>,
    region: Region,
}

impl<'a> Node<'_, '_, 'a> {
    fn below<'s, 'p>(&'s mut self, path: &'p Path<'p>) -> Node<'s, 'p, 'a> {
        Node {
            region: self.region.enter(path),
            path,
            scan: self.scan,
        }
    }

    /// Returns the maximum number of items of an array at this path, or `None` if it is not limited.
    fn most_items(&self) -> Option<usize> {
        let (name, most) = self.scan.layout.list?;
        matches!(self.path, Path::Below(Path::Root, Step::Member(member)) if *member == name).then_some(most)
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.scan.count(self.path, self.region)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        let (mut length, parent, most) = (0, self.path, self.most_items());
        while items
            .next_element_seed(self.below(&Path::Below(parent, Step::Item(length))))?
            .is_some()
        {
            length += 1;
            if let Some(most) = most.filter(|most| length > *most) {
                let detail = format!("Must have at most {most} items; split it into several requests");
                return Err(self.scan.stop(parent.pointer(), detail));
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        // Stores hashes, because the names would take several times the memory. In the largest possible object, two
        // names have the same hash by chance in one of forty million bodies. Attackers can't search for such names,
        // because the hasher has a random key.
        let (mut seen, parent) = (HashSet::new(), self.path);
        while let Some(Name(name)) = members.next_key()? {
            if name.len() > LONGEST_NAME {
                let detail = format!(
                    "Property names must have at most {LONGEST_NAME} bytes; one has {}",
                    name.len()
                );
                return Err(self.scan.stop(parent.pointer(), detail));
            }
            let path = Path::Below(parent, Step::Member(&name));
            if !seen.insert(self.scan.hasher.hash_one(&*name)) {
                self.scan.repeated.add_with(|| Problem {
                    pointer: path.pointer(),
                    title: "Duplicate field".into(),
                    detail: "Must be given only once".into(),
                });
            }
            members.next_value_seed(self.below(&path))?;
        }
        Ok(())
    }
}

/// A member's name, copied only if it contains escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);
