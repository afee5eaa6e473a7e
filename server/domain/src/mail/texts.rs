//! The texts of mails. Every mail has the same content as plain text and as HTML, without images.

pub mod payment;
pub mod second_factor;

use std::net::IpAddr;

use time::{OffsetDateTime, macros::format_description};
use url::Url;

use super::{CONFIRM_EMAIL_PATH, ComposedMail, INVITATION_PATH, RESET_PASSWORD_PATH, TOKEN, VERIFY_PATH};
use crate::{html::escaped, ids::ApiKeyId, one_time_token::OneTimeToken, password::MIN_CHARACTERS};

const LOG_IN_PATH: &str = "/log-in";
const DASHBOARD_PATH: &str = "/dashboard";
const FORGOT_PASSWORD_PATH: &str = "/forgot-password";
const SETTINGS_PATH: &str = "/dashboard/settings";
const API_KEYS_PATH: &str = "/dashboard/api-keys";
const WEBHOOKS_PATH: &str = "/dashboard/webhooks";
/// Style of links that look like buttons. Mail programs ignore style sheets.
const BUTTON: &str = "display:inline-block;padding:10px 20px;border-radius:2px;background:#2a31c4;color:#ffffff;\
                      font-weight:bold;text-decoration:none";

/// Completes a sign-up.
pub fn verify_address(base: &Url, token: &OneTimeToken) -> ComposedMail {
    Composer::new("Confirm your email address")
        .paragraph("You signed up for Platen with this email address.")
        .paragraph("To create your account, open this link within 24 hours and enter the password that you chose.")
        .link("Confirm email address", &link(base, VERIFY_PATH, token))
        .paragraph("If this wasn't you, ignore this email. No account is created unless the address is confirmed.")
        .finish()
}

/// For users who sign up twice, and users whose address someone else tries to sign up with.
pub fn account_exists(base: &Url) -> ComposedMail {
    Composer::new("You already have an account")
        .paragraph(
            "Someone tried to use this email address for a Platen account. You already have an account with this address.",
        )
        .paragraph("If this was you, log in, or reset your password if you have forgotten it.")
        .link("Log in", &page(base, LOG_IN_PATH))
        .link("Reset password", &page(base, FORGOT_PASSWORD_PATH))
        .paragraph("If this wasn't you, ignore this email. Your account hasn't changed.")
        .finish()
}

/// Links to the page that resets the password.
pub fn reset_password(base: &Url, token: &OneTimeToken) -> ComposedMail {
    Composer::new("Reset your password")
        .paragraph("You requested a password reset for your Platen account.")
        .paragraph(format!(
            "Open this link to choose a new password of at least {MIN_CHARACTERS} characters. The link expires in one hour \
             and can be used once."
        ))
        .link("Reset password", &link(base, RESET_PASSWORD_PATH, token))
        .paragraph("If this wasn't you, ignore this email. Your password hasn't changed.")
        .finish()
}

/// Sent to the new address of a user who wants to change it.
pub fn confirm_address(base: &Url, token: &OneTimeToken) -> ComposedMail {
    Composer::new("Confirm your new email address")
        .paragraph("You requested to change the email address of your Platen account to this one.")
        .paragraph("To confirm the change, log in with your current address and open this link within 24 hours.")
        .link("Confirm email address", &link(base, CONFIRM_EMAIL_PATH, token))
        .paragraph("If this wasn't you, ignore this email.")
        .finish()
}

/// Sent to the old address of a user who wants to change it.
pub fn address_change_asked(base: &Url, new_address: &str) -> ComposedMail {
    Composer::new("Email address change requested")
        .paragraph(format!(
            "You requested to change the email address of your Platen account to {new_address}. The change takes \
             effect when the new address is confirmed."
        ))
        .paragraph("If this wasn't you, someone else knows your password. Reset it now to cancel the change.")
        .link("Reset password", &page(base, FORGOT_PASSWORD_PATH))
        .finish()
}

/// Sent to the old address of a user who has changed it.
pub fn address_changed(new_address: &str) -> ComposedMail {
    Composer::new("Your email address was changed")
        .paragraph(format!(
            "The email address of your Platen account is now {new_address}. Use it to log in. You will no longer receive \
             emails at this address."
        ))
        .paragraph("If this wasn't you, contact the operator of this service.")
        .finish()
}

/// Sent after every change of the password.
pub fn password_changed(base: &Url) -> ComposedMail {
    Composer::new("Your password was changed")
        .paragraph("The password of your Platen account was changed, and all other sessions were logged out.")
        .paragraph("If this wasn't you, reset your password now.")
        .link("Reset password", &page(base, FORGOT_PASSWORD_PATH))
        .finish()
}

