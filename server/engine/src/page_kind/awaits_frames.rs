//! Detects scripts that may wait for something that happens only with a frame: a step of “update the rendering” in the
//! HTML specification (8.1.7.3), or work that Chromium does in idle time between two frames.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use memchr::memchr;

const SCRIPT: &str = "<script";
/// Text that must not occur anywhere, case-insensitively. Embedded documents and workers have their own scripts;
/// imported scripts are not scanned; the browser lays out the controls of video and audio with scripts that wait for
/// frames.
const SUSPICIOUS: [&str; 26] = [
    "animat",
    "@keyframes",
    "transitioncancel",
    "transitionend",
    "transitionrun",
    "transitionstart",
    "viewtransition",
    "contentvisibility",
    "requestidle",
    "intersectionobserver",
    "performanceobserver",
    "resize",
    "scroll",
    "matchmedia",
    "toblob",
    "webgl",
    "worker",
    "import",
    "<iframe",
    "<frame",
    "<object",
    "<embed",
    "<fencedframe",
    "<portal",
    "<video",
    "<audio",
];

/// A DFA, because texts may have many megabytes.
static SCAN: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build([SCRIPT].into_iter().chain(SUSPICIOUS))
        .expect("an automaton of a few short words is small")
});

/// Returns `false` if nothing in `text` indicates that a script waits for a frame. Names that a script assembles at run
/// time are detected by [`crate::steps::frames`] when they are used.
pub(super) fn may_await_frames(text: &str) -> bool {
    SCAN.find_iter(text)
        .any(|found| found.pattern().as_usize() != 0 || has_source(&text.as_bytes()[found.end()..]))
}

/// Returns whether a script is external, given the text after `<script`.
fn has_source(rest: &[u8]) -> bool {
    let tag = &rest[..memchr(b'>', rest).unwrap_or(rest.len())];
    let has = |word: &[u8]| tag.windows(word.len()).any(|text| text.eq_ignore_ascii_case(word));
    // `href` is the attribute of SVG's `script`.
    has(b"src") || has(b"href")
}

#[cfg(test)]
mod tests {
    use super::may_await_frames;

    #[test]
    fn scripts_that_work_at_once_await_no_frame() {
        for html in [
            "<p>Total <b id=total></b><script>total.textContent = [1, 2].reduce((sum, amount) => sum + amount)</script>",
            "<style>a { transition: color .2s }</style><script type='text/javascript'>document.write(1)</script>",
            "<body onload='setTimeout(() => fetch(`/x`))'>",
        ] {
            assert!(!may_await_frames(html), "{html}");
        }
    }

    #[test]
    fn what_may_wait_for_a_frame_is_seen() {
        for html in [
            "<script>requestAnimationFrame(draw)</script>",
            "<script>new ResizeObserver(draw).observe(x)</script>",
            "<SCRIPT SRC=chart.js></SCRIPT>",
            "<script\ntype=module\nsrc='chart.js'></script>",
            "<svg><script href='chart.js'/></svg>",
            "<script type=module>import 'chart.js'</script>",
            "<style>@KEYFRAMES fade {}</style><script>x.onfade</script>",
            "<script>x.addEventListener('transitionEnd', draw)</script>",
            "<script>x</script><iframe srcdoc=x></iframe>",
        ] {
            assert!(may_await_frames(html), "{html}");
        }
    }
}
