//! Detects network addresses in HTML.

use memchr::{memchr, memchr_iter, memchr2_iter, memmem};

use crate::ascii_case::{ends_with, starts_with};

/// Returns `false` if the document makes no network requests, except by scripts. It has no base URL, so only absolute
/// URLs can be fetched. Doubtful text counts as an address: escapes of HTML and CSS may hide one. The result only
/// decides whether requests are observed; the guard decides which addresses are reached.
pub(crate) fn may_hold_addresses(html: &str) -> bool {
    let html = html.as_bytes();
    let ends_scheme = |colon: usize| ends_with(&html[..colon], b"http") || ends_with(&html[..colon], b"https");
    memchr(b'\\', html).is_some()
        || memmem::find(html, b"&#").is_some()
        || memmem::find(html, b"&colon").is_some()
        || memchr_iter(b':', html).any(ends_scheme)
}

/// Returns whether scripts in `text` may assemble addresses. Requests to addresses that this misses are not reported
/// unless the guard refuses them.
pub(crate) fn may_make_addresses(text: &str) -> bool {
    let text = text.as_bytes();
    memchr2_iter(b'h', b'H', text).any(|at| starts_with(&text[at..], b"http"))
}

#[cfg(test)]
mod tests {
    use super::{may_hold_addresses, may_make_addresses};

    #[test]
    fn embedded_content_is_no_address() {
        let html = "<style>p { color: red; background: url(data:image/png;base64,xx) }</style><p>Total: 5 &euro;</p>\
                    <a href='mailto:ann@example.org'>http</a>";
        assert!(!may_hold_addresses(html));
        assert!(!may_hold_addresses(":"));
    }

    #[test]
    fn scripts_put_addresses_together() {
        assert!(may_make_addresses("fetch('HTTPS' + '://example.org')"));
        assert!(!may_make_addresses("the path, h"));
    }

    #[test]
    fn what_may_lead_elsewhere_is_an_address() {
        for html in [
            "<img src=http://example.org/>",
            "<img src=HTTPS:example.org>",
            "<img src=&#104;ttp://example.org/>",
            "<img src=http&colon;//example.org/>",
            "<style>p { background: url(h\\74tp://example.org) }</style>",
        ] {
            assert!(may_hold_addresses(html), "{html}");
        }
    }
}
