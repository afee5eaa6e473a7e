//! Marks what a content stream paints outside of tagged content as artifacts (ISO 32000-1, 14.8.2.2), which PDF/UA
//! requires (ISO 14289-1, 7.1). Nothing changes its place. Text is an artifact only in headers, footers and margins of
//! pages, or if it has no meaning (`silent_text.rs`); other text outside of tagged content is left, because an artifact
//! isn't read aloud.

use std::borrow::Cow;

use super::generated_text::TaggedText;
use super::untagged::{Operators, Untagged};
use crate::write::write_name;

const DECORATION: &[u8] = b"/Artifact BMC\n";
const PAGINATION: &[u8] = b"/Artifact <</Type /Pagination>> BDC\n";
const END: &[u8] = b"\nEMC";

/// Returns whether operators draw a header, a footer or a margin of the page.
pub(super) fn is_running(untagged: &Untagged, range: &Operators) -> bool {
    range.end <= untagged.margins_end || range.start >= untagged.footer_start
}

/// Returns the content with all artifacts and newly tagged texts marked, and with other names for repeated forms; `None`
/// if nothing changes. `copies` are the new names, in the order of those forms.
pub(super) fn write_marks(
    content: &[u8],
    untagged: &Untagged,
    tagged: &[TaggedText],
    copies: &[String],
) -> Option<Vec<u8>> {
    let texts = untagged.texts.iter().map(|text| &text.range);
    let texts = texts.chain(untagged.text_forms.iter().map(|(_, range)| range));
    let running = texts.filter(|range| is_running(untagged, range));
    let artifacts = untagged.decoration.iter().chain(running).map(|range| {
        let start = if is_running(untagged, range) {
            PAGINATION
        } else {
            DECORATION
        };
        (range, Cow::Borrowed(start))
    });
    let tagged = tagged.iter().map(|text| (&text.range, Cow::Owned(text.start())));
    let marks = artifacts.chain(tagged).flat_map(|(range, start)| {
        let insertion = |at, bytes| (at..at, bytes);
        [insertion(range.start, start), insertion(range.end, Cow::Borrowed(END))]
    });
    let copies = untagged.repeated_forms.iter().zip(copies).map(|((_, range), name)| {
        let draw = format!("/{name} Do");
        (range.clone(), Cow::Owned(draw.into_bytes()))
    });
    let mut edits: Vec<(Operators, Cow<[u8]>)> = marks.chain(copies).collect();
    if edits.is_empty() {
        return None;
    }
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let added: usize = edits.iter().map(|(_, bytes)| bytes.len()).sum();
    let mut edited = Vec::with_capacity(content.len() + added);
    let mut position = 0;
    for (range, bytes) in edits {
        edited.extend_from_slice(&content[position..range.start]);
        edited.extend_from_slice(&bytes);
        position = range.end;
    }
    edited.extend_from_slice(&content[position..]);
    Some(edited)
}

impl TaggedText {
    /// Returns the operator that begins its marked content.
    fn start(&self) -> Vec<u8> {
        let mut start = Vec::new();
        write_name(&mut start, &self.kind);
        start.extend_from_slice(format!(" <</MCID {} >>BDC\n", self.identifier).as_bytes());
        start
    }
}

#[cfg(test)]
mod tests {
    use super::super::untagged::{Drawn, PageSetup, find_untagged};
    use super::*;

    /// Marks the content of a page of 100 × 100 points. `/Speaking` is a form with text, `/Tagged` one with
    /// content of elements. Shows marks in short.
    fn marked(content: &str) -> String {
        marked_page(content, false)
    }

    fn marked_page(content: &str, has_running_text: bool) -> String {
        let page = PageSetup {
            media_box: [0.0, 0.0, 100.0, 100.0],
            has_running_text,
        };
        let find = |content| {
            let mut drawn = |name: &[u8]| match name {
                b"Speaking" => Drawn::Text,
                b"Tagged" => Drawn::Tagged,
                _ => Drawn::Decoration,
            };
            find_untagged(content, Some(page), &mut drawn).expect("valid")
        };
        let Some(marked) = write_marks(content.as_bytes(), &find(content.as_bytes()), &[], &[]) else {
            return content.to_owned();
        };
        assert_eq!(
            write_marks(&marked, &find(&marked), &[], &[]),
            None,
            "nothing is left to mark"
        );
        let marked = String::from_utf8(marked).expect("ASCII");
        let marked = marked.replace("/Artifact BMC\n", "{").replace("\nEMC", "}");
        marked.replace("/Artifact <</Type /Pagination>> BDC\n", "{P ")
    }

