//! Stored templates, as their account sees them.

use serde::{Deserialize, Serialize};

/// The form that saves a version of a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateForm {
    /// Id of the template.
    pub id: String,
    /// The newest version that the author has seen. `None` skips the check for newer versions.
    pub seen: Option<i32>,
    pub name: String,
    /// HTML in the template syntax.
    pub content: String,
    pub data: DataForm,
    /// Whether the version is published.
    pub publish: bool,
    /// What the version changes. Ignored unless it is published.
    pub note: String,
}

/// The sample data and the translations of a form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataForm {
    /// JSON.
    pub data: String,
    /// Name of the set to which `data` belongs; the first one by default. Ignored if there are `sets`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// All sets as a JSON array of [`SampleSet`](platen_domain::editor::SampleSet), from editors with scripts. Without it,
    /// the other sets stay as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sets: Option<String>,
    /// Translations as JSON. Without them, those of the newest version are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub translations: Option<String>,
}

impl DataForm {
    /// Returns the size of the texts in bytes.
    pub fn bytes(&self) -> usize {
        let others = [&self.sets, &self.translations].into_iter().flatten();
        self.data.len() + others.map(String::len).sum::<usize>()
    }
}

/// The form that creates a template.
#[cfg(feature = "ssr")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTemplateForm {
    /// May be empty: that of the starter.
    pub name: String,
    pub kind: platen_domain::template::identity::TemplateKind,
    /// May be empty for documents.
    pub handle: String,
    pub beginning: Beginning,
}

/// The form that publishes a version of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicationForm {
    /// Number of the version.
    pub number: i32,
    /// The published version that the member has seen. Nothing is published if it has changed since.
    pub seen: i32,
    /// What the version changes.
    pub note: String,
}

/// Generated sample data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GeneratedData {
    /// Indented JSON.
    Data(String),
    /// Why nothing can be generated, as a sentence.
    Problem(String),
}

/// The starter content of a new template.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Beginning {
    /// Line items, totals and a payment code.
    #[default]
    Invoice,
    /// A price with options, a schedule and an acceptance.
    Quote,
    /// A strip as long as its contents.
    Receipt,
    /// A letterhead, and a recipient for window envelopes.
    Letter,
    /// A cover, contents, charts, tables and running heads.
    Report,
    /// A landscape page.
    Certificate,
    /// A small page in black alone.
    ShippingLabel,
    /// A picture, and a stub with a QR code.
    Ticket,
    /// Almost empty.
    Blank,
}

impl Beginning {
    /// All starters in the order of the form, with form value, name and contents. `/img/starter-<form value>.webp` is a
    /// picture of the first page; `deploy/starter-pictures.sh` writes it.
    pub const OFFERED: [(Self, &'static str, &'static str, &'static str); 9] = [
        (Self::Blank, "blank", "Blank page", "A heading and a date"),
        (Self::Invoice, "invoice", "Invoice", "Line items, VAT, payment code"),
        (Self::Quote, "quote", "Quote", "Prices, options, acceptance"),
        (Self::Receipt, "receipt", "Receipt", "80 mm strip, VAT by rate"),
        (Self::Letter, "letter", "Letter", "Letterhead, window address"),
        (Self::Report, "report", "Report", "Cover, contents, chart, tables"),
        (
            Self::Certificate,
            "certificate",
            "Certificate",
            "Landscape, with signatures",
        ),
        (
            Self::ShippingLabel,
            "shipping-label",
            "Shipping label",
            "100 × 150 mm, two barcodes",
        ),
        (Self::Ticket, "ticket", "Ticket", "Seat, QR code on a stub"),
    ];

    /// Returns the name of the starter, which is also that of templates without a name of their own.
    pub fn name(self) -> &'static str {
        let offered = Self::OFFERED.iter().find(|(offered, ..)| *offered == self);
        offered.map_or("", |(_, _, name, _)| name)
    }
}

/// Returns the path of a template's editor.
pub fn editor_path(id: &str) -> String {
    format!("/dashboard/templates/{id}")
}

/// Returns the path of a template's settings.
#[cfg(feature = "ssr")]
pub fn settings_path(id: &str) -> String {
    format!("/dashboard/templates/{id}/settings")
}

/// Returns the path of a template's releases.
#[cfg(feature = "ssr")]
pub fn releases_path(id: &str) -> String {
    format!("/dashboard/templates/{id}/releases")
}

/// Returns the path of a template's versions.
pub fn versions_path(id: &str) -> String {
    format!("/dashboard/templates/{id}/versions")
}

/// Returns the path to which the editor's form is submitted for its PDF.
pub fn preview_pdf_path(id: &str) -> String {
    format!("/dashboard/templates/{id}/preview.pdf")
}

/// Returns the path of the comparison of the pages of two versions.
pub fn pages_path(id: &str, older: i32, newer: i32) -> String {
    format!("/dashboard/templates/{id}/pages?older={older}&newer={newer}")
}

/// Returns the path of the comparison of two versions.
pub fn comparison_path(id: &str, from: i32, to: i32) -> String {
    format!("{}?from={from}&to={to}", versions_path(id))
}
