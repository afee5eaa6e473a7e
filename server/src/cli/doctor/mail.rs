//! Checks whether mail can be sent.

use platen_core::{config::Config, outbound::mail::SmtpClient};

use crate::cli::doctor::Finding;

const SUBJECT: &str = "Mail";

pub(super) async fn look(config: &Config) -> Finding {
    let Some(smtp) = &config.mail.smtp else {
        return if config.http.is_private() {
            Finding::fine(SUBJECT, "stored, not sent; see /dev/mail (PLATEN_SMTP_URL is not set)")
        } else {
            let fact = "PLATEN_SMTP_URL is not set: users can't sign up or reset their password";
            Finding::warning(SUBJECT, fact, "set PLATEN_SMTP_URL and PLATEN_MAIL_FROM")
        };
    };
    let server = format!("{}:{}", smtp.host, smtp.port);
    let checked = match SmtpClient::new(&config.mail) {
        Ok(Some(client)) => client.check().await.map_err(|error| error.to_string()),
        Ok(None) => return Finding::fine(SUBJECT, "not sent"),
        Err(error) => Err(error.to_string()),
    };
    match checked {
        Ok(()) => Finding::fine(
            SUBJECT,
            format!("{server} accepts mail from {}", config.mail.from.email),
        ),
        Err(error) => {
            let remedy = "check PLATEN_SMTP_URL, and that this machine can reach the server; mail is queued meanwhile";
            Finding::warning(SUBJECT, format!("{server}: {error}"), remedy)
        }
    }
}
