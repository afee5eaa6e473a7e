//! Decides where in the structure text is read: after the content that is painted before it, if it is also below it or
//! beside it, and the content that is read next is not.

use super::super::ancestry::{Ancestry, Element};
use super::super::structure_tree::StructureTree;
use super::Block;
use super::painted_page::{Content, LooseText, PaintedPage};
use super::reading_order::ReadingOrder;
use crate::PdfError;
use crate::document::Document;
use crate::object::ObjectNumber;

/// Most contents between what is painted before a text and what is read before it.
const MAX_SKIPPED: usize = 64;
/// Elements between whose kids no text can be. Cells are on one line, so their line doesn't tell which one text is in.
const TABLES: [&str; 5] = ["Table", "THead", "TBody", "TFoot", "TR"];
const LISTS: [&str; 2] = ["L", "LI"];
/// Elements that consist of lines.
const BLOCKS: [&str; 11] = [
    "P",
    "H",
    "H1",
    "H2",
    "H3",
    "H4",
    "H5",
    "H6",
    "LBody",
    "Caption",
    "BlockQuote",
];
/// Elements whose content is not read if they have an alternative text.
const PICTURES: [&str; 2] = ["Figure", "Formula"];
/// Elements whose kids are parts of a line or paragraph.
const WITHIN_TEXT: [&str; 18] = [
    "P", "H", "H1", "H2", "H3", "H4", "H5", "H6", "Lbl", "Span", "Link", "Quote", "Code", "Em", "Strong", "Form",
    "Figure", "Formula",
];

/// A place for an element among the kids of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Position {
    pub(super) parent: ObjectNumber,
    /// The kid beside it.
    pub(super) beside: Beside,
    pub(super) is_after: bool,
    /// Type of the element.
    pub(super) kind: &'static str,
}

/// A kid of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Beside {
    Element(ObjectNumber),
    Content(Content),
}

/// Determines positions. Everything is read once for the whole document.
pub(super) struct Positions<'a> {
    order: ReadingOrder,
    ancestry: Ancestry<'a>,
}

/// A gap in the reading order, between two contents of which one may be missing.
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one text")]
#[derive(Clone, Copy)]
struct Gap {
    /// Ranks in the reading order.
    left: Option<usize>,
    right: Option<usize>,
    /// Whether text there continues what is read before it.
    follows_left: bool,
    /// Whether it is inside the area of what is read before it, such as the border of a form field.
    is_inside_left: bool,
    is_on_left_line: bool,
    is_on_right_line: bool,
}

impl<'a> Positions<'a> {
    pub(super) fn new(document: &Document<'a>, structure: &StructureTree<'a>) -> Result<Self, PdfError> {
        Ok(Self {
            order: ReadingOrder::read(document, structure.root())?,
            ancestry: Ancestry::default(),
        })
    }

    /// Returns the texts of a page that have a position, in blocks of one line each.
    pub(super) fn blocks(&mut self, document: &Document<'a>, page: &PaintedPage) -> Result<Vec<Block>, PdfError> {
        let ranks = page.contents.keys().filter_map(|content| self.order.rank(*content));
        let mut ranks: Vec<usize> = ranks.collect();
        ranks.sort_unstable();
        let mut blocks: Vec<Block> = Vec::new();
        let mut last: Option<(Gap, &LooseText)> = None;
        for text in &page.texts {
            let is_next = |gap: &Gap| {
                let former = last.filter(|(former, _)| former.left == gap.left && former.right == gap.right);
                former.is_none_or(|(_, former)| follows(text, former))
            };
            let gap = self.gap_in_order(page, &ranks, text).filter(is_next);
            let Some(gap) = gap.or_else(|| self.gap_on_line(page, text).filter(is_next)) else {
                continue;
            };
            let is_same_line = last.is_some_and(|(former, other)| {
                former.left == gap.left && former.right == gap.right && text.is_on_line(other.baseline)
            });
            if let Some(block) = blocks.last_mut().filter(|_| is_same_line) {
                block.texts.push(text.object);
            } else if let Some(position) = self.position(document, gap)? {
                let texts = vec![text.object];
                blocks.push(Block { position, texts });
            } else {
                continue;
            }
            last = Some((gap, text));
        }
        Ok(blocks)
    }

