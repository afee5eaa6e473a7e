//! Whether a part certainly contains no script, so that it cannot dirty the JavaScript realm that it is put into.
//!
//! The scan is conservative: anything doubtful counts as script. It decides about speed, not about safety: a part that
//! passes is rendered with `Emulation.setScriptExecutionDisabled`, so that nothing runs even if the scan is wrong.

/// Text that must not occur anywhere, in lower case. Frames and embedded documents have realms, storage and navigations
/// of their own; `http-equiv` may navigate. `<noscript>` shows
/// only where scripts are off. The browser lays out the controls of video and sound by scripts of its own, which wait for
/// frames.
const SUSPICIOUS: [&[u8]; 12] = [
    b"<script",
    b"<noscript",
    b"javascript:",
    b"<iframe",
    b"<frame",
    b"<object",
    b"<embed",
    b"<portal",
    b"http-equiv",
    b"<fencedframe",
    b"<video",
    b"<audio",
];

/// `true`: the part may be rendered without scripts, and the next document may follow it without a reset.
pub(crate) fn is_script_free(html: &str) -> bool {
    let html = html.as_bytes();
    let mut at = 0;
    while let Some(found) = next_trigger(&html[at..]) {
        let rest = &html[at + found..];
        if SUSPICIOUS.iter().any(|word| starts_with_ignoring_case(rest, word)) || is_event_attribute(html, at + found) {
            return false;
        }
        at += found + 1;
    }
    true
}

/// Bytes that may begin something suspicious; everything else is skipped quickly.
fn next_trigger(html: &[u8]) -> Option<usize> {
    html.iter()
        .position(|byte| matches!(byte, b'<' | b'j' | b'J' | b'o' | b'O' | b'h' | b'H'))
}

fn starts_with_ignoring_case(text: &[u8], word: &[u8]) -> bool {
    text.len() >= word.len() && text[..word.len()].eq_ignore_ascii_case(word)
}

/// An `on…=` attribute: `on` after something that ends an attribute or a tag's name, letters, then an equals sign.
fn is_event_attribute(html: &[u8], at: usize) -> bool {
    if !starts_with_ignoring_case(&html[at..], b"on") {
        return false;
    }
    let after_boundary = at == 0 || matches!(html[at - 1], b' ' | b'\t' | b'\n' | b'\r' | 0x0c | b'/' | b'"' | b'\'');
    if !after_boundary {
        return false;
    }
    let rest = &html[at + 2..];
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
