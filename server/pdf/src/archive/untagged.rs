//! Finds what a content stream paints outside of marked content (ISO 32000-1, 14.6). Chromium tags text, images and
//! most backgrounds; borders, shadows, generated text, and headers and footers are outside.

mod levels;
mod operands;
mod page_area;
mod texts;

use std::ops::Range;

use super::content_streams::end_of_inline_image;
use crate::PdfError;
use crate::lexer::{Lexer, Token};
use levels::Levels;
use operands::Operands;
use page_area::PageArea;
use texts::Texts;

/// Limit on the nesting of `q` and of marked content. Far above what Chromium writes; it bounds the memory that a
/// damaged stream can take.
const MAX_NESTING: usize = 4_096;

/// A range of bytes from the first operand of an operator to the end of the same or a later one.
pub(super) type Operators = Range<usize>;

/// What a stream paints outside of marked content, in the order in which it is painted.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Untagged<'c> {
    /// Painting without text, in runs as long as possible. In each run, `q` and `Q` are balanced.
    pub(super) decoration: Vec<Operators>,
    pub(super) texts: Vec<Text<'c>>,
    /// Forms that show tagged content themselves, by their names in the stream's resources.
    pub(super) tagged_forms: Vec<&'c [u8]>,
    /// Forms that show text without tags, each with the operators that draw it.
    pub(super) text_forms: Vec<(&'c [u8], Operators)>,
    /// Forms with text or tagged content, drawn within marked content.
    pub(super) marked_forms: Vec<&'c [u8]>,
    /// Forms whose tagged content has been drawn before.
    pub(super) repeated_forms: Vec<(&'c [u8], Operators)>,
    /// The operators that begin content of an element.
    pub(super) tags: Vec<Operators>,
    /// Up to this offset, untagged text is that of the page's margins (`@page { @top-left { … } }`).
    pub(super) margins_end: usize,
    /// From this offset, everything is Chromium's header and footer; the length of the stream if there are none.
    pub(super) footer_start: usize,
}

/// A text object, from `BT` to `ET`.
#[derive(Debug, PartialEq)]
pub(super) struct Text<'c> {
    pub(super) range: Operators,
    pub(super) line: Option<Line<'c>>,
    /// The tagged content painted before and after it.
    pub(super) before: Option<Tagged<'c>>,
    pub(super) after: Option<Tagged<'c>>,
}

/// A line of text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line<'c> {
    /// Digest of clip and transformation.
    surroundings: u64,
    /// Operands of `Tm`.
    matrix: Operands<'c>,
    /// Operands of `Tf`.
    font: Operands<'c>,
}

impl Line<'_> {
    /// Returns whether two horizontal texts are on one line; one may be raised or lowered by half a font size.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let distance = self.baseline().zip(other.baseline()).map(|(a, b)| (a - b).abs());
        let size = self.size().zip(other.size()).map(|(a, b)| a.max(b));
        self.surroundings == other.surroundings
            && distance
                .zip(size)
                .is_some_and(|(distance, size)| distance <= size / 2.0)
    }

    /// Returns the height of the baseline; `None` if it is not horizontal.
    fn baseline(&self) -> Option<f64> {
        let [_, b, c, _, _, baseline] = self.matrix.numbers()?;
        (b == 0.0 && c == 0.0).then_some(baseline)
    }

    /// Returns the size of the font.
    fn size(&self) -> Option<f64> {
        let [size] = self.font.numbers()?;
        Some(size)
    }
}

/// Content of an element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tagged<'c> {
    /// Marked-content identifier.
    pub(super) identifier: usize,
    pub(super) first_line: Option<Line<'c>>,
    pub(super) last_line: Option<Line<'c>>,
}

/// What an external object draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Drawn {
    /// Neither text nor tagged content.
    Decoration,
    /// Text, marked within the form or not.
    Text,
    /// Content of elements, marked within the form.
    Tagged,
    /// Tagged content that has been drawn before.
    Repeated,
}

/// Known properties of a page, apart from its content.
#[derive(Clone, Copy)]
pub(super) struct PageSetup {
    pub(super) media_box: [f64; 4],
    /// See [`PageFacts::has_running_text`](crate::PageFacts::has_running_text).
    pub(super) has_running_text: bool,
}

