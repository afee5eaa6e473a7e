//! Renders without an accessibility report.

/// Why a render has no accessibility report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingReport {
    /// The render has no document, and failed for another reason than its conformance.
    NoDocument,
    /// The document is a plain PDF, which is not checked.
    Plain,
    /// The account doesn't store content.
    NotWanted,
    /// The render ended just now.
    NotYet,
    /// It was deleted, there was no room for it, or the render is older than reports.
    Gone,
    /// Operators don't see content.
    Hidden,
    /// It can't be decrypted or parsed.
    Unreadable,
}

impl MissingReport {
    /// A sentence for the account's members.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoDocument => "The render has no document.",
            Self::Plain => "The document is a plain PDF, which isn't checked. Set output_format to pdf/a for a report.",
            Self::NotWanted => "The report isn't stored: this account doesn't store content.",
            Self::NotYet => "The report is stored shortly after the render has ended: try again in a second.",
            Self::Gone => {
                "No report is stored: it has expired, there was no room for it, or the render is from an earlier release. \
                 Reports of test renders are stored for 24 hours, others for your plan's retention."
            }
            Self::Hidden => "The report is visible only to the account's members.",
            Self::Unreadable => "The stored report can't be read. Send the request again for a new one.",
        }
    }
}
