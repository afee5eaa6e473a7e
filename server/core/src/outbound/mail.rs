//! Sends mail by SMTP through the operator's server.

use std::time::{Duration, SystemTime};

use lettre::{
    Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    message::{Mailbox, MultiPart},
    transport::smtp::{
        authentication::Credentials,
        client::{Tls, TlsParameters},
    },
};
use platen_domain::{ids::MailId, mail::ComposedMail};
use secrecy::ExposeSecret;
use tokio::time::timeout;

use crate::config::mail::{Encryption, MailConfig, SmtpConfig};

/// Timeout for each reply of the server.
const PATIENCE: Duration = Duration::from_secs(20);
/// Time limit from the connection to the last reply.
const DEADLINE: Duration = Duration::from_mins(1);

/// A client of the operator's SMTP server.
pub struct SmtpClient {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

/// Why a mail was not accepted. Messages contain neither the address nor the password.
#[derive(Debug, thiserror::Error)]
pub enum SendMailError {
    /// Retrying would not help, for instance because the mailbox does not exist.
    #[error("{0}")]
    Final(String),
    /// Retrying may succeed.
    #[error("{0}")]
    Passing(String),
}

impl SmtpClient {
    /// Creates a client, or returns `None` if the settings name no server. Connects when the first mail is sent.
    pub fn new(config: &MailConfig) -> Result<Option<Self>, lettre::transport::smtp::Error> {
        let Some(smtp) = &config.smtp else { return Ok(None) };
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&smtp.host)
            .port(smtp.port)
            .tls(tls(smtp)?)
            .timeout(Some(PATIENCE));
        if let Some((user, password)) = &smtp.credentials {
            builder = builder.credentials(Credentials::new(user.clone(), password.expose_secret().to_owned()));
        }
        Ok(Some(Self {
            transport: builder.build(),
            from: config.from.clone(),
        }))
    }

    /// Sends a mail. Retries of the same mail have the same `Message-ID`.
    pub async fn send(&self, id: MailId, recipient: &str, written: ComposedMail) -> Result<(), SendMailError> {
        let message = self.message(id, recipient, written)?;
        match timeout(DEADLINE, self.transport.send(message)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(failed(&error)),
            Err(_) => Err(SendMailError::Passing(format!(
                "not sent within {} s",
                DEADLINE.as_secs()
            ))),
        }
    }

    /// Checks that the server answers and accepts the credentials.
    pub async fn check(&self) -> Result<(), SendMailError> {
        match timeout(DEADLINE, self.transport.test_connection()).await {
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false)) => Err(SendMailError::Passing("the server closed the connection".to_owned())),
            Ok(Err(error)) => Err(failed(&error)),
            Err(_) => Err(SendMailError::Passing(format!(
                "no response within {} s",
                DEADLINE.as_secs()
            ))),
        }
    }

    fn message(&self, id: MailId, recipient: &str, written: ComposedMail) -> Result<Message, SendMailError> {
        let address: Address = recipient
            .parse()
            .map_err(|error| SendMailError::Final(format!("the address can't receive mail: {error}")))?;
        let ComposedMail { subject, text, html } = written;
        Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, address))
            .date(SystemTime::now())
            .message_id(Some(format!("<{id}@{}>", self.from.email.domain())))
            .subject(subject)
            .multipart(MultiPart::alternative_plain_html(text, html))
            .map_err(|error| SendMailError::Final(error.to_string()))
    }
}

fn tls(smtp: &SmtpConfig) -> Result<Tls, lettre::transport::smtp::Error> {
    let parameters = || TlsParameters::new(smtp.host.clone());
    Ok(match smtp.encryption {
        Encryption::Implicit => Tls::Wrapper(parameters()?),
        Encryption::Required => Tls::Required(parameters()?),
        Encryption::Opportunistic => Tls::Opportunistic(parameters()?),
        Encryption::None => Tls::None,
    })
}

/// Rejected credentials are the operator's to fix, so the mail is retried.
fn failed(error: &lettre::transport::smtp::Error) -> SendMailError {
    /// Codes of failed authentication (RFC 4954, section 6).
    const OF_AUTHENTICATION: [u16; 5] = [530, 534, 535, 538, 554];
    match error.status().map(u16::from) {
        // The server's text may contain the address, so only the code is reported.
        Some(code) if error.is_permanent() && !OF_AUTHENTICATION.contains(&code) => {
            SendMailError::Final(format!("the server responded with {code}"))
        }
        Some(code) => SendMailError::Passing(format!("the server responded with {code}")),
        None => {
            let mut cause: &dyn std::error::Error = error;
            while let Some(deeper) = cause.source() {
                cause = deeper;
            }
            SendMailError::Passing(cause.to_string())
        }
    }
}
