//! Previews while somebody types. They come in lines of JSON, each a [`PreviewEvent`].

use serde::{Deserialize, Serialize};

/// What is to be shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PreviewWanted {
    /// Which template it is about to become.
    pub id: String,
    /// HTML with places to fill, as it is typed.
    pub content: String,
    /// What fills it: JSON, perhaps not yet.
    pub data: String,
    /// How it lies on paper.
    pub paper: Paper,
    /// Pixels for each inch of a page.
    pub dots_per_inch: u16,
    /// The page that comes first, from 1.
    pub page: usize,
}

/// Options of a preview, as they are typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paper {
    /// `A4` and so on.
    pub size: String,
    /// Whether it lies across.
    pub landscape: bool,
    /// 1 is as it is.
    pub scale: String,
    /// Top, right, bottom and left in millimetres; empty: the API's own.
    pub margins: [String; 4],
    /// Whether `@page` wins.
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

/// What there is to show, as it turns out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PreviewEvent {
    /// Nothing can be shown.
    Faulty(Remark),
    /// All places are taken: ask again.
    Busy,
    /// There is a document.
    Rendered(RenderedPreview),
    /// A page of it.
    Page(PagePicture),
    /// What the author should know.
    Remarks(Vec<Remark>),
}

/// A document that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderedPreview {
    /// Pages in it.
    pub pages: usize,
    /// Its size.
    pub bytes: usize,
    /// The standard that it conforms to.
    pub conformance: Option<String>,
    /// What it took on the server.
    pub milliseconds: u64,
}

/// A page as a picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PagePicture {
    /// Which one, from 1.
    pub number: usize,
    /// Pixels.
    pub width: usize,
    /// Pixels.
    pub height: usize,
    /// A PNG file as base64.
    pub png: String,
}

/// Something that the author should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// What it is about, in the author's words.
    pub subject: Option<String>,
    /// What about it.
    pub message: String,
    /// Whether it is a name that counted as empty.
    pub undefined: bool,
    /// Where it is known.
    pub place: Option<Place>,
}

/// A place in one of the two panes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Which pane.
    pub pane: Pane,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// In characters.
    pub length: usize,
}

/// What is typed into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pane {
    /// The template.
    Content,
    /// What fills it.
    Data,
}

impl Pane {
    /// The name of its field, and what its pane is called on small screens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Data => "data",
        }
    }
}
