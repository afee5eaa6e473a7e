//! Mails about payments and credits, sent to the account's owner.

use time::OffsetDateTime;
use url::Url;

use super::{Composer, moment, page};
use crate::mail::ComposedMail;

const BILLING_PATH: &str = "/dashboard/billing";

/// Sent while the grace period lasts.
pub fn failed(base: &Url, account: &str, plan: &str, until: OffsetDateTime) -> ComposedMail {
    let moment = moment(until);
    Composer::new("Your payment failed")
        .paragraph(format!(
            "The payment for the {plan} plan of the Platen account {account} failed. The account stays on this plan until \
             {moment}."
        ))
        .paragraph("If the invoice is unpaid by then, the account is downgraded to the Free plan. Nothing is deleted.")
        .paragraph("Pay the invoice or change your payment method:")
        .link("Open Usage and billing", &page(base, BILLING_PATH))
        .finish()
}

/// Sent after the grace period.
pub fn plan_lost(base: &Url, account: &str, plan: &str) -> ComposedMail {
    Composer::new("Your account was downgraded to the Free plan")
        .paragraph(format!(
            "The {plan} plan of the Platen account {account} wasn't paid for, so the account was downgraded to the Free \
             plan. Nothing is deleted."
        ))
        .paragraph("To upgrade again, pay the open invoice or choose a plan:")
        .link("Open Usage and billing", &page(base, BILLING_PATH))
        .finish()
}

/// Sent when most credits are used, and when all are. `beyond` is the number of credits that may be used in addition.
pub fn credits_used(
    base: &Url,
    account: &str,
    used: i64,
    own: i64,
    beyond: i64,
    ends_at: OffsetDateTime,
) -> ComposedMail {
    let (all, moment) = (used >= own, moment(ends_at));
    let subject = if all {
        "You have used all credits"
    } else {
        "You have used most of your credits"
    };
    let draft = Composer::new(subject).paragraph(format!(
        "The Platen account {account} has used {used} of its {own} credits. They renew on {moment}."
    ));
    let draft = match (all, beyond) {
        (true, 0) => draft.paragraph("Until then, renders with live keys are rejected."),
        (true, beyond) => draft.paragraph(format!(
            "Renders continue: you can use up to {beyond} additional credits, which are billed with the next invoice."
        )),
        (false, 0) => draft.paragraph("Once they are used up, renders with live keys are rejected until then."),
        (false, beyond) => draft.paragraph(format!(
            "Once they are used up, you can use up to {beyond} additional credits, which are billed with the next invoice."
        )),
    };
    draft.link("Open Usage and billing", &page(base, BILLING_PATH)).finish()
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn credit_mails_say_whether_renders_continue() {
        let base = Url::parse("https://platen.example/app/").expect("a URL");
        let ends_at = datetime!(2026-12-01 08:05 UTC);
        for (used, beyond, subject, words) in [
            (
                80,
                0,
                "You have used most",
                "Once they are used up, renders with live keys are rejected",
            ),
            (
                80,
                500,
                "You have used most",
                "Once they are used up, you can use up to 500 additional credits",
            ),
            (
                100,
                0,
                "You have used all",
                "Until then, renders with live keys are rejected",
            ),
            (
                100,
                500,
                "You have used all",
                "Renders continue: you can use up to 500 additional credits",
            ),
        ] {
            let mail = credits_used(&base, "Acme", used, 100, beyond, ends_at);
            assert!(
                mail.subject.starts_with(subject) && mail.text.contains(words),
                "{}",
                mail.text
            );
        }
    }
}