    /// Returns the gap after the content that is painted before a text, or else at the start of the page, if the text is
    /// there on the page, too. `ranks` are those of the page's contents, in ascending order.
    fn gap_in_order(&self, page: &PaintedPage, ranks: &[usize], text: &LooseText) -> Option<Gap> {
        let painted = |rank: usize| page.contents.get(&self.order.contents[rank].0);
        let rank = text.before.map(|before| self.order.rank(before));
        // Content without an element has no place in the order.
        let mut rank = rank.map_or(Some(None), |rank| rank.map(Some))?;
        let next = ranks.partition_point(|other| rank.is_some_and(|rank| *other <= rank));
        let mut next = ranks[next..].iter().copied().peekable();
        for _ in 0..MAX_SKIPPED {
            // Translucent content is in forms, which are painted after the text beside them.
            let is_form = |next: &usize| rank.is_some() && self.order.contents[*next].0.0 != text.object.owner;
            let is_above = |next: &usize| painted(*next).is_some_and(|next| next.area.precedes(&text.area));
            match next.next_if(|next| is_form(next) && is_above(next)) {
                Some(skipped) => rank = Some(skipped),
                None => break,
            }
        }
        let next = next.next();
        let next_content = next.map(|next| self.order.contents[next].0);
        let before = rank.and_then(painted);
        let after = next.and_then(painted);
        // What is painted and read before and after the text is the same, so it may be in another column.
        let is_in_flow = next.is_some() && next == rank.map(|rank| rank + 1) && next_content == text.after;
        let is_after = before.is_none_or(|before| {
            before.area.contains(&text.area)
                || before.area.precedes(&text.area)
                || is_in_flow && before.area.right() <= text.area.left()
        });
        let is_before = after.is_none_or(|after| text.area.precedes(&after.area));
        let fits = match text.baseline {
            Some(_) => is_after && is_before,
            // Text across the page, such as a stamp, has no line. Below all other content, it is read first.
            None => before.is_none(),
        };
        let (left, right) = match (rank, next) {
            (Some(rank), _) => (Some(rank), Some(rank + 1)),
            (None, Some(next)) => (next.checked_sub(1), Some(next)),
            (None, None) => return None,
        };
        fits.then(|| Gap {
            left,
            right: right.filter(|right| *right < self.order.contents.len()),
            follows_left: before.is_some(),
            is_inside_left: before.is_some_and(|before| before.area.contains(&text.area)),
            is_on_left_line: before.is_some_and(|before| text.is_on_line(before.last_line)),
            is_on_right_line: next == right && after.is_some_and(|after| text.is_on_line(after.first_line)),
        })
    }

    /// Returns the gap beside the content of the same line, such as for the number of a list item, which may be painted
    /// before all other content. Beside other lines of a paragraph than its first and last one, there is no gap.
    fn gap_on_line(&self, page: &PaintedPage, text: &LooseText) -> Option<Gap> {
        let (content, is_after) = page.beside_on_line(text)?;
        let rank = self.order.rank(content)?;
        let painted = page.contents.get(&content)?;
        let (left, right, line) = if is_after {
            (Some(rank), Some(rank + 1), painted.last_line)
        } else {
            (rank.checked_sub(1), Some(rank), painted.first_line)
        };
        // Text that is painted elsewhere in the order may be in another column.
        let is_in_order = text.before.is_none_or(|before| self.order.rank(before) == left);
        (is_in_order && text.is_on_line(line)).then(|| Gap {
            left,
            right: right.filter(|right| *right < self.order.contents.len()),
            follows_left: is_after,
            is_inside_left: false,
            is_on_left_line: is_after,
            is_on_right_line: !is_after,
        })
    }