/// Sent after the first log-in with a browser.
pub fn new_device(base: &Url, device: &str, address: IpAddr, at: OffsetDateTime) -> ComposedMail {
    Composer::new("New log-in to your account")
        .paragraph(format!(
            "Your Platen account was logged in to with a new browser: {device}, from {address}, on {}.",
            moment(at)
        ))
        .paragraph("If this was you, no action is needed.")
        .paragraph("If this wasn't you, reset your password now. This ends all sessions.")
        .link("Reset password", &page(base, FORGOT_PASSWORD_PATH))
        .finish()
}

/// Sent to the owner and the admins, seven days before.
pub fn key_expiring(base: &Url, account: &str, key: ApiKeyId, name: &str, expires_at: OffsetDateTime) -> ComposedMail {
    Composer::new("An API key expires soon")
        .paragraph(format!(
            "The API key {name} of the Platen account {account} expires on {}. Requests with it are rejected from then on.",
            moment(expires_at)
        ))
        .paragraph("To avoid an interruption, rotate the key or change its expiry:")
        .link("Open the API key", &page(base, &format!("{API_KEYS_PATH}/{key}")))
        .finish()
}

/// Sent to the owner and the admins.
pub fn webhook_endpoint_disabled(base: &Url, account: &str, address: &str) -> ComposedMail {
    Composer::new("A webhook endpoint was disabled")
        .paragraph(format!(
            "All deliveries to the webhook endpoint {address} of the Platen account {account} have failed for five days, so \
             the endpoint was disabled. It receives no more events."
        ))
        .paragraph("Correct the receiver, send a test event, and enable the endpoint again:")
        .link("Open Webhooks", &page(base, WEBHOOKS_PATH))
        .finish()
}

/// Sent to the owner.
pub fn account_suspended(base: &Url, account: &str, reason: &str) -> ComposedMail {
    let draft = Composer::new("Your account is suspended").paragraph(format!(
        "The operator of this service has suspended the Platen account {account}. Requests with its API keys are rejected \
         with 403, queued renders are paused, and the dashboard is read-only. Nothing is deleted."
    ));
    let draft = if reason.is_empty() {
        draft
    } else {
        draft.paragraph(format!("Reason: {reason}"))
    };
    draft
        .paragraph(
            "To have the suspension lifted, contact the operator of this service. You can still export the account in Settings.",
        )
        .link("Open dashboard", &page(base, DASHBOARD_PATH))
        .finish()
}

/// Sent to the owner.
pub fn account_restored(base: &Url, account: &str) -> ComposedMail {
    Composer::new("Your account is active again")
        .paragraph(format!(
            "The operator of this service has lifted the suspension of the Platen account {account}. Its API keys work \
             again, and queued renders continue."
        ))
        .link("Open dashboard", &page(base, DASHBOARD_PATH))
        .finish()
}

/// Sent when the deletion is requested, so that it can be undone.
pub fn deletion_asked(base: &Url, account_name: &str, delete_at: OffsetDateTime) -> ComposedMail {
    let account = called(account_name, "your account");
    Composer::new("Your account will be deleted")
        .paragraph(format!(
            "As you requested, {account} will be deleted on {}, with its templates, keys, renders and stored documents.",
            moment(delete_at)
        ))
        .paragraph("To keep the account, log in before then and cancel the deletion.")
        .link("Log in", &page(base, LOG_IN_PATH))
        .finish()
}

/// Links to the invitation.
pub fn invitation(base: &Url, account_name: &str, invited_by: &str, token: &OneTimeToken) -> ComposedMail {
    Composer::new("You're invited to a Platen account")
        .paragraph(format!(
            "{invited_by} has invited you to {}. As a member, you can work with its templates and renders.",
            called(account_name, "their Platen account")
        ))
        .paragraph("The invitation is for this email address. It expires in seven days and can be used once.")
        .link("View invitation", &link(base, INVITATION_PATH, token))
        .paragraph("If you don't know the sender, ignore this email.")
        .finish()
}

/// Sent to a user who was removed from an account.
pub fn removed(base: &Url, account_name: &str) -> ComposedMail {
    Composer::new("You were removed from an account")
        .paragraph(format!(
            "An administrator has removed you from {}. You no longer have access to it.",
            called(account_name, "a Platen account")
        ))
        .paragraph(
            "Your other accounts aren't affected. If this was your only account, your log-in was deleted too; you can sign up \
             again.",
        )
        .link("Log in", &page(base, LOG_IN_PATH))
        .finish()
}

/// Sent to the former owner and to the new one.
pub fn owner_changed(base: &Url, account_name: &str, owner: &str) -> ComposedMail {
    Composer::new("Your account has a new owner")
        .paragraph(format!(
            "{owner} is now the owner of {}, and can manage its plan and delete it.",
            called(account_name, "your Platen account")
        ))
        .paragraph("If you didn't expect this, contact the other members of the account.")
        .link("Open dashboard", &page(base, DASHBOARD_PATH))
        .finish()
}

