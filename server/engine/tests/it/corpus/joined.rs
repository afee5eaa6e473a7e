//! Documents joined from groups of pages, and selections from them.

use std::{fs, path::Path};

use platen_pdf::{PageSelection, PrintedPart, assemble};

use super::{
    Outcome,
    inventory::{Inventory, PageInventory},
    look::{self, Fingerprint},
    single::{Single, archival},
};

/// Number of parts of a joined document.
const GROUP: usize = 12;

/// Origin of a page of a joined document.
struct Origin<'a> {
    single: &'a Single<'a>,
    /// Zero-based index of the page in the part.
    index: usize,
}

impl Origin<'_> {
    fn inventory(&self) -> &PageInventory {
        &self.single.inventory.pages[self.index]
    }

    /// Returns the fingerprint of the page, or `None` beyond the pages that are compared.
    fn look(&self) -> Option<&Fingerprint> {
        self.single.looks.get(self.index)
    }
}

/// Splits pages into groups. Pages with similar names are similar, so each group takes pages at regular intervals.
pub(super) fn groups<'a>(singles: &'a [Single<'a>]) -> Vec<Vec<&'a Single<'a>>> {
    let count = singles.len().div_ceil(GROUP);
    let group = |start| singles.iter().skip(start).step_by(count).collect();
    (0..count).map(group).collect()
}

/// Joins a group, and selects pages of it: of each three parts, all pages of one, no page of one, every other page of
/// one.
pub(super) fn check(group: &Vec<&Single>, folder: &Path) -> Outcome {
    let mut outcome = Outcome::default();
    let name = format!("joined with {}", group[0].printed.name);
    let origins: Vec<Origin> = group
        .iter()
        .flat_map(|single| (0..single.inventory.pages.len()).map(|index| Origin { single, index }))
        .collect();
    let Some(joined) = write(group, None, &name, &origins, folder, &mut outcome) else {
        return outcome;
    };
    let sum = |count: fn(&Inventory) -> usize| group.iter().map(|single| count(&single.inventory)).sum::<usize>();
    let languages: Option<Vec<&String>> = group.iter().map(|single| single.inventory.language.as_ref()).collect();
    // One outline entry for each part, and one tag around all. A part without a language inherits none.
    let expected = (
        sum(|part| part.outline_entries) + group.len(),
        sum(|part| part.tags) + 1,
        languages.and_then(|languages| languages.first().copied()),
    );
    let found = (joined.outline_entries, joined.tags, joined.language.as_ref());
    if found != expected {
        outcome.problems.push(format!(
            "{name}: outline, tags and language are {found:?}, not {expected:?}"
        ));
    }

    let is_selected = |origin: &Origin| match group.iter().position(|single| std::ptr::eq(*single, origin.single)) {
        Some(part) if part % 3 == 1 => false,
        Some(part) => part % 3 == 0 || origin.index.is_multiple_of(2),
        None => false,
    };
    let (numbers, origins): (Vec<String>, Vec<Origin>) = origins
        .into_iter()
        .enumerate()
        .filter(|(_, origin)| is_selected(origin))
        .map(|(index, origin)| ((index + 1).to_string(), origin))
        .unzip();
    let selection = PageSelection::parse(&numbers.join(",")).expect("a selection");
    let name = format!("selected from {}", group[0].printed.name);
    let selected = write(group, Some(selection), &name, &origins, folder, &mut outcome);
    // Outline entries of whole parts remain, and the entry of each part with selected pages.
    let whole = group.iter().step_by(3).map(|single| single.inventory.outline_entries);
    let parts = (0..group.len()).filter(|part| part % 3 != 1).count();
    let least = whole.sum::<usize>() + parts;
    if let Some(found) = selected
        .map(|selected| selected.outline_entries)
        .filter(|found| *found < least)
    {
        let problem = format!("{name}: {found} entries in the outline, not at least {least}");
        outcome.problems.push(problem);
    }
    outcome
}

/// Assembles a document and compares each page with its origin. Returns `None` if it can't be assembled.
fn write(
    group: &[&Single],
    selection: Option<PageSelection>,
    name: &str,
    origins: &[Origin],
    folder: &Path,
    outcome: &mut Outcome,
) -> Option<Inventory> {
    let is_whole = selection.is_none();
    let parts = group.iter().map(|single| PrintedPart {
        bytes: single.printed.pdf.as_slice().into(),
        facts: single.facts.clone(),
    });
    let assembled = match assemble(archival(parts.collect(), selection)) {
        Ok(assembled) => assembled.bytes,
        Err(error) => {
            outcome.problems.push(format!("{name}: {error}"));
            return None;
        }
    };
    let file = folder.join(format!("{name}.pdf"));
    fs::write(&file, &assembled).unwrap();

    let inventory = Inventory::of(&file);
    if inventory.pages.len() != origins.len() {
        let found = inventory.pages.len();
        outcome
            .problems
            .push(format!("{name}: {found} pages, not {}", origins.len()));
    }
    let mut problem = |number: usize, origin: &Origin, what: &str| {
        let (page, part) = (origin.index + 1, &origin.single.printed.name);
        outcome
            .problems
            .push(format!("{name}, page {number}, which is page {page} of {part}: {what}"));
    };
    for ((found, origin), number) in inventory.pages.iter().zip(origins).zip(1..) {
        let mut expected = origin.inventory().clone();
        if !is_whole {
            // Links to pages that were not selected are removed; none is added.
            expected.inner_links = expected.inner_links.min(found.inner_links);
        }
        if *found != expected {
            problem(number, origin, &format!("has {found:?}, alone {expected:?}"));
        }
    }
    let looked_at: Vec<(usize, &Origin, &Fingerprint)> = (1..)
        .zip(origins)
        .filter_map(|(number, origin)| Some((number, origin, origin.look()?)))
        .collect();
    let pages: Vec<usize> = looked_at.iter().map(|(number, ..)| *number).collect();
    let looks = look::of(&file, &assembled, &pages);
    for (look, (number, origin, expected)) in looks.iter().zip(looked_at) {
        let differences = look.fingerprint().differences(expected);
        if !differences.is_empty() {
            problem(number, origin, &differences.join(", "));
        }
    }
    outcome.files.push(file);
    Some(inventory)
}
