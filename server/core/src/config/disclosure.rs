//! How to report vulnerabilities of the service.

use url::Url;

use crate::config::reader::{Reader, Setting};

const CONTACT: Setting = Setting::new("PLATEN_SECURITY_CONTACT", "mailto: or https:// address")
    .default("none: there is no security.txt")
    .purpose("Where to report vulnerabilities; published in /.well-known/security.txt (RFC 9116).");
const POLICY: Setting = Setting::new("PLATEN_SECURITY_POLICY", "https:// address")
    .default("none")
    .purpose("Page with the disclosure policy; linked from security.txt.");

pub(super) const SETTINGS: &[&Setting] = &[&CONTACT, &POLICY];

#[derive(Debug)]
pub struct DisclosureConfig {
    /// If `None`, there is no security.txt.
    pub contact: Option<Url>,
    /// The disclosure policy.
    pub policy: Option<Url>,
}

impl DisclosureConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Self {
        let contact = reader.parsed_if_set(&CONTACT, |text| {
            let is_mail = |url: &Url| url.scheme() == "mailto" && url.path().contains('@');
            Url::parse(text).ok().filter(|url| is_mail(url) || is_page(url))
        });
        let policy = reader.parsed_if_set(&POLICY, |text| Url::parse(text).ok().filter(is_page));
        if reader.text(&CONTACT).is_none() && policy.is_some() {
            reader.contradiction(format!("{} has no effect without {}", POLICY.name, CONTACT.name));
        }
        Self { contact, policy }
    }
}

fn is_page(url: &Url) -> bool {
    url.scheme() == "https"
}