/// Contains no link to the archive itself, so that readers must log in.
pub fn export_ready(base: &Url, account_name: &str, delete_at: OffsetDateTime) -> ComposedMail {
    let (account, moment) = (called(account_name, "your account"), moment(delete_at));
    Composer::new("Your export is ready")
        .paragraph(format!(
            "The export of {account} is ready. You can download it in Settings until {moment}, when it will be deleted."
        ))
        .link("Open Settings", &page(base, SETTINGS_PATH))
        .paragraph("If you didn't request this export, reset your password now.")
        .link("Reset password", &page(base, FORGOT_PASSWORD_PATH))
        .finish()
}

/// Sent after the last attempt.
pub fn export_failed(base: &Url, account_name: &str) -> ComposedMail {
    let account = called(account_name, "your account");
    Composer::new("Your export failed")
        .paragraph(format!("The export of {account} failed because of an internal error."))
        .paragraph("Start it again in Settings. If it fails again, contact the operator of this service.")
        .link("Open Settings", &page(base, SETTINGS_PATH))
        .finish()
}

fn called(account_name: &str, nameless: &str) -> String {
    if account_name.is_empty() {
        nameless.to_owned()
    } else {
        format!("the account {account_name}")
    }
}

fn moment(at: OffsetDateTime) -> String {
    const MOMENT: &[time::format_description::BorrowedFormatItem<'_>] =
        format_description!("[day padding:none] [month repr:long] [year], [hour]:[minute] UTC");
    at.to_offset(time::UtcOffset::UTC).format(MOMENT).unwrap_or_default()
}

fn page(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    let folder = base.path().trim_end_matches('/').to_owned();
    url.set_path(&format!("{folder}{path}"));
    url
}

fn link(base: &Url, path: &str, token: &OneTimeToken) -> Url {
    let mut url = page(base, path);
    url.query_pairs_mut().append_pair(TOKEN, token.expose());
    url
}

/// A mail that is being written, as text and HTML.
struct Composer {
    subject: &'static str,
    text: String,
    html: String,
}

impl Composer {
    fn new(subject: &'static str) -> Self {
        Self {
            subject,
            text: String::new(),
            html: String::new(),
        }
    }

    fn paragraph(mut self, words: impl AsRef<str>) -> Self {
        let words = words.as_ref();
        self.text.extend([words, "\n\n"]);
        self.html.extend(["<p>", &escaped(words), "</p>\n"]);
        self
    }

    fn link(mut self, label: &str, url: &Url) -> Self {
        self.text.extend([label, ":\n", url.as_str(), "\n\n"]);
        let (label, url) = (escaped(label), escaped(url.as_str()));
        let link = format!(
            "<p><a href=\"{url}\" style=\"{BUTTON}\">{label}</a></p>\n\
             <p style=\"font-size:13px;overflow-wrap:anywhere\">Or open this address:<br><a href=\"{url}\">{url}</a></p>\n"
        );
        self.html.push_str(&link);
        self
    }

    fn finish(self) -> ComposedMail {
        let Self { subject, text, html } = self;
        ComposedMail {
            subject: subject.to_owned(),
            text: format!("{}\n\n-- \nPlaten\n", text.trim_end()),
            html: format!(
                "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\
                 <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{subject}</title></head>\n\
                 <body style=\"max-width:34em;margin:2em auto;padding:0 1em;font:16px/1.5 sans-serif\">\n\
                 <h1 style=\"font-size:1.25em\">{subject}</h1>\n{html}<p>Platen</p>\n</body>\n</html>\n"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    fn base() -> Url {
        Url::parse("https://platen.example/app/").expect("a URL")
    }

    #[test]
    fn a_link_holds_its_token_in_both_forms() {
        let token = OneTimeToken::from_random([7; 32]);
        let mail = reset_password(&base(), &token);
        let url = format!("https://platen.example/app/reset-password?token={}", token.expose());
        assert!(mail.text.lines().any(|line| line == url), "{}", mail.text);
        assert!(mail.html.contains(&format!("href=\"{url}\"")), "{}", mail.html);
        // As text as well, for mail programs without links.
        assert!(mail.html.contains(&format!(">{url}</a>")), "{}", mail.html);
    }

    #[test]
    fn a_mail_is_as_wide_as_the_phone_that_shows_it() {
        let mail = password_changed(&base());
        assert!(
            mail.html
                .contains("<meta name=\"viewport\" content=\"width=device-width"),
            "{}",
            mail.html
        );
    }

    #[test]
    fn user_input_is_escaped() {
        let mail = deletion_asked(
            &base(),
            "<script>alert('1')</script> & \"Sons\"",
            datetime!(2026-12-01 08:05 +2),
        );
        assert!(!mail.html.contains("<script"), "{}", mail.html);
        assert!(
            mail.html
                .contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;Sons&quot;")
        );
        assert!(mail.text.contains("1 December 2026, 06:05 UTC"), "{}", mail.text);
    }
}
