//! Detects parts that certainly contain no script, and so can't alter the JavaScript realm that they are loaded into.
//!
//! The scan is conservative: anything doubtful counts as script. It affects speed, not safety: a part that passes is
//! rendered with `Emulation.setScriptExecutionDisabled`, so that nothing runs even if the scan is wrong.

use memchr::{memchr_iter, memchr2_iter};

use crate::ascii_case::{ends_with, starts_with};

/// Beginnings of the names of elements that must not occur, case-insensitively. Frames and embedded documents have their
/// own realms, storage and navigations. `<noscript>` is displayed only if scripts are disabled. The browser lays out the
/// controls of video and audio with its own scripts, which wait for frames.
const ELEMENTS: [&[u8]; 10] = [
    b"script",
    b"noscript",
    b"iframe",
    b"frame",
    b"object",
    b"embed",
    b"portal",
    b"fencedframe",
    b"video",
    b"audio",
];

/// Returns `true` if the part can be rendered with scripts disabled, and the next document loaded without a reset.
///
/// Searches for single bytes, which is faster than an automaton: documents consist largely of embedded fonts and images.
pub(crate) fn is_script_free(html: &str) -> bool {
    let html = html.as_bytes();
    let is_element = |at| ELEMENTS.iter().any(|name| starts_with(&html[at + 1..], name));
    let is_script_address = |at| ends_with(&html[..at], b"javascript");
    // May navigate.
    let is_http_equiv = |at| ends_with(&html[..at], b"http") && starts_with(&html[at + 1..], b"equiv");
    !(memchr_iter(b'<', html).any(is_element)
        || memchr_iter(b':', html).any(is_script_address)
        || memchr_iter(b'-', html).any(is_http_equiv)
        || memchr2_iter(b'o', b'O', html).any(|at| is_event_attribute(html, at)))
}

/// Returns whether an `on…=` attribute may start at `at`: after the end of another attribute, or of the tag name, and
/// with letters before the equals sign.
fn is_event_attribute(html: &[u8], at: usize) -> bool {
    let (before, name) = html.split_at(at);
    let follows_end = matches!(
        before.last(),
        Some(b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' | b'/' | b'"' | b'\'')
    );
    if !follows_end || !starts_with(name, b"on") {
        return false;
    }
    let rest = &name[2..];
    let letters = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    letters > 0 && rest[letters..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'=')
}

#[cfg(test)]
mod tests {
    use super::is_script_free;

    #[test]
    fn plain_documents_are_script_free() {
        for html in [
            "<h1>Invoice</h1><p>Paid on = Monday</p>",
            "<!doctype html><html lang=de><head><title>x</title><style>@page{margin:1cm}</style></head><body>ok",
            "<table data-on='x'><tr><td>Oslo</td></tr></table>",
            "<img src='data:image/png;base64,xx'><svg><path d='M0 0'/></svg>",
        ] {
            assert!(is_script_free(html), "{html}");
        }
    }

    #[test]
    fn everything_that_may_run_counts_as_script() {
        for html in [
            "<script>x</script>",
            "<SCRIPT src=x>",
            "<noscript>x</noscript>",
            "<p onclick='x'>",
            "<img src=x/onerror=alert(1)>",
            "<img src='x'OnError = alert(1)>",
            "<a href='JavaScript:alert(1)'>",
            "<iframe srcdoc='x'></iframe>",
            "<object data=x>",
            "<embed src=x>",
            "<meta http-equiv=refresh content='0;url=http://x'>",
            "<svg><script/></svg>",
            "<frameset><frame src=x></frameset>",
            "<video controls>",
            "<audio src=x>",
        ] {
            assert!(!is_script_free(html), "{html}");
        }
    }
}
