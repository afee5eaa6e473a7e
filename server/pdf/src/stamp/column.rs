//! Separates stamps that were printed on one tall page, in boxes below each other.
//!
//! Each box is clipped to its bounds. So its content consists of the groups, from `q` to `Q`, that begin with a clip
//! within those bounds.

use std::ops::RangeInclusive;

use super::Stamp;
use crate::PdfError;
use crate::content::{StreamReader, replace_data};
use crate::document::Document;
use crate::lexer::{Lexer, Token};
use crate::object::{Dictionary, Object, ObjectNumber, Stream};
use crate::page_tree::media_box;
use crate::parse::parse_number;

/// Tolerance in points. Boxes are further apart, and rounding errors are smaller.
const TOLERANCE: f64 = 0.5;

/// Inverse of the precision of coordinates. Chromium writes as many digits.
const PRECISION: f64 = 1e5;

/// A tall page, split into its boxes.
#[derive(Debug)]
pub(crate) struct Column<'a> {
    /// Upper left corner of the page, in points.
    left: f64,
    top: f64,
    /// Distance from the top of a box to the top of the next, in points.
    pitch: f64,
    /// Content before every group, which sets the coordinate system.
    start: Vec<u8>,
    boxes: Vec<Content<'a>>,
    /// A reference, because all boxes share them.
    resources: Object<'a>,
}

/// Content of a box.
#[derive(Debug, Default)]
struct Content<'a> {
    groups: Vec<u8>,
    links: Vec<Dictionary<'a>>,
}

impl<'a> Column<'a> {
    /// Splits a page into `count` boxes.
    pub(crate) fn cut(
        document: &mut Document<'a>,
        number: ObjectNumber,
        pitch: f64,
        count: usize,
    ) -> Result<Self, PdfError> {
        let page = document.get_dictionary(number, "expected a page")?;
        let [left, _, _, top] = media_box(&page).ok_or_else(|| document.damaged(number, "expected a /MediaBox"))?;
        let Some(Object::Stream(stream)) = page
            .get("Contents")
            .map(|content| document.resolve(content))
            .transpose()?
        else {
            return Err(document.damaged(number, "expected a single content stream"));
        };
        let mut content = Vec::new();
        let read = StreamReader::default().read(&stream, &mut content);
        read.map_err(|what| document.damaged(number, what))?;
        let resources = document.resolve_dictionary(&page, "Resources")?;
        let mut column = Self {
            left,
            top,
            pitch,
            start: Vec::new(),
            boxes: std::iter::repeat_with(Content::default).take(count).collect(),
            resources: Object::Reference(document.add(Object::Dictionary(resources))),
        };
        let cut = column.take_groups(&content);
        cut.ok_or_else(|| document.damaged(number, "expected content in boxes, each clipped to its bounds"))?;
        for link in page.items("Annots").iter().filter_map(Object::as_reference) {
            let link = document.get_dictionary(link, "expected a link")?;
            column
                .take_link(link)
                .ok_or_else(|| document.damaged(number, "expected links within boxes"))?;
        }
        Ok(column)
    }

