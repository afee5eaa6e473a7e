//! Templates that use a partial.

use crate::{ids::TemplateId, template::identity::TemplateKind};

/// Number of users that a sentence names.
const NAMED: usize = 5;

/// A template whose published version uses a partial, directly or through others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialUser {
    pub id: TemplateId,
    /// Name of the published version.
    pub name: String,
    pub kind: TemplateKind,
    /// Number of the published version.
    pub published: i32,
    /// Number of the version of the partial that it uses.
    pub uses: i32,
    /// Whether it uses any partial in an older version than the published one.
    pub outdated: bool,
    /// Whether a newer version than the published one is saved.
    pub has_draft: bool,
}

/// The templates that use a partial.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartialUsers {
    /// The first ones: documents first, those with older versions of partials before others, and in alphabetical order.
    pub listed: Vec<PartialUser>,
    /// Number of all.
    pub count: usize,
}

impl PartialUsers {
    /// Returns the names of the first ones as part of a sentence, such as `Invoice, Letter and 3 more`.
    pub fn names(&self) -> String {
        let names: Vec<_> = self.listed.iter().take(NAMED).map(|user| user.name.as_str()).collect();
        match self.count.saturating_sub(names.len()) {
            0 => names.join(", "),
            more => format!("{} and {more} more", names.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_users_are_named_and_the_others_counted() {
        let user = |name: &str| PartialUser {
            id: TemplateId::generate(),
            name: name.to_owned(),
            kind: TemplateKind::Document,
            published: 1,
            uses: 1,
            outdated: false,
            has_draft: false,
        };
        let users = |names: &[&str], count: usize| PartialUsers {
            listed: names.iter().copied().map(user).collect(),
            count,
        };
        assert_eq!(users(&["Invoice", "Letter"], 2).names(), "Invoice, Letter");
        assert_eq!(
            users(&["a", "b", "c", "d", "e", "f"], 9).names(),
            "a, b, c, d, e and 4 more"
        );
    }
}
