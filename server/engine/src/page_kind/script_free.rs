//! Detects parts that certainly contain no script, and so can't alter the JavaScript realm that they are loaded into.
//!
//! The scan is conservative: anything doubtful counts as script. It affects speed, not safety: a part that passes is
//! rendered with `Emulation.setScriptExecutionDisabled`, so that nothing runs even if the scan is wrong.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::scan;

/// Text that must not occur anywhere, case-insensitively. Frames and embedded documents have their own realms, storage
/// and navigations; `http-equiv` may navigate. `<noscript>` is displayed only if scripts are disabled. The browser lays
/// out the controls of video and audio with its own scripts, which wait for frames.
const SUSPICIOUS: [&str; 12] = [
    "<script",
    "<noscript",
    "javascript:",
    "<iframe",
    "<frame",
    "<object",
    "<embed",
    "<portal",
    "http-equiv",
    "<fencedframe",
    "<video",
    "<audio",
];
/// Possible starts of an `on…=` attribute: after the end of another attribute, or of the tag name.
const ATTRIBUTE: [&str; 8] = [" on", "\ton", "\non", "\ron", "\x0con", "/on", "\"on", "'on"];

static SCAN: LazyLock<AhoCorasick> = LazyLock::new(|| scan(SUSPICIOUS.into_iter().chain(ATTRIBUTE)));

/// Returns `true` if the part can be rendered with scripts disabled, and the next document loaded without a reset.
pub(crate) fn is_script_free(html: &str) -> bool {
    !SCAN.find_overlapping_iter(html).any(|found| {
        found.pattern().as_usize() < SUSPICIOUS.len() || is_event_attribute(&html.as_bytes()[found.end()..])
    })
}

/// Returns whether `rest`, the text after `on`, continues an event attribute: letters, then an equals sign.
fn is_event_attribute(rest: &[u8]) -> bool {
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
    fn whatever_may_run_counts_as_script() {
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
