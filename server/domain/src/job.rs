//! Background jobs: retries and leases.

use std::time::Duration;

use strum::{EnumString, IntoStaticStr, VariantArray};

/// How long a process holds a job without renewing its lease.
pub const LEASE: Duration = Duration::from_mins(1);
/// How long a request or a command holds a job; it doesn't renew the lease. Its requests to Stripe take less.
pub const LEASE_OF_REQUEST: Duration = Duration::from_mins(5);
/// Number of crashes of processes that held it after which a render, mail or export is given up.
pub const CRASHES: i32 = 3;

/// Delay before a job during which more than one process has crashed is retried. Most such jobs merely ran beside the
/// job that caused the crash, and should not run beside it again.
pub const AFTER_CRASHES: Duration = Duration::from_secs(5);

/// A kind of job. The names are used in the database and in query parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantArray)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum JobKind {
    /// Render a document and store it.
    Render,
    /// Send the webhook of a render.
    Callback,
    /// Send an event to a webhook endpoint.
    Delivery,
    /// Send a mail.
    Mail,
    /// Open rows of a batch.
    Batch,
    /// Create the archive of an account.
    Export,
    /// Synchronize a customer with Stripe.
    Customer,
    /// Report usage to Stripe.
    Usage,
}

/// The order of jobs within an account. Has no effect between accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// In the order of acceptance.
    Normal = 0,
    /// After all those with [`Self::Normal`], so that test renders don't delay live ones.
    Trial = 1,
    /// After those: the renders of batches, and their webhooks.
    Batch = 2,
    /// After all others: deliveries to failing endpoints.
    Failing = 3,
}

/// Delays before the second, third … attempt of a render.
const RENDER_DELAYS: [Duration; 5] = [
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(16),
    Duration::from_secs(32),
];
/// Delays before the second, third … attempt of a webhook: about a day in total.
const CALLBACK_DELAYS: [Duration; 7] = [
    Duration::from_mins(1),
    Duration::from_mins(5),
    Duration::from_mins(20),
    Duration::from_hours(1),
    Duration::from_hours(3),
    Duration::from_hours(7),
    Duration::from_hours(13),
];

/// Delays before the second, third … attempt of a mail: about twelve hours in total.
const MAIL_DELAYS: [Duration; 7] = [
    Duration::from_secs(10),
    Duration::from_mins(1),
    Duration::from_mins(5),
    Duration::from_mins(20),
    Duration::from_hours(1),
    Duration::from_hours(3),
    Duration::from_hours(8),
];

/// Delays before the second and the third attempt of an export.
const EXPORT_DELAYS: [Duration; 2] = [Duration::from_mins(1), Duration::from_mins(10)];

/// Delays before the second, third … attempt of opening rows; further ones follow every half minute.
const BATCH_DELAYS: [Duration; 3] = [Duration::from_secs(5), Duration::from_secs(15), Duration::from_secs(30)];

/// Delays before the second, third … attempt of a request to Stripe; further ones follow hourly.
const STRIPE_DELAYS: [Duration; 4] = [
    Duration::from_secs(5),
    Duration::from_mins(1),
    Duration::from_mins(10),
    Duration::from_hours(1),
];

impl JobKind {
    pub fn label(self) -> &'static str {
        match self {
            Self::Render => "Render",
            Self::Callback => "Webhook delivery",
            Self::Delivery => "Webhook event",
            Self::Mail => "Email",
            Self::Batch => "Batch",
            Self::Export => "Export",
            Self::Customer => "Stripe customer",
            Self::Usage => "Stripe usage report",
        }
    }

    /// Returns the delay after a failed attempt that followed `failures` earlier ones, or `None` if the job has finally
    /// failed.
    ///
    /// `chance`, from 0 to 1, varies the delay by up to a quarter, to spread retries of jobs that failed together.
    pub fn delay(self, failures: i32, chance: f64) -> Option<Duration> {
        let attempt = usize::try_from(failures).unwrap_or_default();
        let delay = match self {
            Self::Render => RENDER_DELAYS.get(attempt),
            Self::Callback | Self::Delivery => CALLBACK_DELAYS.get(attempt),
            Self::Mail => MAIL_DELAYS.get(attempt),
            Self::Export => EXPORT_DELAYS.get(attempt),
            Self::Batch => BATCH_DELAYS.get(attempt).or(BATCH_DELAYS.last()),
            Self::Customer | Self::Usage => STRIPE_DELAYS.get(attempt).or(STRIPE_DELAYS.last()),
        };
        Some(delay?.mul_f64(0.75 + chance.clamp(0.0, 1.0) / 2.0))
    }
}

/// Jobs of one kind, of all accounts that aren't suspended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueueLength {
    pub kind: JobKind,
    /// Jobs that could be claimed now.
    pub due: i64,
    /// Jobs that wait for a retry.
    pub later: i64,
    /// Jobs that a worker holds.
    pub in_hand: i64,
    /// For how long the oldest due job has been waiting, in seconds; 0 if there is none.
    pub oldest_due_seconds: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_render_is_tried_six_times_and_a_callback_eight_times_over_a_day() {
        let waits = |kind: JobKind| -> Vec<u64> {
            (0..)
                .map_while(|failures| kind.delay(failures, 0.5))
                .map(|wait| wait.as_secs())
                .collect()
        };
        assert_eq!(waits(JobKind::Render), [2, 4, 8, 16, 32]);
        let callbacks = waits(JobKind::Callback);
        assert_eq!((callbacks.len(), callbacks[0]), (7, 60));
        let hours = callbacks.iter().sum::<u64>() / 3600;
        assert!((23..=25).contains(&hours), "{hours} hours");
    }

    #[test]
    fn a_mail_is_tried_eight_times_over_half_a_day() {
        let waits: Vec<_> = (0..).map_while(|failures| JobKind::Mail.delay(failures, 0.5)).collect();
        let hours = waits.iter().sum::<Duration>().as_secs() / 3600;
        assert_eq!((waits.len(), hours), (7, 12));
    }

    #[test]
    fn tries_are_spread() {
        for (chance, milliseconds) in [(0.0, 1500), (0.5, 2000), (1.0, 2500)] {
            let wait = JobKind::Render.delay(0, chance).expect("a second try");
            assert_eq!(wait.as_millis(), milliseconds);
        }
    }
}
