//! Finds what a content stream paints outside of marked content (ISO 32000-1, 14.6). Chromium tags text, images and
//! most backgrounds; borders, shadows, generated text, and headers and footers are outside.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use super::content_streams::end_of_inline_image;
use crate::PdfError;
use crate::lexer::{Lexer, Token};
use crate::object::Object;
use crate::parse::parse_number;

/// Limit on the nesting of `q` and of marked content. Far above what Chromium writes; it bounds the memory that a
/// damaged stream can take.
const MAX_NESTING: usize = 4_096;
/// Tolerance in points for the bounds of a page, which Chromium rounds to device pixels of 0.24 points.
const TOLERANCE: f64 = 0.5;

/// A range of bytes from the first operand of an operator to the end of the same or a later one.
pub(super) type Operators = Range<usize>;

/// What a stream paints outside of marked content, in the order in which it is painted.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Untagged<'c> {
    /// Painting without text, in runs as long as possible. In each run, `q` and `Q` are balanced.
    pub(super) decoration: Vec<Operators>,
    pub(super) texts: Vec<Text<'c>>,
    /// Forms that show text or tagged content themselves, by their names in the stream's resources.
    pub(super) forms: Vec<&'c [u8]>,
    /// The same for forms within marked content.
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

/// A line of horizontal text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line<'c> {
    /// Digest of clip and transformation.
    surroundings: u64,
    /// Height of the baseline and size of the font, as written.
    baseline: &'c [u8],
    size: &'c [u8],
}

impl Line<'_> {
    /// Returns whether two texts are on one line; one may be raised or lowered by half a font size.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let number = |raw| parse_number(raw).as_ref().and_then(Object::as_number);
        let distance = number(self.baseline)
            .zip(number(other.baseline))
            .map(|(a, b)| (a - b).abs());
        let size = number(self.size).zip(number(other.size)).map(|(a, b)| a.max(b));
        self.surroundings == other.surroundings
            && distance
                .zip(size)
                .is_some_and(|(distance, size)| distance <= size / 2.0)
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

/// Scans a content stream. `media_box` is that of the page, for its content only. `drawn` is called once for each time
/// that an external object is drawn, with its name in the resources.
pub(super) fn find_untagged<'c>(
    content: &'c [u8],
    media_box: Option<[f64; 4]>,
    drawn: &mut dyn FnMut(&'c [u8]) -> Drawn,
) -> Result<Untagged<'c>, PdfError> {
    let mut scan = Scan {
        content,
        media_box,
        drawn,
        found: Untagged {
            footer_start: content.len(),
            ..Untagged::default()
        },
        levels: vec![Level::default()],
        marks: Marks::default(),
        operands: Operands::default(),
        path: None,
        text: None,
        matrix: [1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        has_content: false,
        fills_page: false,
        line: None,
        font_size: None,
        tagged: None,
        tagged_has_text: false,
        waiting: 0..0,
    };
    scan.run()?;
    scan.end_tagged();
    if !scan.has_content || scan.fills_page {
        scan.found.footer_start = content.len();
    }
    Ok(scan.found)
}

/// The operands of the current operator.
#[derive(Default)]
struct Operands<'c> {
    start: Option<usize>,
    numbers: Vec<&'c [u8]>,
    /// The first name outside of a dictionary.
    name: Option<&'c [u8]>,
    /// Index in `numbers` of the marked-content identifier.
    identifier: Option<usize>,
    depth: usize,
}

impl Operands<'_> {
    fn clear(&mut self) {
        self.start = None;
        self.numbers.clear();
        self.name = None;
        self.identifier = None;
        self.depth = 0;
    }

    fn identifier(&self) -> Option<usize> {
        let raw = self.numbers.get(self.identifier?)?;
        std::str::from_utf8(raw).ok()?.parse().ok()
    }

    /// Returns the last `N` numbers; `None` if there are fewer.
    fn numbers<const N: usize>(&self) -> Option<[f64; N]> {
        let numbers = self.numbers.last_chunk::<N>()?;
        let mut parsed = [0.0; N];
        for (parsed, raw) in parsed.iter_mut().zip(numbers) {
            *parsed = parse_number(raw).as_ref().and_then(Object::as_number)?;
        }
        Some(parsed)
    }
}