/// Scans a content stream. `page` is the page whose content it is; `None` for other streams. `drawn` is called
/// once for each time that an external object is drawn, with its name in the resources.
pub(super) fn find_untagged<'c>(
    content: &'c [u8],
    page: Option<PageSetup>,
    drawn: &mut dyn FnMut(&'c [u8]) -> Drawn,
) -> Result<Untagged<'c>, PdfError> {
    let mut scan = Scan {
        content,
        drawn,
        found: Untagged::default(),
        levels: Levels::new(),
        marks: Vec::new(),
        path: None,
        texts: Texts::default(),
        area: page.map(PageArea::new),
    };
    scan.run()?;
    scan.levels.end_decoration();
    scan.texts.end_tagged();
    let (margins_end, footer_start) = scan.area.map_or((0, None), |area| area.bounds());
    Ok(Untagged {
        decoration: scan.levels.ended,
        texts: scan.texts.untagged,
        margins_end,
        footer_start: footer_start.unwrap_or(content.len()),
        ..scan.found
    })
}

/// Kind of marked content.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Artifact,
    /// Of an element.
    Content,
    /// Neither, such as a span with a replacement text.
    Other,
}

/// The current path.
struct Path<'c> {
    start: usize,
    /// Operands of its first operator, if that is `re`.
    rectangle: Option<Operands<'c>>,
}

struct Scan<'c, 'f> {
    content: &'c [u8],
    drawn: &'f mut dyn FnMut(&'c [u8]) -> Drawn,
    /// Forms and tags.
    found: Untagged<'c>,
    levels: Levels,
    /// For each open marked content, the kind of the closest that is an artifact or of an element.
    marks: Vec<Mark>,
    path: Option<Path<'c>>,
    texts: Texts<'c>,
    area: Option<PageArea>,
}

