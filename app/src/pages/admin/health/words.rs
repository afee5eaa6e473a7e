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
            format!("{name} has fallen silent"),
            format!(
                "It was heard of last {} ago, and did not stop in order. Look at its log and at its machine. It leaves \
                 this page an hour after it fell silent.",
                wait(*seconds as i64)
            ),
        ),
        Concern::BrowsersMissing { name, browsers, wanted } => (
            format!("{name} has {browsers} of {wanted} browsers"),
            "They are started again by themselves. If that takes longer than a minute, the log says why; platen doctor \
             tries a browser."
                .to_owned(),
        ),
        Concern::BrowsersDied { name, count } => (
            format!("{} of {name} died within an hour", counted(*count, "browser", "browsers")),
            "Renders in flight are tried once more. Look at the memory of the machine; the log says which renders each was \
             at."
                .to_owned(),
        ),
        Concern::StorageFails { name, error } => (
            format!("The default storage fails for {name}"),
            format!("{error}. Asynchronous renders without a destination of their own are tried again, and then fail; platen doctor says more."),
        ),
        Concern::QueueNearlyFull { name, waiting, limit } => (
            format!("{name} has hardly any room for renders that wait"),
            format!(
                "{waiting} of {limit} wait for a slot; above that requests are answered with 503. Add processes with the \
                 role web, or slots if there is memory for them."
            ),
        ),
        Concern::JobsWait { kind, seconds } => (
            format!("{}: the oldest has been due for {}", jobs_name(*kind), wait(*seconds as i64)),
            "Look whether there are processes that do background work, and whether one account fills the queue: only \
             its own jobs wait longer then."
                .to_owned(),
        ),
        Concern::MailWaits { seconds } => (
            format!("Mail has waited for {}", wait(*seconds as i64)),
            "platen doctor tries the server that sends it; the log says what it answered.".to_owned(),
        ),
        Concern::ConnectionsNearlyUsed { used, limit } => (
            format!("{used} of {limit} connections to the database are used"),
            "Lower PLATEN_DATABASE_CONNECTIONS of the processes, or let the database have more.".to_owned(),
        ),
        Concern::VersionsDiffer { versions } => (
            "Processes are of several releases".to_owned(),
            format!(
                "{}. During an upgrade that is as it should be; afterwards restart those that are behind.",
                versions.join(" and ")
            ),
        ),
        Concern::StripeDiffered { differences } => (
            format!(
                "{} between Stripe and the database in 7 days",
                counted(*differences, "difference", "differences")
            ),
            "The database follows Stripe by itself; the log of the nightly comparison names the customers, and platen \
             billing reconcile compares again."
                .to_owned(),
        ),
    }
}

/// Returns the label of jobs of a kind.
pub(super) fn jobs_name(kind: JobKind) -> &'static str {
    match kind {
        JobKind::Render => "Queued renders",
        JobKind::Callback => "Callbacks",
        JobKind::Mail => "Mails",
        JobKind::Export => "Exports",
        JobKind::Customer => "Customers at Stripe",
        JobKind::Usage => "Usage for Stripe",
    }
}

/// Returns the label of renders that failed for this reason.
pub(super) fn failure_name(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Unreachable => "Page not to be had",
        FailureKind::AddressRefused => "Address refused",
        FailureKind::Script => "Script or wait_for",
        FailureKind::TooSlow => "Page too slow",
        FailureKind::Crashed => "Page crashed",
        FailureKind::Memory => "Page took too much memory",
        FailureKind::TooLarge => "Too many pages, or too large",
        FailureKind::Document => "Not possible as asked for",
        FailureKind::Template => "Template",
        FailureKind::Destination => "Client's store refused",
        FailureKind::Credits => "No credits",
        FailureKind::StorageFull => "Account's storage full",
        FailureKind::Conflict => "Too many at once",
        FailureKind::NoSlot => "No slot in time",
        FailureKind::Browser => "Browser failed",
        FailureKind::Lost => "Process ended over it",
        FailureKind::Storage => "Store failed",
        FailureKind::Internal => "Internal error",
    }
}
