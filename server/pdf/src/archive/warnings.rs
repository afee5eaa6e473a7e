//! Collects a limited number of warnings per code, because a page can contain a million links.

use std::collections::BTreeMap;

use crate::Warning;

/// Warnings of one code that are retained; the others are counted.
const MAX_PER_CODE: usize = 20;

#[derive(Debug, Default)]
pub(crate) struct Warnings {
    warnings: Vec<Warning>,
    counts: BTreeMap<&'static str, usize>,
}

impl Warnings {
    pub(crate) fn add(&mut self, code: &'static str, message: String) {
        let count = self.counts.entry(code).or_default();
        *count += 1;
        if *count <= MAX_PER_CODE {
            self.warnings.push(Warning { code, message });
        }
    }

    pub(crate) fn finish(mut self) -> Vec<Warning> {
        for (code, count) in self.counts {
            if count > MAX_PER_CODE {
                let message = format!("{} more of this kind are not listed.", count - MAX_PER_CODE);
                self.warnings.push(Warning { code, message });
            }
        }
        self.warnings
    }
}