/// Open marked content.
#[derive(Default)]
struct Marks {
    open: Vec<Mark>,
    /// Number of open ones that are artifacts or content of elements, and of the latter.
    tagging: usize,
    content: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Artifact,
    Content,
    /// Neither, such as a span with a replacement text.
    Other,
}

/// A level of the graphics state, from `q` to `Q`.
#[derive(Default)]
struct Level {
    /// Offset of its `q`.
    start: usize,
    /// Decoration that further operators may extend.
    decoration: Option<Operators>,
    /// Whether it contains anything other than decoration.
    is_mixed: bool,
    is_clipped: bool,
    surroundings: u64,
}

/// The current path.
struct Path {
    start: usize,
    /// Corners of its first rectangle.
    rectangle: Option<[f64; 4]>,
}

/// The current text object.
struct OpenText<'c> {
    start: usize,
    line: Option<Line<'c>>,
    is_untagged: bool,
    is_tagged: bool,
}

struct Scan<'c, 'f> {
    content: &'c [u8],
    media_box: Option<[f64; 4]>,
    drawn: &'f mut dyn FnMut(&'c [u8]) -> Drawn,
    found: Untagged<'c>,
    /// The outermost level is that of the whole stream.
    levels: Vec<Level>,
    marks: Marks,
    operands: Operands<'c>,
    path: Option<Path>,
    text: Option<OpenText<'c>>,
    /// Transformation of the outermost level.
    matrix: [f64; 6],
    /// Whether tagged content has begun within the page's area, to which Chromium clips it.
    has_content: bool,
    /// Whether that area is the whole page.
    fills_page: bool,
    /// The current line of text.
    line: Option<Line<'c>>,
    font_size: Option<&'c [u8]>,
    /// The current tagged content, or the last one.
    tagged: Option<Tagged<'c>>,
    tagged_has_text: bool,
    /// Indices of the texts before that content, after the one before.
    waiting: Range<usize>,
}

