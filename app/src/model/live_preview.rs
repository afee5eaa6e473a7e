//! Live previews in the template editor. They are sent as lines of JSON, each a [`PreviewEvent`].

use platen_domain::editor::{Remark, Violation};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value, json};

/// A request for a preview.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PreviewRequest {
    /// Id of the template that is edited.
    pub id: String,
    /// The template as typed.
    pub content: String,
    /// Sample data as typed, possibly not valid JSON.
    pub data: String,
    /// Translations as typed, possibly not valid JSON.
    #[serde(default)]
    pub translations: String,
    /// Language tag, or empty for the first language of the translations.
    #[serde(default)]
    pub language: String,
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

impl Paper {
    /// Returns the options under their API names. Values that aren't numbers are passed on, so that validation reports
    /// them.
    pub fn options(&self) -> Map<String, Value> {
        let number = |text: &str| {
            let text = text.trim().replace(',', ".");
            match text.parse().ok().and_then(Number::from_f64) {
                Some(number) => Value::Number(number),
                None => Value::String(text),
            }
        };
        let mut options = Map::new();
        let orientation = if self.landscape { "landscape" } else { "portrait" };
        options.insert("size".into(), self.size.to_lowercase().into());
        options.insert("orientation".into(), orientation.into());
        options.insert("scale".into(), number(&self.scale));
        options.insert("prefer_css_page_size".into(), self.prefer_css.into());
        options.insert("include_backgrounds".into(), self.backgrounds.into());
        if self.margins.iter().any(|margin| !margin.trim().is_empty()) {
            let [top, right, bottom, left] = self.margins.each_ref().map(|margin| match margin.trim() {
                "" => json!(0),
                margin => number(margin),
            });
            let margin = json!({"top": top, "right": right, "bottom": bottom, "left": left, "unit": "mm"});
            options.insert("margin".into(), margin);
        }
        options
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
    /// The text of template and pages as JSON, which only `frontend/elements/page-viewer/places.ts` reads.
    Texts(String),
}

/// A rendered document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderedPreview {
    /// Number of pages.
    pub pages: usize,
    /// Size in bytes.
    pub bytes: usize,
    /// The standards to which it conforms.
    pub conformance: Option<String>,
    /// The first violations that prevent PDF/A-2a or PDF/UA-1, and texts with low contrast.
    pub violations: Vec<Violation>,
    /// Number of further violations.
    pub more_violations: usize,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_the_api() {
        let mut paper = Paper::default();
        let expected = json!({
            "size": "a4", "orientation": "portrait", "scale": 1.0, "prefer_css_page_size": true, "include_backgrounds": true,
        });
        assert_eq!(Value::Object(paper.options()), expected);
        paper.scale = "wide".to_owned();
        paper.margins[1] = " 12,5 ".to_owned();
        let options = paper.options();
        assert_eq!(options["scale"], "wide");
        assert_eq!(
            options["margin"],
            json!({"top": 0, "right": 12.5, "bottom": 0, "left": 0, "unit": "mm"})
        );
    }
}
