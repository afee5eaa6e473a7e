//! Network errors of Chromium in words.

const PREFIX: &str = "net::ERR_";
/// What a page sees of a tunnel that the guard could not establish.
pub(crate) const TUNNEL_FAILED: &str = "net::ERR_TUNNEL_CONNECTION_FAILED";
/// The page itself ended the request.
pub const ABORTED: &str = "net::ERR_ABORTED";

/// Returns the meaning of an error such as `net::ERR_CONNECTION_RESET`. Returns other texts, and rare errors, unchanged.
pub fn explain(error: &str) -> &str {
    match error.strip_prefix(PREFIX).unwrap_or_default() {
        "NAME_NOT_RESOLVED" => "the host has no address",
        "CONNECTION_REFUSED" => "the host refused the connection",
        "CONNECTION_RESET" | "CONNECTION_CLOSED" | "SOCKET_NOT_CONNECTED" => "the server closed the connection",
        "EMPTY_RESPONSE" => "the server sent no response",
        "TIMED_OUT" | "CONNECTION_TIMED_OUT" => "no response in time",
        "TUNNEL_CONNECTION_FAILED" | "CONNECTION_FAILED" | "ADDRESS_UNREACHABLE" | "PROXY_CONNECTION_FAILED" => {
            "the host could not be reached"
        }
        "SSL_PROTOCOL_ERROR" | "SSL_VERSION_OR_CIPHER_MISMATCH" => {
            "the server does not offer a secure connection (TLS)"
        }
        "CERT_AUTHORITY_INVALID" => "the certificate of the server is not from a trusted authority",
        "CERT_DATE_INVALID" => "the certificate of the server has expired, or is not valid yet",
        "CERT_COMMON_NAME_INVALID" => "the certificate of the server is for another host",
        "CONTENT_LENGTH_MISMATCH" | "INCOMPLETE_CHUNKED_ENCODING" | "HTTP2_PROTOCOL_ERROR" => {
            "the response was incomplete"
        }
        "CONTENT_DECODING_FAILED" => "the response could not be decompressed",
        "INVALID_HTTP_RESPONSE" | "INVALID_RESPONSE" => "the server did not respond with HTTP",
        "TOO_MANY_REDIRECTS" => "too many redirects",
        "UNSAFE_REDIRECT" => "the server redirects to an address outside of the web",
        "UNSAFE_PORT" => "browsers block this port",
        "UNKNOWN_URL_SCHEME" | "DISALLOWED_URL_SCHEME" | "INVALID_URL" => "browsers can't load this address",
        "BLOCKED_BY_ORB" | "BLOCKED_BY_RESPONSE" => "the server does not allow its use in this page",
        "ABORTED" => "the page cancelled the request",
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_errors_are_explained() {
        assert_eq!(explain("net::ERR_NAME_NOT_RESOLVED"), "the host has no address");
        assert_eq!(explain(TUNNEL_FAILED), "the host could not be reached");
        assert_eq!(explain(ABORTED), "the page cancelled the request");
        for unchanged in ["net::ERR_UNHEARD_OF", "connection refused", ""] {
            assert_eq!(explain(unchanged), unchanged);
        }
    }
}