impl<'c> Scan<'c, '_> {
    fn run(&mut self) -> Result<(), PdfError> {
        let mut lexer = Lexer::new(self.content, 0);
        loop {
            while let Some(raw) = lexer.next_plain_number() {
                self.operands.start.get_or_insert(lexer.position() - 1 - raw.len());
                self.operands.numbers.push(raw);
            }
            let (start, token, end) = match lexer.next_plain_keyword() {
                Some(raw) => {
                    let end = lexer.position() - 1;
                    (end - raw.len(), Token::Keyword(raw), end)
                }
                None => match lexer.next_token()? {
                    Some((start, token)) => (start, token, lexer.position()),
                    None => break,
                },
            };
            match token {
                // `BI` begins the dictionary of an inline image, which `ID` ends.
                Token::Keyword(b"true" | b"false" | b"null" | b"BI") => {}
                Token::Keyword(operator) => {
                    let start = self.operands.start.unwrap_or(start);
                    if operator == b"ID" {
                        lexer = Lexer::new(self.content, end_of_inline_image(self.content, end)?);
                        self.decoration(start..lexer.position());
                    } else {
                        self.operator(operator, start..end)?;
                    }
                    self.operands.clear();
                    continue;
                }
                Token::Number(raw) => self.operands.numbers.push(raw),
                Token::Name(b"MCID") if self.operands.depth > 0 => {
                    self.operands.identifier = Some(self.operands.numbers.len());
                }
                Token::Name(raw) if self.operands.depth == 0 => drop(self.operands.name.get_or_insert(raw)),
                Token::DictionaryStart => self.operands.depth += 1,
                Token::DictionaryEnd => self.operands.depth = self.operands.depth.saturating_sub(1),
                _ => {}
            }
            self.operands.start.get_or_insert(start);
        }
        self.end_decoration();
        Ok(())
    }

    fn operator(&mut self, operator: &[u8], range: Operators) -> Result<(), PdfError> {
        match operator {
            b"m" => drop(self.path.get_or_insert(Path {
                start: range.start,
                rectangle: None,
            })),
            b"re" if self.path.is_none() => {
                let rectangle = self.operands.numbers();
                self.path = Some(Path {
                    start: range.start,
                    rectangle: rectangle.map(|[x, y, width, height]| [x, y, x + width, y + height]),
                });
            }
            b"W" | b"W*" => {
                let start = self.path.as_ref().map_or(range.start, |path| path.start);
                self.change_surroundings(start..range.end);
                self.clip();
            }
            b"n" => self.path = None,
            b"S" | b"s" | b"f" | b"F" | b"f*" | b"B" | b"B*" | b"b" | b"b*" => {
                if let Some(path) = self.path.take() {
                    self.decoration(path.start..range.end);
                }
            }
            b"sh" => self.decoration(range),
            b"Do" => self.external_object(range),
            b"q" => self.save(range.start)?,
            b"Q" => self.restore(range.end),
            b"cm" => {
                if self.levels.len() == 1 {
                    self.matrix = self.operands.numbers().unwrap_or(self.matrix);
                }
                self.change_surroundings(range);
            }
            b"BT" => {
                self.line = None;
                self.text = Some(OpenText {
                    start: range.start,
                    line: None,
                    is_untagged: false,
                    is_tagged: false,
                });
            }
            b"Tf" => self.font_size = self.operands.numbers.last().copied(),
            b"Tm" => self.line = self.horizontal_line(),
            b"Td" if self.operands.numbers.get(1) == Some(&b"0".as_slice()) => {}
            b"Td" | b"TD" | b"T*" => self.line = None,
            b"Tj" | b"TJ" | b"'" | b"\"" => self.show_text(),
            b"ET" => self.end_text(range.end),
            b"BMC" | b"BDC" => self.begin_marked_content(range)?,
            b"EMC" => {
                self.end_decoration();
                let ended = self.marks.open.pop().unwrap_or(Mark::Other);
                self.marks.tagging -= usize::from(ended != Mark::Other);
                self.marks.content -= usize::from(ended == Mark::Content);
            }
            _ => {}
        }
        Ok(())
    }

    fn change_surroundings(&mut self, by: Operators) {
        if let Some(level) = self.levels.last_mut() {
            let mut digest = DefaultHasher::new();
            (level.surroundings, self.content.get(by)).hash(&mut digest);
            level.surroundings = digest.finish();
        }
    }

    /// Returns the line that the operands of `Tm` begin.
    fn horizontal_line(&self) -> Option<Line<'c>> {
        match *self.operands.numbers.as_slice() {
            [_, b"0", b"0", _, _, baseline] => Some(Line {
                surroundings: self.levels.last()?.surroundings,
                baseline,
                size: self.font_size?,
            }),
            _ => None,
        }
    }

    fn show_text(&mut self) {
        if self.marks.content > 0
            && let Some(tagged) = &mut self.tagged
        {
            if !self.tagged_has_text {
                tagged.first_line = self.line;
            }
            tagged.last_line = self.line;
            self.tagged_has_text = true;
        }
        if let Some(text) = &mut self.text {
            if self.marks.tagging > 0 {
                text.is_tagged = true;
            } else {
                text.line = text.line.filter(|_| text.is_untagged).or(self.line);
                text.is_untagged = true;
            }
        }
    }

    fn decoration(&mut self, range: Operators) {
        if self.marks.tagging == 0
            && let Some(level) = self.levels.last_mut()
        {
            let start = level.decoration.as_ref().map_or(range.start, |run| run.start);
            level.decoration = Some(start..range.end);
        }
    }

    /// Ends the decoration of all levels.
    fn end_decoration(&mut self) {
        for level in &mut self.levels {
            level.is_mixed = true;
            self.found.decoration.extend(level.decoration.take());
        }
    }

    fn save(&mut self, start: usize) -> Result<(), PdfError> {
        if self.levels.len() > MAX_NESTING {
            return Err(PdfError::damaged(start, "a content stream nested too deeply"));
        }
        let (is_clipped, surroundings) = self
            .levels
            .last()
            .map_or((false, 0), |level| (level.is_clipped, level.surroundings));
        self.levels.push(Level {
            start,
            is_clipped,
            surroundings,
            ..Level::default()
        });
        Ok(())
    }

    fn restore(&mut self, end: usize) {
        let [.., outer, inner] = self.levels.as_mut_slice() else {
            return;
        };
        let run = inner.decoration.take();
        if inner.is_mixed {
            self.found.decoration.extend(run);
        } else if run.is_some() {
            let start = outer.decoration.as_ref().map_or(inner.start, |run| run.start);
            outer.decoration = Some(start..end);
        }
        self.levels.pop();
    }

    /// Notes where Chromium's header and footer begin: after all tagged content, clipped to the whole page, whereas the
    /// content is clipped to the area within its margins.
    fn clip(&mut self) {
        let is_outermost = self.levels.len() == 2;
        let Some(level) = self.levels.last_mut() else { return };
        level.is_clipped = true;
        let start = level.start;
        if is_outermost
            && let Some(media_box) = self.media_box
            && let Some(rectangle) = self.path.as_ref().and_then(|path| path.rectangle)
            && covers(self.matrix, rectangle, media_box)
        {
            self.found.footer_start = self.found.footer_start.min(start);
        }
    }

    fn external_object(&mut self, range: Operators) {
        let Some(name) = self.operands.name else { return };
        match (self.drawn)(name) {
            Drawn::Decoration => self.decoration(range),
            Drawn::Text | Drawn::Tagged if self.marks.tagging > 0 => self.found.marked_forms.push(name),
            Drawn::Text | Drawn::Tagged => {
                self.end_decoration();
                self.found.forms.push(name);
            }
            Drawn::Repeated => {
                self.found.repeated_forms.push((name, range.clone()));
                self.decoration(range);
            }
        }
    }

    fn end_text(&mut self, end: usize) {
        let Some(text) = self.text.take().filter(|text| text.is_untagged && !text.is_tagged) else {
            return;
        };
        self.end_decoration();
        let is_clipped = self.levels.last().is_some_and(|level| level.is_clipped);
        if self.media_box.is_some() && !is_clipped && !self.has_content {
            self.found.margins_end = end;
        }
        self.found.texts.push(Text {
            range: text.start..end,
            line: text.line,
            before: self.tagged,
            after: None,
        });
    }

    fn begin_marked_content(&mut self, range: Operators) -> Result<(), PdfError> {
        if self.marks.open.len() > MAX_NESTING {
            return Err(PdfError::damaged(range.start, "a content stream nested too deeply"));
        }
        self.end_decoration();
        let mark = if self.operands.identifier.is_some() {
            Mark::Content
        } else if self.operands.name == Some(b"Artifact") {
            Mark::Artifact
        } else {
            Mark::Other
        };
        self.marks.open.push(mark);
        self.marks.tagging += usize::from(mark != Mark::Other);
        self.marks.content += usize::from(mark == Mark::Content);
        if mark == Mark::Content {
            self.found.tags.push(range);
            self.fills_page |= self.found.footer_start < self.content.len();
            self.has_content |= self.levels.last().is_some_and(|level| level.is_clipped);
            self.end_tagged();
            self.tagged = self.operands.identifier().map(|identifier| Tagged {
                identifier,
                first_line: None,
                last_line: None,
            });
        }
        Ok(())
    }

    /// Notes the last tagged content as that after the texts that were before it.
    fn end_tagged(&mut self) {
        for text in &mut self.found.texts[self.waiting.clone()] {
            text.after = self.tagged;
        }
        self.waiting = self.waiting.end..self.found.texts.len();
        self.tagged_has_text = false;
    }
}

/// Returns whether a rectangle, transformed by a matrix without rotation, covers another one.
fn covers(matrix: [f64; 6], rectangle: [f64; 4], other: [f64; 4]) -> bool {
    let is_covered = |axis: usize| {
        let placed = |corner: f64| corner * matrix[3 * axis] + matrix[4 + axis];
        let (start, end) = (placed(rectangle[axis]), placed(rectangle[axis + 2]));
        start.min(end) < other[axis] + TOLERANCE && start.max(end) > other[axis + 2] - TOLERANCE
    };
    is_covered(0) && is_covered(1)
}