    #[test]
    fn decoration_is_marked_from_the_start_of_its_path() {
        for (content, expected) in [
            ("1 g 0 0 m 9 9 l S 2 w", "1 g {0 0 m 9 9 l S} 2 w"),
            ("0 0 9 9 re W* n 1 1 2 2 re f*", "0 0 9 9 re W* n {1 1 2 2 re f*}"),
            ("q 0 0 9 9 re W n Q", "q 0 0 9 9 re W n Q"),
            ("/Silent Do /S1 sh", "{/Silent Do /S1 sh}"),
            ("BI /W 1 ID (\n EI Q", "{BI /W 1 ID (\n EI} Q"),
        ] {
            assert_eq!(marked(content), expected);
        }
    }

    #[test]
    fn runs_of_decoration_are_one_artifact_with_balanced_states() {
        for (content, expected) in [
            (
                "0 0 9 9 re f 1 g q 2 w 1 1 2 2 re S Q 3 w",
                "{0 0 9 9 re f 1 g q 2 w 1 1 2 2 re S Q} 3 w",
            ),
            (
                "q 1 1 2 2 re S Q q 1 1 2 2 re S Q",
                "{q 1 1 2 2 re S Q q 1 1 2 2 re S Q}",
            ),
            (
                "q 0 0 9 9 re W n 1 1 2 2 re S q BT (a) Tj ET 1 1 2 2 re f Q Q",
                "q 0 0 9 9 re W n {1 1 2 2 re S} q BT (a) Tj ET {1 1 2 2 re f} Q Q",
            ),
            (
                "/P <</MCID 0 >>BDC 0 0 9 9 re f EMC 1 1 2 2 re f",
                "/P <</MCID 0 >>BDC 0 0 9 9 re f EMC {1 1 2 2 re f}",
            ),
            (
                "/P <</MCID 0 >>BDC Q q EMC 1 1 2 2 re f Q",
                "/P <</MCID 0 >>BDC Q q EMC {1 1 2 2 re f} Q",
            ),
            (
                "/Span <<>> BDC 0 0 1 1 re f EMC 1 1 2 2 re f",
                "/Span <<>> BDC {0 0 1 1 re f} EMC {1 1 2 2 re f}",
            ),
        ] {
            assert_eq!(marked(content), expected);
        }
    }

    #[test]
    fn text_is_never_hidden() {
        for content in [
            "q 0 0 50 50 re W n BT (a) Tj ET Q",
            "q 0 0 50 50 re W n /Speaking Do Q",
            "/P <</MCID 0 >>BDC BT (a) Tj ET EMC",
            // A page without margins, whose last text is generated.
            "q 0 0 9 9 re W n /P <</MCID 0 >>BDC Q q 0 0 100 100 re W n /P <</MCID 1 >>BDC EMC Q \
             q 0 0 100 100 re W n BT (a) Tj ET Q",
            // A frame in the corner of a page.
            "q 0 0 50 50 re W n /P <</MCID 0 >>BDC EMC Q q 0 0 9 100 re W n BT (a) Tj ET Q",
            // A frame with round corners that is larger than its page.
            "q 20 20 60 60 re W n /P <</MCID 0 >>BDC EMC Q \
             q 20 20 60 60 re W n 0 0 m 9 9 l W n -50 -50 200 300 re W n BT (a) Tj ET Q",
            // A form of an element on a page without margins, and generated text.
            "q 0 0 9 9 re W n /P <</MCID 0 >>BDC EMC Q q 0 0 100 100 re W n /Tagged Do Q \
             q 0 0 100 100 re W n BT (a) Tj ET /Speaking Do Q",
            // A page with nothing but a frame.
            "q 0 0 100 100 re W n BT (a) Tj ET Q",
        ] {
            assert_eq!(marked(content), content);
        }
    }

