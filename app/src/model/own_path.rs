//! Where a visitor is sent.

use std::fmt;

/// What all pages of operators are below.
pub const ADMIN: &str = "/admin";

/// Where a log-in leads that does not say.
pub const DASHBOARD: &str = "/dashboard";

/// Where somebody who is logged in shows that it is they.
pub const CONFIRM: &str = "/dashboard/confirm";
/// Where a second factor is set up.
pub const SECOND_FACTOR: &str = "/dashboard/settings/second-factor";
/// Where a passkey is added.
pub const PASSKEY: &str = "/dashboard/settings/passkey";
/// As [`SECOND_FACTOR`], for those whose account asks for it.
pub const SECOND_FACTOR_FIRST: &str = "/dashboard/settings/second-factor?required=yes";

/// A path of ours, with or without a query: never an address elsewhere, and always fit for a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPath(String);

impl OwnPath {
    /// `None` unless it begins with one slash, and holds visible characters of ASCII only. Browsers read a backslash as a
    /// slash, and two slashes as another host.
    pub fn parse(text: &str) -> Option<Self> {
        let relative = text.starts_with('/') && !text.starts_with("//");
        let safe = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        (relative && safe).then(|| Self(text.to_owned()))
    }

    /// A path that we have written down.
    pub fn to(path: &'static str) -> Self {
        debug_assert!(Self::parse(path).is_some(), "{path}");
        Self(path.to_owned())
    }

    /// A path that we have written down, of a page that leads on to this one: `/log-in?next=…`.
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

    /// The path, as `next` asks for it, else the dashboard's.
    pub fn after_log_in(next: Option<&str>) -> Self {
        next.and_then(Self::parse).unwrap_or_else(|| Self::to(DASHBOARD))
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
        let next = OwnPath::to("/dashboard?a=b&c=%0A");
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
