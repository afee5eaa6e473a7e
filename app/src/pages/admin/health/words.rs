//! Texts about concerns, failures and jobs.

use platen_domain::{
    health::{concern::Concern, failure_kind::FailureKind},
    job::JobKind,
    number::{counted, wait},
};

/// Returns title and advice for a concern.
pub(super) fn concern(concern: &Concern) -> (String, String) {
    match concern {
        Concern::Silent { name, seconds } => (
            format!("{name} has stopped reporting"),
            format!(
                "Its last report was {} ago, and it did not shut down. Check its log and its machine. It is removed \
                 from this page after an hour without reports.",
                wait(*seconds as i64)
            ),
        ),
        Concern::BrowsersMissing { name, browsers, wanted } => (
            format!("{name} has {browsers} of {wanted} browsers"),
            "Missing browsers restart automatically. If this takes longer than a minute, check the log, or run platen \
             doctor to test a browser."
                .to_owned(),
        ),
        Concern::BrowsersDied { name, count } => (
            format!(
                "{} of {name} crashed within an hour",
                counted(*count, "browser", "browsers")
            ),
            "Their renders are retried once. Check the memory of the machine. The log lists the renders of each \
             browser."
                .to_owned(),
        ),
        Concern::StorageFails { name, error } => (
            format!("Default storage fails on {name}"),
            format!(
                "{error}. Asynchronous renders without a destination are retried, and then fail. Run platen doctor for details."
            ),
        ),
        Concern::QueueNearlyFull { name, waiting, limit } => (
            format!("The render queue of {name} is nearly full"),
            format!(
                "{waiting} of {limit} renders are waiting for a slot. Above the limit, requests are rejected with 503. \
                 Add processes with the role web, or add slots if memory allows."
            ),
        ),
        Concern::JobsWait { kind, seconds } => (
            format!(
                "{}: the oldest job has been due for {}",
                jobs_name(*kind),
                wait(*seconds as i64)
            ),
            "Check that worker processes are running, and whether one account fills the queue: that delays only its \
             own jobs."
                .to_owned(),
        ),
        Concern::MailWaits { seconds } => (
            format!("Email has been waiting for {}", wait(*seconds as i64)),
            "Run platen doctor to test the mail server. The log contains its responses.".to_owned(),
        ),
        Concern::ConnectionsNearlyUsed { used, limit } => (
            format!("{used} of {limit} database connections are in use"),
            "Lower PLATEN_DATABASE_CONNECTIONS, or raise the connection limit of the database.".to_owned(),
        ),
        Concern::VersionsDiffer { versions } => (
            "Processes run different releases".to_owned(),
            format!(
                "{}. This is expected during an upgrade. Afterwards, restart the outdated processes.",
                versions.join(" and ")
            ),
        ),
        Concern::StripeDiffered { differences } => (
            format!(
                "{} between Stripe and the database in 7 days",
                counted(*differences, "difference", "differences")
            ),
            "The database was updated from Stripe. The log of the nightly comparison names the customers. Run platen \
             billing reconcile to compare again."
                .to_owned(),
        ),
    }
}

/// Returns the label of jobs of a kind.
pub(super) fn jobs_name(kind: JobKind) -> &'static str {
    match kind {
        JobKind::Render => "Queued renders",
        JobKind::Callback => "Webhook deliveries",
        JobKind::Delivery => "Webhook events",
        JobKind::Mail => "Emails",
        JobKind::Batch => "Batches",
        JobKind::Export => "Exports",
        JobKind::Customer => "Stripe customers",
        JobKind::Usage => "Stripe usage reports",
    }
}

/// Returns the label of renders that failed for this reason.
pub(super) fn failure_name(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Unreachable => "Page unreachable",
        FailureKind::AddressRefused => "Address refused",
        FailureKind::Script => "Script or wait_for",
        FailureKind::TooSlow => "Page timed out",
        FailureKind::Crashed => "Page crashed",
        FailureKind::Memory => "Page out of memory",
        FailureKind::TooLarge => "Document too large",
        FailureKind::Document => "Document options",
        FailureKind::Template => "Template",
        FailureKind::Destination => "Destination refused",
        FailureKind::Credits => "No credits",
        FailureKind::StorageFull => "Account storage full",
        FailureKind::Conflict => "Too many concurrent renders",
        FailureKind::NoSlot => "No slot in time",
        FailureKind::Browser => "Browser failed",
        FailureKind::Lost => "Process ended during render",
        FailureKind::Storage => "Default storage failed",
        FailureKind::Internal => "Internal error",
    }
}
