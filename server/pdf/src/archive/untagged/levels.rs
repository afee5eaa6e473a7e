//! The levels of the graphics state, from `q` to `Q`, and the decoration painted on each.

use super::{MAX_NESTING, Operators};
use crate::PdfError;

#[derive(Default)]
pub(super) struct Level {
    /// Offset of its `q`.
    pub(super) start: usize,
    /// Decoration that further operators may extend.
    decoration: Option<Operators>,
    /// Whether it contains anything other than decoration.
    is_mixed: bool,
    pub(super) is_clipped: bool,
    /// Digest of clip and transformation.
    pub(super) surroundings: u64,
}

/// The open levels. The outermost is that of the whole stream, and is always open.
pub(super) struct Levels {
    outermost: Level,
    inner: Vec<Level>,
    /// Decoration that has ended, in no particular order.
    pub(super) ended: Vec<Operators>,
}

impl Levels {
    pub(super) fn new() -> Self {
        Self {
            outermost: Level::default(),
            inner: Vec::new(),
            ended: Vec::new(),
        }
    }

    /// Returns the number of levels within the outermost.
    pub(super) fn depth(&self) -> usize {
        self.inner.len()
    }

    pub(super) fn current(&self) -> &Level {
        self.inner.last().unwrap_or(&self.outermost)
    }

    pub(super) fn current_mut(&mut self) -> &mut Level {
        self.inner.last_mut().unwrap_or(&mut self.outermost)
    }

    pub(super) fn save(&mut self, start: usize) -> Result<(), PdfError> {
        if self.inner.len() == MAX_NESTING {
            return Err(PdfError::damaged(start, "a content stream nested too deeply"));
        }
        let Level {
            is_clipped,
            surroundings,
            ..
        } = *self.current();
        self.inner.push(Level {
            start,
            is_clipped,
            surroundings,
            ..Level::default()
        });
        Ok(())
    }

    /// Closes a level. If it is decoration as a whole, so are its `q` and `Q`.
    pub(super) fn restore(&mut self, end: usize) {
        let Some(level) = self.inner.pop() else { return };
        match level.decoration {
            Some(run) if level.is_mixed => self.ended.push(run),
            Some(_) => self.current_mut().extend_decoration(level.start..end),
            None => {}
        }
    }

    /// Adds decoration.
    pub(super) fn decorate(&mut self, range: Operators) {
        self.current_mut().extend_decoration(range);
    }

    /// Ends the decoration of all levels, because of something else.
    pub(super) fn end_decoration(&mut self) {
        for level in self.inner.iter_mut().rev().chain([&mut self.outermost]) {
            let run = level.decoration.take();
            // Below a level that has ended, all have: they can't change while it is open.
            if run.is_none() && level.is_mixed {
                return;
            }
            level.is_mixed = true;
            self.ended.extend(run);
        }
    }
}

impl Level {
    fn extend_decoration(&mut self, range: Operators) {
        let start = self.decoration.as_ref().map_or(range.start, |run| run.start);
        self.decoration = Some(start..range.end);
    }

    /// Notes an operator that changes clip or transformation.
    pub(super) fn change_surroundings(&mut self, operator: &[u8]) {
        self.surroundings = digest(self.surroundings, operator);
    }
}

/// Returns a digest of a text and what came before it. There are two for each text of a table, so it is a simple one: one of chance
/// collisions only.
fn digest(before: u64, text: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let (words, rest) = text.as_chunks();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let digest = words.iter().chain([&last]).fold(before, |digest, word| {
        (digest ^ u64::from_le_bytes(*word))
            .wrapping_mul(FACTOR)
            .rotate_left(32)
    });
    digest ^ text.len() as u64
}
