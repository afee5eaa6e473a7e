//! The texts of mails. Every mail has the same content as plain text and as HTML, without images.

pub mod payment;
pub mod second_factor;

use std::net::IpAddr;

use time::{OffsetDateTime, macros::format_description};
use url::Url;

use super::{CONFIRM_EMAIL_PATH, INVITATION_PATH, RESET_PASSWORD_PATH, TOKEN, VERIFY_PATH, Written};
use crate::{one_time_token::OneTimeToken, password::MIN_CHARACTERS};

const LOG_IN_PATH: &str = "/log-in";
const DASHBOARD_PATH: &str = "/dashboard";
const FORGOT_PASSWORD_PATH: &str = "/forgot-password";
const SETTINGS_PATH: &str = "/dashboard/settings";

/// Completes a sign-up.
pub fn verify_address(base: &Url, token: &OneTimeToken) -> Written {
    Draft::new("Confirm your address")
        .says("Somebody, we hope you, wants a Platen account with this address.")
        .says("To have it, open this page within 24 hours and type the password that you chose.")
        .leads("Confirm the address", &link(base, VERIFY_PATH, token))
        .says("If it was not you, do nothing: there is no account unless you confirm.")
        .written()
}

/// For users who sign up twice, and users whose address someone else tries to sign up with.
pub fn account_exists(base: &Url) -> Written {
    Draft::new("You have an account already")
        .says("Somebody, we hope you, wants to use this address for a Platen account. It has one already.")
        .leads("Log in", &page(base, LOG_IN_PATH))
        .leads("Choose a new password", &page(base, FORGOT_PASSWORD_PATH))
        .says("If it was not you, do nothing: nothing has changed.")
        .written()
}

/// Links to the page that resets the password.
pub fn reset_password(base: &Url, token: &OneTimeToken) -> Written {
    Draft::new("Choose a new password")
        .says("Somebody, we hope you, has forgotten the password of the Platen account with this address.")
        .says(format!(
            "This page lets you choose a new one, of at least {MIN_CHARACTERS} characters. It works once, for an hour."
        ))
        .leads("Choose a new password", &link(base, RESET_PASSWORD_PATH, token))
        .says("If it was not you, do nothing: the password stays as it is.")
        .written()
}

/// Sent to the new address of a user who wants to change it.
pub fn confirm_address(base: &Url, token: &OneTimeToken) -> Written {
    Draft::new("Confirm your new address")
        .says("Somebody, we hope you, wants to use this address for their Platen account from now on.")
        .says("To do so, log in as before and open this page within 24 hours.")
        .leads("Confirm the address", &link(base, CONFIRM_EMAIL_PATH, token))
        .says("If it was not you, do nothing.")
        .written()
}

/// Sent to the old address of a user who wants to change it.
pub fn address_change_asked(base: &Url, new_address: &str) -> Written {
    Draft::new("Your address is to be changed")
        .says(format!(
            "You, or somebody who knows your password, asked for {new_address} as the address of your Platen account. It \
             changes once that address is confirmed."
        ))
        .says("If it was not you, choose a new password now: that calls it off.")
        .leads("Choose a new password", &page(base, FORGOT_PASSWORD_PATH))
        .written()
}

/// Sent to the old address of a user who has changed it.
pub fn address_changed(new_address: &str) -> Written {
    Draft::new("Your address was changed")
        .says(format!(
            "Your Platen account has the address {new_address} now; you log in with it. Nothing more is sent here."
        ))
        .says("If it was not you, write to whoever runs this service.")
        .written()
}

/// Sent after every change of the password.
pub fn password_changed(base: &Url) -> Written {
    Draft::new("Your password was changed")
        .says("The password of your Platen account is a new one, and all other sessions are logged out.")
        .says("If it was not you, choose another one now.")
        .leads("Choose a new password", &page(base, FORGOT_PASSWORD_PATH))
        .written()
}

/// Sent after the first log-in with a browser.
pub fn new_device(base: &Url, device: &str, address: IpAddr, at: OffsetDateTime) -> Written {
    Draft::new("A log-in with a new browser")
        .says(format!(
            "Somebody, we hope you, has logged in to your Platen account with a browser that you have not used before: \
             {device}, from {address}, on {}.",
            moment(at)
        ))
        .says("If it was not you, choose a new password now: that ends every session.")
        .leads("Choose a new password", &page(base, FORGOT_PASSWORD_PATH))
        .written()
}

/// Sent to the owner.
pub fn account_suspended(base: &Url, account: &str, reason: &str) -> Written {
    let draft = Draft::new("Your account is suspended").says(format!(
        "The operator of this service has suspended the Platen account {account}: its keys answer 403 from now on, what is \
         queued waits, and in the dashboard nothing can be changed. Nothing is deleted."
    ));
    let draft = if reason.is_empty() {
        draft
    } else {
        draft.says(format!("The reason: {reason}"))
    };
    draft
        .says("Write to the operator of this service to have it lifted. In Settings you can still make an export of the account.")
        .leads("Look at the account", &page(base, DASHBOARD_PATH))
        .written()
}

