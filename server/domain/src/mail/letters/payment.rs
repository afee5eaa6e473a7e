//! Mails about payments and credits, sent to the account's owner.

use time::OffsetDateTime;
use url::Url;

use super::{Draft, moment, page};
use crate::mail::Written;

const BILLING_PATH: &str = "/dashboard/billing";

/// Sent while the grace period lasts.
pub fn failed(base: &Url, account: &str, plan: &str, until: OffsetDateTime) -> Written {
    let moment = moment(until);
    Draft::new("A payment has failed")
        .says(format!(
            "The plan {plan} of the Platen account {account} could not be paid for. It stays until {moment}."
        ))
        .says("If the payment is still missing then, the account is on the plan Free from then on. Nothing is deleted.")
        .says("Pay what is open, or pay with another card:")
        .leads("Usage and billing", &page(base, BILLING_PATH))
        .written()
}

/// Sent after the grace period.
pub fn plan_lost(base: &Url, account: &str, plan: &str) -> Written {
    Draft::new("Your account is on the plan Free")
        .says(format!(
            "The plan {plan} of the Platen account {account} was not paid for, so the account is on the plan Free now. \
             Nothing is deleted."
        ))
        .says("To have a larger plan again, pay what is open, or choose one anew:")
        .leads("Usage and billing", &page(base, BILLING_PATH))
        .written()
}

/// Sent when most credits are used, and when all are. `beyond` is the number of credits that may be used in addition.
pub fn credits_used(base: &Url, account: &str, used: i64, own: i64, beyond: i64, ends_at: OffsetDateTime) -> Written {
    let (all, moment) = (used >= own, moment(ends_at));
    let subject = if all {
        "All credits are used"
    } else {
        "Most credits are used"
    };
    let draft = Draft::new(subject).says(format!(
        "Of the {own} credits of the Platen account {account}, {used} are used. The next ones come on {moment}."
    ));
    let draft = match (all, beyond) {
        (true, 0) => draft.says("Until then renders with live keys are refused."),
        (true, beyond) => draft.says(format!(
            "Renders go on: up to {beyond} credits more may be used, and are paid for with the next invoice."
        )),
        (false, 0) => draft.says("When they are used up, renders with live keys are refused until then."),
        (false, beyond) => draft.says(format!(
            "When they are used up, up to {beyond} more may be used, and are paid for with the next invoice."
        )),
    };
    draft.leads("Usage and billing", &page(base, BILLING_PATH)).written()
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn whoever_runs_out_of_credits_reads_whether_renders_go_on() {
        let base = Url::parse("https://platen.example/app/").expect("a URL");
        let ends_at = datetime!(2026-12-01 08:05 UTC);
        for (used, beyond, subject, words) in [
            (
                80,
                0,
                "Most",
                "When they are used up, renders with live keys are refused",
            ),
            (80, 500, "Most", "When they are used up, up to 500 more"),
            (100, 0, "All", "Until then renders with live keys are refused"),
            (100, 500, "All", "Renders go on: up to 500 credits more"),
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
