//! Components of the service, and external services that it depends on.

use std::time::Duration;

use platen_app::{
    model::admin::health::{Part, PartState},
    ui::moment::clock,
};
use platen_core::service::health::Health;
use platen_domain::{
    health::{concern::Concern, state::StorageState},
    number::{counted, grouped, size, wait},
};

/// Returns one entry for each part.
pub(super) fn parts(found: &Health) -> Vec<Part> {
    let mut parts = vec![
        database(found),
        storage(found),
        browsers(found),
        templates(found),
        egress(found),
        mail(found),
        Part {
            name: "Account exports",
            state: PartState::Answering,
            detail: format!("{} waiting", grouped(found.exports)),
            microseconds: None,
        },
    ];
    parts.push(stripe(found));
    parts
}

fn strained_if(found: &Health, concern: impl Fn(&Concern) -> bool) -> PartState {
    if found.concerns.iter().any(concern) {
        PartState::Strained
    } else {
        PartState::Answering
    }
}

fn database(found: &Health) -> Part {
    let database = &found.database;
    // Debian appends its own version number.
    let version = database.version.split(' ').next().unwrap_or_default();
    Part {
        name: "Postgres",
        state: strained_if(found, |concern| {
            matches!(concern, Concern::ConnectionsNearlyUsed { .. })
        }),
        detail: format!(
            "{version}, {}, {} of {} connections",
            size(database.size),
            database.connections,
            database.connection_limit
        ),
        microseconds: Some(microseconds(found.database_time)),
    }
}

fn storage(found: &Health) -> Part {
    let looks = found.awake().filter_map(|process| process.heard.state.storage.as_ref());
    let looks: Vec<&StorageState> = looks.collect();
    let error = looks.iter().find_map(|look| look.error.clone());
    let (state, detail) = match (error, looks.len()) {
        (Some(error), _) => (PartState::Failing, error),
        (None, 0) => (PartState::Off, "not tested yet".to_owned()),
        (None, count) => (
            PartState::Answering,
            format!("tested by {} twice a minute", counted(count, "process", "processes")),
        ),
    };
    Part {
        name: "Default storage",
        state,
        detail,
        microseconds: looks.iter().map(|look| look.milliseconds * 1000).max(),
    }
}

fn browsers(found: &Health) -> Part {
    let sum = |count: fn(&platen_domain::health::state::InstanceState) -> usize| -> usize {
        found.awake().map(|process| count(&process.heard.state)).sum()
    };
    let (browsers, wanted) = (sum(|state| state.browsers), sum(|state| state.browsers_wanted));
    Part {
        name: "Browsers",
        state: match browsers {
            0 if wanted > 0 => PartState::Failing,
            browsers if browsers < wanted => PartState::Strained,
            _ => PartState::Answering,
        },
        detail: format!(
            "{browsers} of {wanted} responding, {} of {} slots in use",
            sum(|state| state.running),
            sum(|state| state.slots)
        ),
        microseconds: None,
    }
}

fn templates(found: &Health) -> Part {
    let states = || found.awake().map(|process| &process.heard.state);
    let children: usize = states().map(|state| state.template_children).sum();
    let busy: usize = states().map(|state| state.template_children_busy).sum();
    Part {
        name: "Template worker processes",
        state: PartState::Answering,
        detail: format!("{busy} of {children} busy"),
        microseconds: None,
    }
}

fn egress(found: &Health) -> Part {
    let refused = counted(found.day.egress_refusals, "host", "hosts");
    Part {
        name: "Egress guard",
        state: PartState::Answering,
        detail: format!("{refused} refused in 24 h"),
        microseconds: None,
    }
}

fn mail(found: &Health) -> Part {
    let waiting = grouped(found.mails.mails);
    let (state, detail) = if found.mail_is_sent {
        let oldest = wait(found.mails.oldest_seconds as i64);
        let detail = match found.mails.mails {
            0 => "0 waiting".to_owned(),
            _ => format!("{waiting} waiting, the oldest for {oldest}"),
        };
        let state = strained_if(found, |concern| matches!(concern, Concern::MailWaits { .. }));
        (state, detail)
    } else {
        (
            PartState::Off,
            format!("{waiting} waiting; not sent, because PLATEN_SMTP_URL is not set"),
        )
    };
    Part {
        name: "Email",
        state,
        detail,
        microseconds: None,
    }
}

fn stripe(found: &Health) -> Part {
    let (state, detail) = match found.stripe {
        None => (PartState::Off, "not configured".to_owned()),
        Some(status) => {
            let last = status.last_event.map_or_else(
                || "no events yet".to_owned(),
                |at| format!("last event {} at {} UTC", at.date(), clock(at)),
            );
            let differences = counted(status.differences, "difference", "differences");
            let state = strained_if(found, |concern| matches!(concern, Concern::StripeDiffered { .. }));
            (state, format!("{last}; {differences} in 7 days"))
        }
    };
    Part {
        name: "Stripe",
        state,
        detail,
        microseconds: None,
    }
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
