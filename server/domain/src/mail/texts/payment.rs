//! Mails about payments and credits, sent to the account's owner.

use time::OffsetDateTime;
use url::Url;

use super::{Draft, moment, page};
use crate::mail::Written;

const BILLING_PATH: &str = "/dashboard/billing";

/// Sent while the grace period lasts.
pub fn failed(base: &Url, account: &str, plan: &str, until: OffsetDateTime) -> Written {
    let moment = moment(until);
    Draft::new("Your payment failed")
        .says(format!(
            "The payment for the {plan} plan of the Platen account {account} failed. The account stays on this plan until \
             {moment}."
        ))
        .says("If the invoice is unpaid by then, the account is downgraded to the Free plan. Nothing is deleted.")
        .says("Pay the invoice or change your payment method:")
        .leads("Open Usage and billing", &page(base, BILLING_PATH))
        .written()
}

/// Sent after the grace period.
pub fn plan_lost(base: &Url, account: &str, plan: &str) -> Written {
    Draft::new("Your account was downgraded to the Free plan")
        .says(format!(
            "The {plan} plan of the Platen account {account} wasn't paid for, so the account was downgraded to the Free \
             plan. Nothing is deleted."
        ))
        .says("To upgrade again, pay the open invoice or choose a plan:")
        .leads("Open Usage and billing", &page(base, BILLING_PATH))
        .written()
}

/// Sent when most credits are used, and when all are. `beyond` is the number of credits that may be used in addition.
pub fn credits_used(base: &Url, account: &str, used: i64, own: i64, beyond: i64, ends_at: OffsetDateTime) -> Written {
    let (all, moment) = (used >= own, moment(ends_at));
    let subject = if all {
        "You have used all credits"
    } else {
        "You have used most of your credits"
    };
    let draft = Draft::new(subject).says(format!(
        "The Platen account {account} has used {used} of its {own} credits. They renew on {moment}."
    ));
    let draft = match (all, beyond) {
        (true, 0) => draft.says("Until then, renders with live keys are rejected."),
        (true, beyond) => draft.says(format!(
            "Renders continue: you can use up to {beyond} additional credits, which are billed with the next invoice."
        )),
        (false, 0) => draft.says("Once they are used up, renders with live keys are rejected until then."),
        (false, beyond) => draft.says(format!(
            "Once they are used up, you can use up to {beyond} additional credits, which are billed with the next invoice."
        )),
    };
    draft.leads("Open Usage and billing", &page(base, BILLING_PATH)).written()
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
            (80, 500, "You have used most", "Once they are used up, you can use up to 500 additional credits"),
            (100, 0, "You have used all", "Until then, renders with live keys are rejected"),
            (100, 500, "You have used all", "Renders continue: you can use up to 500 additional credits"),
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