impl<'c> Scan<'c, '_> {
    fn run(&mut self) -> Result<(), PdfError> {
        let mut lexer = Lexer::new(self.content, 0);
        lexer.skip_white_space();
        // Offset of the first operand.
        let mut start = lexer.position();
        loop {
            lexer.skip_plain_numbers();
            let (token, end) = match lexer.next_plain_keyword() {
                Some(raw) => (Token::Keyword(raw), lexer.position() - 1),
                None => match lexer.next_token()? {
                    Some((_, token)) => (token, lexer.position()),
                    None => return Ok(()),
                },
            };
            match token {
                // `BI` begins the dictionary of an inline image, which `ID` ends.
                Token::Keyword(b"true" | b"false" | b"null" | b"BI") => continue,
                Token::Keyword(b"ID") => {
                    lexer = Lexer::new(self.content, end_of_inline_image(self.content, end)?);
                    self.decoration(start..lexer.position());
                }
                Token::Keyword(operator) => self.operator(operator, start..end)?,
                Token::DictionaryStart => {
                    lexer.skip_content_identifier();
                    continue;
                }
                _ => continue,
            }
            lexer.skip_white_space();
            start = lexer.position();
        }
    }

    /// `range` is that of the operator and its operands.
    fn operator(&mut self, operator: &[u8], range: Operators) -> Result<(), PdfError> {
        let operands = Operands(&self.content[range.start..range.end - operator.len()]);
        match operator {
            b"m" | b"re" if self.path.is_none() => {
                let rectangle = (operator == b"re").then_some(operands);
                self.path = Some(Path {
                    start: range.start,
                    rectangle,
                });
            }
            b"W" | b"W*" => self.clip(range),
            b"n" => self.path = None,
            b"S" | b"s" | b"f" | b"F" | b"f*" | b"B" | b"B*" | b"b" | b"b*" => {
                if let Some(path) = self.path.take() {
                    self.decoration(path.start..range.end);
                }
            }
            b"sh" => self.decoration(range),
            b"Do" => self.external_object(operands, range),
            b"q" => self.levels.save(range.start)?,
            b"Q" => self.levels.restore(range.end),
            b"cm" => self.transform(operands, range),
            b"BT" => self.texts.begin(range.start),
            b"Tf" => self.texts.font = Some(operands),
            b"Tm" => self.texts.line = self.line(operands),
            b"Td" if matches!(operands.numbers(), Some([_, 0.0])) => {}
            b"Td" | b"TD" | b"T*" => self.texts.line = None,
            b"Tj" | b"TJ" | b"'" | b"\"" => match self.mark() {
                Mark::Content => self.texts.show_content(),
                Mark::Artifact => self.texts.show_marked(),
                Mark::Other => self.texts.show_untagged(),
            },
            b"ET" => self.end_text(range.end),
            b"BMC" | b"BDC" => self.begin_marked_content(operands, range)?,
            b"EMC" => {
                self.levels.end_decoration();
                self.marks.pop();
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the kind of the current marked content.
    fn mark(&self) -> Mark {
        self.marks.last().copied().unwrap_or(Mark::Other)
    }

    fn clip(&mut self, range: Operators) {
        let Some(path) = &self.path else { return };
        let depth = self.levels.depth();
        let level = self.levels.current_mut();
        // A further clip of a level, such as that of a frame, doesn't bound the page's area.
        let bounds_area = depth == 1 && !level.is_clipped;
        level.is_clipped = true;
        level.change_surroundings(&self.content[path.start..range.end]);
        if let Some(area) = self.area.as_mut().filter(|_| bounds_area)
            && let Some([x, y, width, height]) = path.rectangle.and_then(Operands::numbers)
        {
            area.clip(level.start, [x, y, x + width, y + height]);
        }
    }

    fn transform(&mut self, operands: Operands, range: Operators) {
        if let Some(area) = self.area.as_mut().filter(|_| self.levels.depth() == 0)
            && let Some(matrix) = operands.numbers()
        {
            area.matrix = matrix;
        }
        self.levels.current_mut().change_surroundings(&self.content[range]);
    }

    fn decoration(&mut self, range: Operators) {
        if self.mark() == Mark::Other {
            self.levels.decorate(range);
        }
    }

    fn external_object(&mut self, operands: Operands<'c>, range: Operators) {
        let Some(name) = operands.name() else { return };
        match (self.drawn)(name) {
            Drawn::Decoration => self.decoration(range),
            Drawn::Text | Drawn::Tagged if self.mark() != Mark::Other => self.found.marked_forms.push(name),
            Drawn::Text => {
                self.levels.end_decoration();
                if let Some(area) = &mut self.area {
                    area.add_text(&range, self.levels.current().is_clipped);
                }
                self.found.text_forms.push((name, range));
            }
            Drawn::Tagged => {
                self.levels.end_decoration();
                if let Some(area) = &mut self.area {
                    area.begin_tagged(self.levels.current().is_clipped);
                }
                self.found.tagged_forms.push(name);
            }
            Drawn::Repeated => {
                self.found.repeated_forms.push((name, range.clone()));
                self.decoration(range);
            }
        }
    }

    /// Returns the line that the operands of `Tm` begin.
    fn line(&self, matrix: Operands<'c>) -> Option<Line<'c>> {
        Some(Line {
            surroundings: self.levels.current().surroundings,
            matrix,
            font: self.texts.font?,
        })
    }

    fn end_text(&mut self, end: usize) {
        if let Some(text) = self.texts.end(end) {
            self.levels.end_decoration();
            if let Some(area) = &mut self.area {
                area.add_text(&text, self.levels.current().is_clipped);
            }
        }
    }

    fn begin_marked_content(&mut self, operands: Operands, range: Operators) -> Result<(), PdfError> {
        if self.marks.len() == MAX_NESTING {
            return Err(PdfError::damaged(range.start, "a content stream nested too deeply"));
        }
        self.levels.end_decoration();
        if let Some(identifier) = operands.identifier() {
            self.marks.push(Mark::Content);
            self.found.tags.push(range);
            self.texts.begin_tagged(identifier);
            if let Some(area) = &mut self.area {
                area.begin_tagged(self.levels.current().is_clipped);
            }
        } else if operands.name() == Some(b"Artifact") {
            self.marks.push(Mark::Artifact);
        } else {
            self.marks.push(self.mark());
        }
        Ok(())
    }
}
