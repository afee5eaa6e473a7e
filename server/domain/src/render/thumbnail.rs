//! Thumbnails of documents.

/// A thumbnail without its image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedThumbnail {
    /// Page number, from 1.
    pub page: i16,
    /// In pixels.
    pub width: i32,
    /// In pixels.
    pub height: i32,
    /// Whether there is an image. `false` if the document exceeds the limits of rasterization, or if the account had no
    /// room for it.
    pub drawn: bool,
}

/// Thumbnails of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pictures {
    /// The pages were rasterized.
    Drawn(Vec<ListedThumbnail>),
    /// The pages are being rasterized. A change event of the render follows.
    Coming,
    /// There are no thumbnails.
    None,
}