    /// Takes the content of a box, counted from 0, as a stamp. The corners are those of the page to draw it on, in
    /// points; the upper left corners of box and page coincide.
    pub(crate) fn stamp(
        &mut self,
        document: &mut Document<'a>,
        index: usize,
        [left, bottom, right, top]: [f64; 4],
    ) -> Stamp<'a> {
        let Content { groups, links } = self.boxes.get_mut(index).map(std::mem::take).unwrap_or_default();
        let box_top = self.top - index as f64 * self.pitch;
        let (x, y) = (left - self.left, top - box_top);
        let number = |number: f64| Object::Real((number * PRECISION).round() / PRECISION);
        let numbers = |numbers: &[f64]| numbers.iter().copied().map(number).collect();
        let dictionary = Dictionary::new([
            ("Type", Object::name("XObject")),
            ("Subtype", Object::name("Form")),
            ("BBox", numbers(&[left - x, bottom - y, right - x, top - y])),
            ("Matrix", numbers(&[1.0, 0.0, 0.0, 1.0, x, y])),
            ("Resources", self.resources.clone()),
        ]);
        let mut form = Stream::plain(dictionary, b"".as_slice());
        replace_data(&mut form, &[self.start.as_slice(), &groups].concat());
        let links = links.into_iter().map(|mut link| {
            let corners = link.items("Rect").iter().filter_map(Object::as_number);
            let moved = corners.zip([x, y, x, y]).map(|(corner, by)| number(corner + by));
            let moved = moved.collect();
            link.set("Rect", moved);
            Object::Reference(document.add(Object::Dictionary(link)))
        });
        Stamp {
            form,
            links: links.collect(),
        }
    }

    /// Returns the index of the box that contains a range of heights, in points from the bottom, as everywhere in PDF.
    fn box_of(&self, heights: &RangeInclusive<f64>) -> Option<usize> {
        let index = ((self.top - heights.end() + TOLERANCE) / self.pitch).floor();
        let box_bottom = self.top - (index + 1.0) * self.pitch;
        let is_within = index >= 0.0 && *heights.start() > box_bottom - TOLERANCE;
        Some(index as usize).filter(|index| is_within && *index < self.boxes.len())
    }

    fn take_link(&mut self, mut link: Dictionary<'a>) -> Option<()> {
        link.remove("P");
        let corners: Vec<f64> = link.items("Rect").iter().filter_map(Object::as_number).collect();
        let [_, bottom, _, top] = corners[..] else { return None };
        let middle = f64::midpoint(bottom, top);
        let index = self.box_of(&(middle..=middle))?;
        self.boxes[index].links.push(link);
        Some(())
    }

    /// Assigns each group to its box. Returns `None` if a group belongs to no box.
    fn take_groups(&mut self, content: &[u8]) -> Option<()> {
        let mut lexer = Lexer::new(content, 0);
        let mut numbers = Vec::new();
        let mut scale = None;
        let mut depth = 0_usize;
        let mut group_start = 0;
        let mut clips = Clips::default();
        while let Some((offset, token)) = lexer.next_token().ok()? {
            match token {
                // No relevant operator has more operands.
                Token::Number(_) if numbers.len() > 6 => {}
                Token::Number(raw) => numbers.push(parse_number(raw)?.as_number()?),
                Token::Keyword(operator) => {
                    match (operator, depth) {
                        (b"cm", 0) if scale.is_none() => {
                            let [_, _, _, vertical, _, origin] = numbers[..] else {
                                return None;
                            };
                            scale = Some((vertical, origin));
                            self.start = [&content[..lexer.position()], b"\n"].concat();
                        }
                        (b"q", 0) => {
                            depth = 1;
                            group_start = offset;
                            clips = Clips::default();
                        }
                        (_, 0) => return None,
                        (b"q", _) => depth += 1,
                        (b"Q", 1) => {
                            depth = 0;
                            let (vertical, origin) = scale?;
                            let index = clips.found.iter().find_map(|(from, to)| {
                                let ends = [from, to].map(|end| end * vertical + origin);
                                self.box_of(&(ends[0].min(ends[1])..=ends[0].max(ends[1])))
                            })?;
                            let groups = &mut self.boxes[index].groups;
                            groups.extend_from_slice(&content[group_start..lexer.position()]);
                            groups.push(b'\n');
                        }
                        (b"Q", _) => depth -= 1,
                        _ => clips.read(operator, &numbers),
                    }
                    numbers.clear();
                }
                _ => {}
            }
        }
        (depth == 0).then_some(())
    }
}

/// The clips at the beginning of a group, before anything is drawn and before the coordinate system changes.
#[derive(Debug, Default)]
struct Clips {
    /// Vertical range of each clip, from lower to higher coordinates of the content.
    found: Vec<(f64, f64)>,
    path: Option<(f64, f64)>,
    has_ended: bool,
}

impl Clips {
    fn read(&mut self, operator: &[u8], numbers: &[f64]) {
        if self.has_ended {
            return;
        }
        match (operator, numbers) {
            (b"re", [_, y, _, height]) => {
                self.extend(*y);
                self.extend(y + height);
            }
            (b"m" | b"l" | b"c" | b"v" | b"y", points) => {
                for point in points.chunks_exact(2) {
                    self.extend(point[1]);
                }
            }
            (b"W" | b"W*", _) => self.found.extend(self.path),
            (b"n", _) => self.path = None,
            (b"h", _) => {}
            _ => self.has_ended = true,
        }
    }

    fn extend(&mut self, y: f64) {
        let (least, most) = self.path.unwrap_or((y, y));
        self.path = Some((least.min(y), most.max(y)));
    }
}
