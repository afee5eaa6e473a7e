//! Detects templates that look the same in a box of a larger page as on their own page.

use std::{cell::Cell, rc::Rc};

use lol_html::{RewriteStrSettings, element, html_content::Element, rewrite_str};

use super::BESIDE_MARGINS;

/// Maximum length of a template in bytes; repeating a longer one isn't worthwhile.
const MAX_LENGTH: usize = 32 * 1024;
/// Text that must not occur: constructs that might extend beyond the template, rules that would match elements outside
/// it, and blending with everything drawn before, for which Chromium draws the boxes as one.
const FORBIDDEN: [&str; 3] = ["<!", "<style", "blend-mode"];
/// Units relative to the page size. They count after a digit or dot, and before anything but a letter or digit.
const PAGE_UNITS: [&str; 6] = ["vw", "vh", "vi", "vb", "vmin", "vmax"];

/// Returns whether a template can be repeated in boxes of a larger page. May be wrongly `false`, never wrongly `true`.
pub(super) fn is_repeatable(template: &str) -> bool {
    let lower = template.to_ascii_lowercase();
    template.len() <= MAX_LENGTH
        && !FORBIDDEN.iter().any(|forbidden| lower.contains(forbidden))
        && lower.rfind('<') <= lower.rfind('>')
        && !PAGE_UNITS.iter().any(|unit| has_length(&lower, unit))
        && is_whole(template)
}

fn has_length(template: &str, unit: &str) -> bool {
    template.match_indices(unit).any(|(at, _)| {
        let before = template[..at].trim_end_matches(['s', 'l', 'd']);
        let after = template[at + unit.len()..].chars().next();
        before.ends_with(|character: char| character.is_ascii_digit() || character == '.')
            && after.is_none_or(|character| !character.is_ascii_alphanumeric())
    })
}

/// Returns whether all elements are properly closed, and Chromium hides none beside the margins.
fn is_whole(template: &str) -> bool {
    let open = Rc::new(Cell::new(0_usize));
    let is_hidden = Cell::new(false);
    let count = |element: &mut Element<'_, '_>| {
        let (name, still_open) = (element.tag_name(), open.clone());
        if let Some(handlers) = element.end_tag_handlers() {
            open.set(open.get() + 1);
            handlers.push(Box::new(move |end| {
                if end.name() == name {
                    still_open.set(still_open.get() - 1);
                }
                Ok(())
            }));
        }
        Ok(())
    };
    let settings = RewriteStrSettings::new()
        .append_element_content_handler(element!("*", count))
        .append_element_content_handler(element!(BESIDE_MARGINS, |_| {
            is_hidden.set(true);
            Ok(())
        }));
    rewrite_str(template, settings).is_ok() && open.get() == 0 && !is_hidden.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_elements_are_repeatable() {
        for template in [
            "",
            "Page <span class=pageNumber></span>",
            "<div style='width: 100%; font-size: 2em'><b>x<br></b> <img src='data:image/png;base64,3vWx9vhA=='></div>",
            "<svg><circle r=3 /></svg> view 3 vwx, 5 vh",
            "<p>1 &lt; 2</p>",
        ] {
            assert!(is_repeatable(template), "{template}");
        }
    }

    #[test]
    fn what_would_reach_beyond_its_box_is_not() {
        for template in [
            "<b>open",
            "<p>implied <p>end",
            "<b><i>crossed</b></i>",
            "<b>x</b><i",
            "<!-- open",
            "<style>#header { padding: 0 }</style>",
            "<STYLE>b { color: red }</STYLE>",
            "<b style='width: 50vw'>x</b>",
            "<b style='width: 1.dvmin'>x</b>",
            "<b class='a text'>x</b>",
            "<b style='mix-blend-mode: multiply'>x</b>",
            "<textarea>",
        ] {
            assert!(!is_repeatable(template), "{template}");
        }
        assert!(!is_repeatable(&"x".repeat(MAX_LENGTH + 1)));
    }
}
