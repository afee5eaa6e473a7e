//! What is painted on a page, and where: content of elements, and text that belongs to none.

use std::collections::BTreeMap;

use crate::check::places::area::Area;
use crate::check::places::painter::{Canvas, Owner, Painted, Shape, ShownText, TextObject};
use crate::object::ObjectNumber;

/// Marked content by the page or form that contains it, and its identifier.
pub(super) type Content = (ObjectNumber, i64);

/// Baselines that are no farther apart, in points, are of one line.
const LINE_HEIGHT: f64 = 0.5;

#[derive(Default)]
pub(super) struct PaintedPage {
    pub(super) contents: BTreeMap<Content, PaintedContent>,
    /// In the order in which they are painted.
    pub(super) texts: Vec<LooseText>,
    last: Option<Content>,
    /// Number of texts that were painted before the last content.
    followed: usize,
    /// By the height of their baselines, in units of [`LINE_HEIGHT`].
    lines: BTreeMap<i64, Line>,
}

/// Content of an element.
pub(super) struct PaintedContent {
    pub(super) area: Area,
    /// Baseline of its first text.
    pub(super) first_line: Option<f64>,
    pub(super) last_line: Option<f64>,
}

/// A text object.
pub(super) struct LooseText {
    pub(super) object: TextObject,
    pub(super) area: Area,
    /// `None` if it isn't horizontal.
    pub(super) baseline: Option<f64>,
    /// The content painted before and after it.
    pub(super) before: Option<Content>,
    pub(super) after: Option<Content>,
}

/// The contents at the ends of a line, with the ends.
#[derive(Clone, Copy)]
struct Line {
    left: (f64, Content),
    right: (f64, Content),
}

impl Canvas for PaintedPage {
    fn paint(&mut self, painted: Painted) {
        let Painted {
            owner,
            area,
            text,
            shape,
            ..
        } = painted;
        let Some(area) = area.filter(|_| !matches!(shape, Shape::Repeated)) else {
            return;
        };
        match (owner, text) {
            (Owner::Content(stream, identifier), text) => {
                self.add_content((stream, identifier), area, text.and_then(|text| text.baseline));
            }
            (Owner::Nothing, Some(text)) => self.add_text(area, &text),
            (Owner::Nothing | Owner::Artifact, _) => {}
        }
    }
}

impl PaintedPage {
    fn add_content(&mut self, content: Content, area: Area, baseline: Option<f64>) {
        let painted = self.contents.entry(content).or_insert(PaintedContent {
            area,
            first_line: baseline,
            last_line: None,
        });
        painted.area = painted.area.and(area);
        painted.first_line = painted.first_line.or(baseline);
        painted.last_line = baseline.or(painted.last_line);
        for text in &mut self.texts[self.followed..] {
            text.after = Some(content);
        }
        self.followed = self.texts.len();
        self.last = Some(content);
        if let Some(baseline) = baseline {
            let (left, right) = ((area.left(), content), (area.right(), content));
            let line = self.lines.entry(line_key(baseline)).or_insert(Line { left, right });
            if left.0 < line.left.0 {
                line.left = left;
            }
            if right.0 > line.right.0 {
                line.right = right;
            }
        }
    }

    fn add_text(&mut self, area: Area, text: &ShownText) {
        match self.texts.last_mut() {
            Some(last) if last.object == text.text_object => last.area = last.area.and(area),
            _ => self.texts.push(LooseText {
                object: text.text_object,
                area,
                baseline: text.baseline,
                before: self.last,
                after: None,
            }),
        }
    }

    /// Returns the content at an end of the text's line, and whether the text is after it, if all content of the line is
    /// on one side of the text.
    pub(super) fn beside_on_line(&self, text: &LooseText) -> Option<(Content, bool)> {
        let key = line_key(text.baseline?);
        let lines = self
            .lines
            .range(key.saturating_sub(1)..=key.saturating_add(1))
            .map(|(_, line)| *line);
        let line = lines.reduce(|one, other| Line {
            left: if other.left.0 < one.left.0 {
                other.left
            } else {
                one.left
            },
            right: if other.right.0 > one.right.0 {
                other.right
            } else {
                one.right
            },
        })?;
        if text.area.right() <= line.left.0 {
            Some((line.left.1, false))
        } else if text.area.left() >= line.right.0 {
            Some((line.right.1, true))
        } else {
            None
        }
    }
}

/// Returns the key of the line with this baseline.
fn line_key(baseline: f64) -> i64 {
    (baseline / LINE_HEIGHT).round() as i64
}

impl LooseText {
    /// Returns whether a baseline is that of the text, which may be raised or lowered by half its height.
    pub(super) fn is_on_line(&self, baseline: Option<f64>) -> bool {
        let distance = self.baseline.zip(baseline).map(|(own, other)| (own - other).abs());
        distance.is_some_and(|distance| distance <= self.area.height() / 2.0)
    }
}
