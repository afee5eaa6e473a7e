//! What the content of an asset is, beyond its type.

use serde::{Deserialize, Serialize};

/// Weight of bold text (CSS Fonts Module Level 4, section 2.2.1).
pub const BOLD: u16 = 700;
/// Weight and width, in thousandths, of regular text.
pub const REGULAR_WEIGHT: u16 = 400;
pub const REGULAR_WIDTH: u16 = 1000;

/// What the content of an asset is. The API adds it to the asset as the member `picture` or `font`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AssetProperties {
    Picture(PictureSize),
    Font(FontFace),
}

/// The size of a picture in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureSize {
    pub width: u32,
    pub height: u32,
}

/// A font file, described as `@font-face` needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FontFace {
    /// Name of the family, such as `Inter`; `None` if the font has no name.
    pub family: Option<String>,
    /// Name of the family in programs that allow for four styles of each, such as `Inter SemiBold`, if it is another one.
    pub legacy_family: Option<String>,
    /// Name of the style, such as `SemiBold Italic`.
    pub style: Option<String>,
    /// Smallest and largest `font-weight`, which are equal unless the font is variable.
    pub weight: [u16; 2],
    /// Smallest and largest `font-stretch`, in thousandths of the regular width.
    pub width: [u16; 2],
    pub italic: bool,
    /// Tags of the axes of a variable font, such as `wght`.
    pub axes: Vec<String>,
    /// Number of characters.
    pub characters: u32,
    /// The scripts with the most characters, most first.
    pub scripts: Vec<ScriptCoverage>,
    pub embedding: Embedding,
}

/// The characters of a font that belong to a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptCoverage {
    /// Name by Unicode, such as `Latin` or `Cyrillic`.
    pub script: String,
    pub characters: u32,
}

/// Whether the font's licence allows documents to contain it (OpenType, table `OS/2`, `fsType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Embedding {
    Installable,
    Editable,
    PreviewAndPrint,
    /// Documents must not contain the font.
    Restricted,
}

impl FontFace {
    /// Returns the weights at which a specimen shows the font: that of a font with one weight; regular and bold of a variable
    /// font, as far as it has these.
    pub fn shown_weights(&self) -> Vec<u16> {
        let [lightest, heaviest] = self.weight;
        let mut weights = [REGULAR_WEIGHT, BOLD]
            .map(|weight| weight.clamp(lightest, heaviest))
            .to_vec();
        weights.dedup();
        weights
    }

    /// Returns what the licence means for documents, if it restricts their use.
    pub fn licence_warning(&self) -> Option<&'static str> {
        (self.embedding == Embedding::Restricted).then_some(
            "The font's licence (fsType) forbids documents to contain it. Buy a licence for embedding from its vendor, or use \
             another font",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specimens_show_the_weights_that_a_font_has() {
        let font = |weight| FontFace {
            family: None,
            legacy_family: None,
            style: None,
            weight,
            width: [REGULAR_WIDTH; 2],
            italic: false,
            axes: Vec::new(),
            characters: 0,
            scripts: Vec::new(),
            embedding: Embedding::Installable,
        };
        assert_eq!(font([300, 300]).shown_weights(), [300]);
        assert_eq!(font([100, 900]).shown_weights(), [400, 700]);
        assert_eq!(font([100, 600]).shown_weights(), [400, 600]);
        assert_eq!(font([800, 900]).shown_weights(), [800]);
    }
}
