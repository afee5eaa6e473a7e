//! Versions of a template.

use platen_domain::{
    diff::Diff,
    page_comparison,
    template::{EditedTemplate, VersionSummary, channels::Channels, promotions::ChannelRelease},
};

use crate::error::AppError;

/// Versions of a template, and a comparison of two.
#[derive(Debug, Clone, PartialEq)]
pub struct Versions {
    pub edited: EditedTemplate,
    /// The latest versions, the newest first.
    pub listed: Vec<VersionSummary>,
    pub compared: Option<Comparison>,
    /// Names of the sets of sample data.
    pub sets: Vec<String>,
    pub channels: Channels,
    /// The release in each channel.
    pub releases: Vec<ChannelRelease>,
}

/// Two versions, compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub older: VersionSummary,
    pub newer: VersionSummary,
    pub html: Diff,
    pub data: Diff,
    pub translations: Diff,
}

/// Two versions whose pages can be compared.
#[derive(Debug, Clone, PartialEq)]
pub struct PageComparisons {
    /// Name of the template.
    pub name: String,
    /// Number of the older version.
    pub older: i32,
    /// Number of the newer version.
    pub newer: i32,
    /// Names of the sets of sample data.
    pub sets: Vec<String>,
    /// The set with which the pages were compared, and the outcome.
    pub compared: Option<(String, Result<page_comparison::Comparison, AppError>)>,
}