/// Sent to the owner.
pub fn account_restored(base: &Url, account: &str) -> Written {
    Draft::new("Your account works again")
        .says(format!(
            "The operator of this service has lifted the suspension of the Platen account {account}. Its keys work again, and \
             what was queued goes on."
        ))
        .leads("Look at the account", &page(base, DASHBOARD_PATH))
        .written()
}

/// Sent when the deletion is requested, so that it can be undone.
pub fn deletion_asked(base: &Url, account_name: &str, delete_at: OffsetDateTime) -> Written {
    let account = called(account_name, "your account");
    Draft::new("Your account is to be deleted")
        .says(format!(
            "As you asked, {account} is deleted on {}, with its templates, keys, renders and stored documents.",
            moment(delete_at)
        ))
        .says("Until then you can log in and take it back.")
        .leads("Log in", &page(base, LOG_IN_PATH))
        .written()
}

/// Links to the invitation.
pub fn invitation(base: &Url, account_name: &str, invited_by: &str, token: &OneTimeToken) -> Written {
    Draft::new("You are invited to a Platen account")
        .says(format!(
            "{invited_by} asks you into {}, to work with its templates and renders.",
            called(account_name, "their Platen account")
        ))
        .says("The link works once, within seven days, and for this address only.")
        .leads("Look at the invitation", &link(base, INVITATION_PATH, token))
        .says("If you do not know them, do nothing.")
        .written()
}

/// Sent to a user who was removed from an account.
pub fn removed(base: &Url, account_name: &str) -> Written {
    Draft::new("You no longer belong to an account")
        .says(format!(
            "Somebody who may do so has taken you out of {}. You cannot see or use it any more.",
            called(account_name, "a Platen account")
        ))
        .says("Accounts of your own, and others that you belong to, are as before. If this was the only one, your log-in is gone with it; you can sign up again.")
        .leads("Log in", &page(base, LOG_IN_PATH))
        .written()
}

/// Sent to the former owner and to the new one.
pub fn owner_changed(base: &Url, account_name: &str, owner: &str) -> Written {
    Draft::new("An account has another owner")
        .says(format!(
            "{owner} owns {} from now on, with its plan and the right to delete it.",
            called(account_name, "your Platen account")
        ))
        .says("If you did not expect this, talk to the other members of the account.")
        .leads("Dashboard", &page(base, DASHBOARD_PATH))
        .written()
}

/// Contains no link to the archive itself, so that readers must log in.
pub fn export_ready(base: &Url, account_name: &str, delete_at: OffsetDateTime) -> Written {
    let (account, moment) = (called(account_name, "your account"), moment(delete_at));
    Draft::new("Your export is ready")
        .says(format!(
            "All that belongs to {account} is in one file now. You find it under Settings until {moment}; then it is deleted."
        ))
        .leads("Settings", &page(base, SETTINGS_PATH))
        .says("If you did not ask for it, choose a new password now.")
        .leads("Choose a new password", &page(base, FORGOT_PASSWORD_PATH))
        .written()
}

/// Sent after the last attempt.
pub fn export_failed(base: &Url, account_name: &str) -> Written {
    let account = called(account_name, "your account");
    Draft::new("Your export could not be made")
        .says(format!(
            "You asked for all that belongs to {account}. It could not be put into a file, by no fault of yours."
        ))
        .says("Ask for it once more under Settings. If that fails, too, write to whoever runs this service.")
        .leads("Settings", &page(base, SETTINGS_PATH))
        .written()
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
struct Draft {
    subject: &'static str,
    text: String,
    html: String,
}

impl Draft {
    fn new(subject: &'static str) -> Self {
        Self {
            subject,
            text: String::new(),
            html: String::new(),
        }
    }

    fn says(mut self, words: impl AsRef<str>) -> Self {
        let words = words.as_ref();
        self.text.extend([words, "\n\n"]);
        self.html.extend(["<p>", &escaped(words), "</p>\n"]);
        self
    }

    fn leads(mut self, label: &str, url: &Url) -> Self {
        self.text.extend([label, ":\n", url.as_str(), "\n\n"]);
        let (label, url) = (escaped(label), escaped(url.as_str()));
        let link = format!("<p><a href=\"{url}\">{label}</a><br><small>{url}</small></p>\n");
        self.html.push_str(&link);
        self
    }

    fn written(self) -> Written {
        let Self { subject, text, html } = self;
        Written {
            subject: subject.to_owned(),
            text: format!("{}\n\n-- \nPlaten\n", text.trim_end()),
            html: format!(
                "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{subject}</title></head>\n\
                 <body style=\"max-width:34em;margin:2em auto;padding:0 1em;font:16px/1.5 sans-serif\">\n\
                 <h1 style=\"font-size:1.25em\">{subject}</h1>\n{html}<p>Platen</p>\n</body>\n</html>\n"
            ),
        }
    }
}

/// Escapes text for HTML elements and quoted attributes.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
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
    }

    #[test]
    fn what_people_write_stays_text() {
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
