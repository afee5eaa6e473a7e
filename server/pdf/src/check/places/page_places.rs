//! Places of marked content, and of content without marks, on one page.

use std::collections::BTreeMap;

use super::MAX_RUNS;
use super::area::Spot;
use super::painter::{Canvas, Owner, Painted, Shape};
use crate::object::ObjectNumber;

/// Places on one page.
#[derive(Default)]
pub(super) struct PagePlaces {
    /// Marked content by the page or form that contains it, and its identifier.
    pub(super) contents: BTreeMap<(ObjectNumber, i64), Spot>,
    /// The first [`MAX_RUNS`] runs of text that is neither tagged nor an artifact.
    pub(super) untagged_texts: Vec<Spot>,
    /// The first runs of such graphics.
    pub(super) untagged_graphics: Vec<Spot>,
    run: Run,
}

/// What was painted last without a mark, so that a run of it is one place.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Run {
    #[default]
    None,
    Text,
    Graphics,
}

impl Canvas for PagePlaces {
    fn paint(&mut self, painted: Painted) {
        let Painted {
            owner,
            area,
            text,
            shape,
            ..
        } = painted;
        if matches!(shape, Shape::Repeated) {
            return;
        }
        let spot = match owner {
            Owner::Artifact => return self.run = Run::None,
            Owner::Content(stream, identifier) => {
                self.run = Run::None;
                self.contents.entry((stream, identifier)).or_default()
            }
            Owner::Nothing => {
                let (run, runs) = match text {
                    Some(_) => (Run::Text, &mut self.untagged_texts),
                    None => (Run::Graphics, &mut self.untagged_graphics),
                };
                if self.run != run || runs.is_empty() {
                    if runs.len() == MAX_RUNS {
                        return self.run = Run::None;
                    }
                    runs.push(Spot::default());
                }
                self.run = run;
                let Some(spot) = runs.last_mut() else { return };
                spot
            }
        };
        let characters = text.map_or_else(Vec::new, |text| text.characters());
        spot.add(area, &characters);
    }
}
