//! Assets that a template refers to by address, which Chromium doesn't load for headers and footers.

/// Characters that may occur between `url(` and the address.
const BEFORE_ADDRESS: [char; 5] = [' ', '\t', '\n', '"', '\''];

/// Returns whether CSS in the template refers to anything by address. Chromium doesn't load it; this is for the
/// warning.
pub(super) fn are_named_in(template: &str) -> bool {
    let template = template.to_ascii_lowercase();
    let mut addresses = template.split("url(").skip(1);
    addresses.any(|address| !is_within(address.trim_start_matches(BEFORE_ADDRESS))) || template.contains("@import")
}

/// Returns `rules` without `@import` and without addresses: Chromium would wait for them in vain and print nothing.
pub(super) fn without(rules: &str) -> String {
    let lower = rules.to_ascii_lowercase();
    let mut kept = String::with_capacity(rules.len());
    let (mut copied, mut seen) = (0, 0);
    while let Some(at) = lower[seen..].find(['@', 'u']).map(|found| seen + found) {
        let is_import = lower[at..].starts_with("@import");
        if !is_import && !lower[at..].starts_with("url(") {
            seen = at + 1;
            continue;
        }
        kept.push_str(&rules[copied..at]);
        let (end, instead) = if is_import { (';', "") } else { (')', "url()") };
        let found = rules[at..].split(end).next().unwrap_or_default();
        if !is_import && is_within(found["url(".len()..].trim_start_matches(BEFORE_ADDRESS)) {
            kept.push_str(found);
            kept.push(end);
        } else {
            kept.push_str(instead);
        }
        copied = rules.len().min(at + found.len() + 1);
        seen = copied;
    }
    kept.push_str(&rules[copied..]);
    kept
}

/// Returns whether an address refers to content within the template.
pub(super) fn is_within(address: &str) -> bool {
    let address = address.trim_start();
    address.starts_with('#')
        || address
            .get(..5)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn long_style_sheets_take_linear_time() {
        let rules = "@media x{a{b:url(data:,)}}".repeat((1 << 20) / 26);
        let start = Instant::now();
        assert_eq!(without(&rules), rules);
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }
}
