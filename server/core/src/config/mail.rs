//! Mail: the server that sends it, and the sender's address.

use std::net::IpAddr;

use lettre::message::Mailbox;
use percent_encoding::percent_decode_str;
use secrecy::SecretString;
use url::Url;

use crate::config::reader::{Reader, Setting};

const SMTP_URL: Setting = Setting::new(
    "PLATEN_SMTP_URL",
    "smtp:// or smtps://, [user:password@], host, [:port]",
)
.default("none; ports: smtps 465, smtp with a password 587, else 25")
.purpose(
    "Server that sends mail. smtp:// uses STARTTLS: required if a password is set, otherwise used if the \
         server offers it; ?tls=required, ?tls=opportunistic or ?tls=none overrides that. smtps:// is TLS from \
         the first byte. Without it mail is only stored, and a developer reads it at /dev/mail.",
);
const MAIL_FROM: Setting = Setting::new("PLATEN_MAIL_FROM", "an email address, or a name and <address>")
    .default("Platen <platen@localhost>")
    .purpose("Sender of mail. Required with PLATEN_SMTP_URL.");

pub(super) const SETTINGS: &[&Setting] = &[&SMTP_URL, &MAIL_FROM];

#[derive(Debug)]
pub struct MailConfig {
    /// `None`: no mail is sent.
    pub smtp: Option<SmtpConfig>,
    /// The sender.
    pub from: Mailbox,
}

/// An SMTP server.
#[derive(Debug, Clone)]
pub struct SmtpConfig {
    /// Host name or IP address.
    pub host: String,
    pub port: u16,
    pub encryption: Encryption,
    /// User and password.
    pub credentials: Option<(String, SecretString)>,
}

/// Transport encryption of the connection to the SMTP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encryption {
    /// TLS from the first byte.
    Implicit,
    /// STARTTLS; fails if the server doesn't offer it.
    Required,
    /// STARTTLS if the server offers it.
    Opportunistic,
    /// No encryption.
    None,
}

impl MailConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Self {
        let smtp = reader.secret(&SMTP_URL, SmtpConfig::parse);
        if smtp.is_some() && reader.text(&MAIL_FROM).is_none() {
            reader.contradiction(format!(
                "{} is set but {}, the sender of its mail, is not: set it to {}",
                SMTP_URL.name, MAIL_FROM.name, MAIL_FROM.allowed
            ));
        }
        Self {
            smtp,
            from: reader.parsed(&MAIL_FROM, |text| text.parse().ok()),
        }
    }
}

impl SmtpConfig {
    fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        let host = url.host_str().filter(|host| !host.is_empty())?;
        let host = percent_decode_str(host.trim_matches(['[', ']'])).decode_utf8().ok()?;
        let credentials = match (url.username(), url.password()) {
            ("", None) => None,
            (user, Some(password)) if !user.is_empty() => {
                let password = percent_decode_str(password).decode_utf8().ok()?.into_owned();
                Some((
                    percent_decode_str(user).decode_utf8().ok()?.into_owned(),
                    password.into(),
                ))
            }
            _ => return None,
        };
        let here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        let encryption = match (url.scheme(), url.query()) {
            ("smtps", None) => Encryption::Implicit,
            ("smtp", Some("tls=required")) => Encryption::Required,
            ("smtp", Some("tls=none")) => Encryption::None,
            ("smtp", None) if credentials.is_some() && !here => Encryption::Required,
            ("smtp", Some("tls=opportunistic") | None) => Encryption::Opportunistic,
            _ => return None,
        };
        let default_port = match (encryption, &credentials) {
            (Encryption::Implicit, _) => 465,
            (_, Some(_)) => 587,
            (_, None) => 25,
        };
        let plain = matches!(url.path(), "" | "/") && url.fragment().is_none();
        plain.then(|| Self {
            host: host.into_owned(),
            port: url.port().unwrap_or(default_port),
            encryption,
            credentials,
        })
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_password_is_never_sent_in_the_open_unless_that_is_said() {
        for (text, host, port, encryption) in [
            ("smtps://u:p@mail.example", "mail.example", 465, Encryption::Implicit),
            ("smtp://u:p@mail.example", "mail.example", 587, Encryption::Required),
            (
                "smtp://u:p@127.0.0.1:2525",
                "127.0.0.1",
                2525,
                Encryption::Opportunistic,
            ),
            ("smtp://relay", "relay", 25, Encryption::Opportunistic),
            ("smtp://[2001:db8::1]/", "2001:db8::1", 25, Encryption::Opportunistic),
            ("smtp://relay?tls=required", "relay", 25, Encryption::Required),
            ("smtp://u:p@relay:1025?tls=none", "relay", 1025, Encryption::None),
        ] {
            let smtp = SmtpConfig::parse(text).expect(text);
            assert_eq!(
                (smtp.host.as_str(), smtp.port, smtp.encryption),
                (host, port, encryption),
                "{text}"
            );
        }
    }

    #[test]
    fn escaped_credentials_are_read_and_do_not_print() {
        let smtp = SmtpConfig::parse("smtp://ann%40example.org:p%3Aw%2Fhunter2@relay").expect("sound");
        let (user, password) = smtp.credentials.as_ref().expect("credentials");
        assert_eq!(
            (user.as_str(), password.expose_secret()),
            ("ann@example.org", "p:w/hunter2")
        );
        assert!(!format!("{smtp:?}").contains("hunter2"));
    }

    #[test]
    fn other_addresses_are_refused() {
        for text in [
            "mail.example:25",
            "http://mail.example",
            "smtp://",
            "smtp://user@relay",
            "smtp://relay/path",
            "smtp://relay?tls=maybe",
            "smtps://relay?tls=none",
            "smtp://relay:99999",
        ] {
            assert!(SmtpConfig::parse(text).is_none(), "{text}");
        }
    }
}
