//! Live previews in the template editor. They are sent as lines of JSON, each a [`PreviewEvent`].

use platen_domain::editor::Remark;
use serde::{Deserialize, Serialize};

/// A request for a preview.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PreviewRequest {
    /// Id of the template that is edited.
    pub id: String,
    /// The template as typed.
    pub content: String,
    /// Sample data as typed, possibly not valid JSON.
    pub data: String,
    pub paper: Paper,
    /// Resolution of the page images, in pixels per inch.
    pub dots_per_inch: u16,
    /// Number of the page that is rasterized first, from 1.
    pub page: usize,
}

/// Page setup of a preview, as typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paper {
    /// Page size, such as `A4`.
    pub size: String,
    pub landscape: bool,
    /// Scale; `1` is the original size.
    pub scale: String,
    /// Top, right, bottom and left margins in millimetres. Empty: the API's default.
    pub margins: [String; 4],
    /// Whether the size of `@page` takes precedence.
    pub prefer_css: bool,
    /// Whether backgrounds are printed.
    pub backgrounds: bool,
}

impl Default for Paper {
    fn default() -> Self {
        Self {
            size: "A4".to_owned(),
            landscape: false,
            scale: "1".to_owned(),
            margins: Default::default(),
            prefer_css: true,
            backgrounds: true,
        }
    }
}

/// An event of a preview, in the order in which results arrive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PreviewEvent {
    /// The template or the data is invalid. There is no preview.
    Faulty(Remark),
    /// No slot is free. The client should retry.
    Busy,
    /// The document was rendered.
    Rendered(RenderedPreview),
    /// An image of one of its pages.
    Page(PagePicture),
    /// Warnings for the author.
    Remarks(Vec<Remark>),
}

/// A rendered document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderedPreview {
    /// Number of pages.
    pub pages: usize,
    /// Size in bytes.
    pub bytes: usize,
    /// The standard to which it conforms.
    pub conformance: Option<String>,
    /// Duration on the server.
    pub milliseconds: u64,
}

/// An image of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PagePicture {
    /// Number of the page, from 1.
    pub number: usize,
    /// In pixels.
    pub width: usize,
    /// In pixels.
    pub height: usize,
    /// A PNG file in base64.
    pub png: String,
}