    /// Returns the position in a gap; `None` if it is between elements that contain only elements of certain types, and
    /// it is doubtful in which of these the text is.
    fn position(&mut self, document: &Document<'a>, gap: Gap) -> Result<Option<Position>, PdfError> {
        let mut path = |rank: Option<usize>| match rank {
            Some(rank) => self.ancestry.path(document, self.order.contents[rank].1),
            None => Ok(Vec::new()),
        };
        let (left, right) = (path(gap.left)?, path(gap.right)?);
        let in_common = left.iter().rev().zip(right.iter().rev());
        let in_common = in_common.take_while(|(one, other)| one.number == other.number).count();
        if in_common == 0 && gap.left.is_some() && gap.right.is_some() {
            return Ok(None);
        }
        let in_common = in_common.max(1);
        let of_left = || {
            let content = self.order.contents[gap.left?].0;
            // Text in a frame or field is part of it; text over a picture isn't, because its alternative text is read.
            let is_box = |element: &Element| {
                [&TABLES[..], &LISTS, &PICTURES, &["Lbl"]]
                    .iter()
                    .all(|kinds| !element.is(kinds))
            };
            if gap.is_inside_left && left.first().is_some_and(is_box) {
                return Some((&left, 0, content, true));
            }
            let index = side(&left, in_common, gap.is_inside_left, gap.is_on_left_line)?;
            Some((&left, index, content, true))
        };
        let of_right = || {
            let content = self.order.contents[gap.right?].0;
            let index = side(&right, in_common, false, gap.is_on_right_line)?;
            Some((&right, index, content, false))
        };
        let found = if gap.follows_left {
            of_left().or_else(of_right)
        } else {
            of_right().or_else(of_left)
        };
        let Some((path, index, content, is_after)) = found else {
            return Ok(None);
        };
        let around = path[index..].iter().find(|element| !element.is(&["NonStruct"]));
        let is_within_text = around.is_some_and(|element| element.is(&WITHIN_TEXT));
        let is_on_line = gap.is_on_left_line || gap.is_on_right_line;
        Ok(Some(Position {
            parent: path[index].number,
            beside: match index.checked_sub(1) {
                Some(kid) => Beside::Element(path[kid].number),
                None => Beside::Content(content),
            },
            is_after,
            kind: if is_within_text || is_on_line { "Span" } else { "P" },
        }))
    }
}

/// Returns whether a text is read after another one of the same gap.
fn follows(text: &LooseText, former: &LooseText) -> bool {
    // Text with a shadow is painted twice.
    former.area.contains(&text.area) || former.area.precedes(&text.area) || former.area.right() <= text.area.left()
}

/// Returns the index in `path` of the parent for text on one side of a gap: as far up in the tree as possible, or in the
/// block that the text is on a line of. `path` are the elements from that of the content beside the text to the root, the
/// last `in_common` of which contain both sides.
fn side(path: &[Element], in_common: usize, is_inside: bool, is_on_line: bool) -> Option<usize> {
    let mut index = path.len().checked_sub(in_common)?;
    loop {
        let kid = index.checked_sub(1).map(|kid| &path[kid]);
        let is_known = if path[index].is(&TABLES) {
            is_inside
        } else if path[index].is(&LISTS) {
            is_inside || is_on_line
        } else if kid.is_some_and(|kid| kid.is(&["Part"])) {
            // Each part of a joined document has its own pages and language.
            true
        } else {
            break;
        };
        index = index.checked_sub(1).filter(|_| is_known)?;
    }
    if is_on_line {
        let below = (0..index).rev().take_while(|index| !path[*index].is(&TABLES));
        index = below
            .into_iter()
            .find(|index| path[*index].is(&BLOCKS))
            .unwrap_or(index);
    }
    Some(index).filter(|index| !path[*index].is(&["Lbl"]))
}
