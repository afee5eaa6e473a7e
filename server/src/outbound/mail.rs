//! Sends mail through the operator's server, by SMTP.

use std::time::{Duration, SystemTime};

use lettre::{
    Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    message::{Mailbox, MultiPart},
    transport::smtp::{
        authentication::Credentials,
        client::{Tls, TlsParameters},
    },
};
use secrecy::ExposeSecret;
use tokio::time::timeout;

use crate::{
    config::mail::{Encryption, MailConfig, SmtpConfig},
    domain::{ids::MailId, mail::Written},
};

/// For each line that the server is to answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// From the connection to the last answer.
const DEADLINE: Duration = Duration::from_mins(1);

/// A server that takes mail.
pub struct SmtpClient {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

/// Why a mail was not taken. Names neither the address nor the password.
#[derive(Debug, thiserror::Error)]
pub enum SendMailError {
    /// Trying again would not help: the server says that there is no such mailbox, for instance.
    #[error("{0}")]
    Final(String),
    /// The next try may be luckier.
    #[error("{0}")]
    Passing(String),
}

impl SmtpClient {
    /// A client for the server of these settings; `None`: they name none. Connects when there is something to send.
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

    /// Hands a mail over to the server. However often it is sent, its `Message-ID` is the same.
    pub async fn send(&self, id: MailId, recipient: &str, written: Written) -> Result<(), SendMailError> {
        let message = self.message(id, recipient, written)?;
        match timeout(DEADLINE, self.transport.send(message)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(failed(&error)),
            Err(_) => Err(SendMailError::Passing(format!(
                "no end within {} s",
                DEADLINE.as_secs()
            ))),
        }
    }

    /// Whether the server answers, and takes the password.
    pub async fn check(&self) -> Result<(), SendMailError> {
        match timeout(DEADLINE, self.transport.test_connection()).await {
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false)) => Err(SendMailError::Passing("it hangs up".to_owned())),
            Ok(Err(error)) => Err(failed(&error)),
            Err(_) => Err(SendMailError::Passing(format!(
                "no answer within {} s",
                DEADLINE.as_secs()
            ))),
        }
    }

    fn message(&self, id: MailId, recipient: &str, written: Written) -> Result<Message, SendMailError> {
        let address: Address = recipient
            .parse()
            .map_err(|error| SendMailError::Final(format!("the address can't have mail: {error}")))?;
        let Written { subject, text, html } = written;
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

/// What a server finds wrong with our credentials is the operator's to mend: the mail waits for it.
fn failed(error: &lettre::transport::smtp::Error) -> SendMailError {
    /// RFC 4954, 6: of logging in.
    const OF_AUTHENTICATION: [u16; 5] = [530, 534, 535, 538, 554];
    match error.status().map(u16::from) {
        // What the server says to its code may name the address.
        Some(code) if error.is_permanent() && !OF_AUTHENTICATION.contains(&code) => {
            SendMailError::Final(format!("the server answers {code}"))
        }
        Some(code) => SendMailError::Passing(format!("the server answers {code}")),
        None => {
            let mut cause: &dyn std::error::Error = error;
            while let Some(deeper) = cause.source() {
                cause = deeper;
            }
            SendMailError::Passing(cause.to_string())
        }
    }
}
