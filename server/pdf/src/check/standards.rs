//! The standards that a file can earn, and the declaration of several.

use std::fmt;

/// A standard that a file conforms to, as far as a machine can check. Ordered as they are declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Conformance {
    /// ISO 19005-2, level B: the file looks the same everywhere and forever.
    PdfA2b,
    /// ISO 19005-2, level U: all text can also be extracted.
    PdfA2u,
    /// ISO 19005-2, level A: the structure is tagged as well.
    PdfA2a,
    /// ISO 14289-1: accessible to assistive technology.
    PdfUa1,
}

impl Conformance {
    /// Returns the common name of the standard, such as `PDF/A-2b`.
    pub fn name(self) -> &'static str {
        match self {
            Self::PdfA2b => "PDF/A-2b",
            Self::PdfA2u => "PDF/A-2u",
            Self::PdfA2a => "PDF/A-2a",
            Self::PdfUa1 => "PDF/UA-1",
        }
    }

    /// Returns the names of several standards, separated by a comma and a space.
    pub fn list(standards: &[Self]) -> String {
        let names: Vec<&str> = standards.iter().map(|standard| standard.name()).collect();
        names.join(", ")
    }

    /// Returns whether a file that conforms to `standards` also conforms to this one. The levels of PDF/A contain each
    /// other.
    pub(super) fn is_among(self, standards: &[Self]) -> bool {
        standards.iter().any(|standard| match standard {
            Self::PdfUa1 => self == Self::PdfUa1,
            level => self <= *level,
        })
    }

    /// Returns the clause that requires a declaration to be true, with veraPDF's number of the test.
    pub(super) fn declaration_clause(self) -> &'static str {
        match self {
            Self::PdfUa1 => "5-1",
            _ => "6.6.4-3",
        }
    }

    /// Returns the standards that a file declares whose findings prevent `prevented`: the highest level of PDF/A, and
    /// PDF/UA. The levels contain each other.
    pub(super) fn earned(prevented: &[Self]) -> Vec<Self> {
        let is_free = |standards: &[Self]| !standards.iter().any(|standard| prevented.contains(standard));
        let level = if is_free(&[Self::PdfA2u, Self::PdfA2a]) {
            Self::PdfA2a
        } else if is_free(&[Self::PdfA2u]) {
            Self::PdfA2u
        } else {
            Self::PdfA2b
        };
        let accessible = is_free(&[Self::PdfUa1]).then_some(Self::PdfUa1);
        [level].into_iter().chain(accessible).collect()
    }
}

impl fmt::Display for Conformance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
