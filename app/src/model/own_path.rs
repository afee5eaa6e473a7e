//! Paths to which visitors are redirected.

use std::fmt;

/// Prefix of all operator pages.
pub const ADMIN: &str = "/admin";

/// Default destination after a log-in.
pub const DASHBOARD: &str = "/dashboard";

/// Page on which a logged-in user confirms their identity.
pub const CONFIRM: &str = "/dashboard/confirm";
/// Page on which a second factor is set up.
pub const SECOND_FACTOR: &str = "/dashboard/settings/second-factor";
/// Page on which a passkey is added.
pub const PASSKEY: &str = "/dashboard/settings/passkey";
/// As [`SECOND_FACTOR`], for members of an account that requires a second factor.
pub const SECOND_FACTOR_FIRST: &str = "/dashboard/settings/second-factor?required=yes";

/// A path of this service, with or without a query. It never leads to another host, and is valid in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPath(String);

impl OwnPath {
    /// Returns `None` unless the text begins with exactly one slash and consists of visible ASCII characters without
    /// backslashes. Browsers read a backslash as a slash, and two slashes as another host.
    pub fn parse(text: &str) -> Option<Self> {
        let relative = text.starts_with('/') && !text.starts_with("//");
        let safe = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        (relative && safe).then(|| Self(text.to_owned()))
    }

    /// Returns `path` with this path in its query, for a page that continues to it: `/log-in?next=…`.
    #[must_use]
    pub fn after(&self, path: &'static str) -> Self {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let escaped = self.0.bytes().map(|byte| {
            if plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        });
        Self(format!("{path}?next={}", escaped.collect::<String>()))
    }

    /// Returns the path in `next` if it is valid, or the dashboard's.
    pub fn after_log_in(next: Option<&str>) -> Self {
        next.and_then(Self::parse).unwrap_or_else(|| DASHBOARD.into())
    }
}

/// Literals are valid paths.
impl From<&'static str> for OwnPath {
    fn from(path: &'static str) -> Self {
        debug_assert!(Self::parse(path).is_some(), "{path}");
        Self(path.to_owned())
    }
}

impl fmt::Display for OwnPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_leads_on_to_another() {
        let next = OwnPath::from("/dashboard?a=b&c=%0A");
        assert_eq!(
            next.after("/log-in").to_string(),
            "/log-in?next=%2Fdashboard%3Fa%3Db%26c%3D%250A"
        );
    }

    #[test]
    fn log_ins_lead_to_pages_of_ours_only() {
        for own in ["/dashboard", "/dashboard/renders?cursor=a%2Fb&x=%0A", "/"] {
            assert_eq!(OwnPath::after_log_in(Some(own)).to_string(), own);
        }
        for foreign in [
            "",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example/",
            "javascript:alert(1)",
            "/a\r\nset-cookie: x",
            "/\t/evil.example",
            "/é",
        ] {
            assert_eq!(OwnPath::after_log_in(Some(foreign)).to_string(), DASHBOARD, "{foreign}");
        }
        assert_eq!(OwnPath::after_log_in(None).to_string(), DASHBOARD);
    }
}