    #[test]
    fn margins_and_footer_are_pagination() {
        assert_eq!(
            marked(
                ".5 0 0 -.5 0 100 cm q 2 0 0 2 0 0 cm BT (1) Tj ET 0 0 9 9 re f Q \
                 q 20 20 160 160 re W* n q /P <</MCID 0 >>BDC BT (a) Tj ET EMC BT (b) Tj ET Q Q \
                 q 0 0 199 199 re W* n 0 0 9 9 re S q BT (2) Tj ET Q Q"
            ),
            ".5 0 0 -.5 0 100 cm q 2 0 0 2 0 0 cm {P BT (1) Tj ET} {0 0 9 9 re f} Q \
             q 20 20 160 160 re W* n q /P <</MCID 0 >>BDC BT (a) Tj ET EMC BT (b) Tj ET Q Q \
             q 0 0 199 199 re W* n {P 0 0 9 9 re S} q {P BT (2) Tj ET} Q Q"
        );
        // Translucent text is in a form.
        assert_eq!(
            marked(
                "/Speaking Do q 10 10 80 80 re W* n /P <</MCID 0 >>BDC EMC /Speaking Do Q \
                 q 0 0 100 100 re W* n /G3 gs /Speaking Do Q"
            ),
            "{P /Speaking Do} q 10 10 80 80 re W* n /P <</MCID 0 >>BDC EMC /Speaking Do Q \
             q 0 0 100 100 re W* n /G3 gs {P /Speaking Do} Q"
        );
    }

    #[test]
    fn header_of_a_page_without_tags_is_pagination_only_if_one_was_drawn() {
        for (content, expected) in [
            // A blank page, and one with nothing but a background.
            (
                "q 0 0 99.5 99.5 re W* n BT (1) Tj ET Q",
                "q 0 0 99.5 99.5 re W* n {P BT (1) Tj ET} Q",
            ),
            (
                "q 20 20 60 60 re W* n 0 0 9 9 re f Q q 0 0 100 100 re W* n BT (1) Tj ET /Speaking Do Q",
                "{q 20 20 60 60 re W* n 0 0 9 9 re f Q} q 0 0 100 100 re W* n {P BT (1) Tj ET} {P /Speaking Do} Q",
            ),
            // Frames, of which one fills a page without margins.
            (
                "q 20 20 60 60 re W* n BT (a) Tj ET Q q 0 0 100 100 re W* n BT (1) Tj ET Q",
                "q 20 20 60 60 re W* n BT (a) Tj ET Q q 0 0 100 100 re W* n {P BT (1) Tj ET} Q",
            ),
            (
                "q 0 0 100 100 re W* n BT (a) Tj ET Q q 0 0 100 100 re W* n BT (1) Tj ET Q",
                "q 0 0 100 100 re W* n BT (a) Tj ET Q q 0 0 100 100 re W* n {P BT (1) Tj ET} Q",
            ),
            // Tagged content on a page without margins, before generated text.
            (
                "q 0 0 100 100 re W* n /P <</MCID 0 >>BDC EMC Q q 0 0 100 100 re W* n BT (a) Tj ET Q \
                 q 0 0 100 100 re W* n BT (1) Tj ET Q",
                "q 0 0 100 100 re W* n /P <</MCID 0 >>BDC EMC Q q 0 0 100 100 re W* n BT (a) Tj ET Q \
                 q 0 0 100 100 re W* n {P BT (1) Tj ET} Q",
            ),
        ] {
            assert_eq!(marked_page(content, true), expected);
            assert!(!marked(content).contains("{P"), "{content}");
        }
        // Nothing can be the header.
        for content in [
            "q 20 20 60 60 re W* n BT (a) Tj ET Q",
            "q 0 0 100 100 re W* n BT (a) Tj ET Q q 0 0 100 100 re W* n /P <</MCID 0 >>BDC EMC Q",
        ] {
            assert_eq!(marked_page(content, true), content);
        }
    }

    #[test]
    fn levels_without_end_are_damage() {
        for content in ["q ".repeat(100_000), "/A BMC ".repeat(100_000)] {
            assert!(find_untagged(content.as_bytes(), None, &mut |_| Drawn::Text).is_err());
        }
    }
}
