//! Limits of attempts, by typed address and by client. Browsers that the address's user has logged in with are counted
//! separately, so that wrong passwords from elsewhere never lock them out.

use std::{
    hash::Hash,
    net::IpAddr,
    num::NonZeroU32,
    time::{Duration, Instant},
};

use platen_domain::{
    client::{Client, DeviceDigest},
    email::Email,
    ids::UserId,
};

use crate::service::{
    people::PeopleError,
    throttle::{Quota, Throttle},
};

const PASSWORD_TIME: Duration = Duration::from_mins(15);
const MAIL_TIME: Duration = Duration::from_hours(1);
const CODE_TIME: Duration = Duration::from_hours(1);

/// Attempts with passwords for one address, by each [`Guesser`].
const PASSWORDS_OF_ADDRESS: Quota = quota(5, PASSWORD_TIME);
/// Attempts with passwords from one network, which many users may share.
const PASSWORDS_OF_CLIENT: Quota = quota(50, PASSWORD_TIME);
/// Mails that may be requested for one address, so that mailboxes can't be flooded.
const MAILS_TO_ADDRESS: Quota = quota(5, MAIL_TIME);
/// Mails that may be requested from one network.
const MAILS_OF_CLIENT: Quota = quota(30, MAIL_TIME);

/// Attempts with codes for one user, by each [`Guesser`]. Of a million codes three are valid at a time, so guessing
/// takes years even with the password.
const CODES_OF_USER: Quota = quota(10, CODE_TIME);
/// Attempts with codes from one network.
const CODES_OF_CLIENT: Quota = quota(100, CODE_TIME);

const fn quota(times: u32, within: Duration) -> Quota {
    let Some(times) = NonZeroU32::new(times) else {
        panic!("a quota is never 0")
    };
    Quota { times, within }
}

/// Group of clients whose attempts for one address or user are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Guesser {
    /// All unknown clients.
    Anyone,
    /// A browser that the user has logged in with.
    KnownBrowser(DeviceDigest),
    /// Holders of a link that was mailed to the address.
    LinkHolder,
}

/// Counters of all attempts. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Limits {
    passwords: Limit<(String, Guesser)>,
    mails: Limit<String>,
    codes: Limit<(UserId, Guesser)>,
}

#[derive(Clone)]
struct Limit<K> {
    /// By the address or user that the attempt is for.
    by_subject: Throttle<K>,
    by_client: Throttle<IpAddr>,
}

impl<K> Default for Limit<K> {
    fn default() -> Self {
        Self {
            by_subject: Throttle::default(),
            by_client: Throttle::default(),
        }
    }
}

impl Limits {
    /// Counts an attempt with a password for an address.
    pub(super) fn try_password(&self, client: &Client, email: &Email, guesser: Guesser) -> Result<(), PeopleError> {
        let subject = (email.as_str().to_owned(), guesser);
        let of_client = guesser.shares_network().then_some(PASSWORDS_OF_CLIENT);
        self.passwords.take(client, of_client, subject, PASSWORDS_OF_ADDRESS)
    }

    /// Resets the attempts with passwords after a right one.
    pub(super) fn forgive(&self, email: &Email, guesser: Guesser) {
        self.passwords.by_subject.forgive(&(email.as_str().to_owned(), guesser));
    }

    /// Resets the attempts with passwords from everywhere, after the password was replaced.
    pub(super) fn forgive_everybody(&self, email: &Email) {
        self.passwords
            .by_subject
            .forgive_where(|(address, _)| address == email.as_str());
    }

    /// Counts an attempt with a code for a user.
    pub(super) fn try_code(&self, client: &Client, user: UserId, guesser: Guesser) -> Result<(), PeopleError> {
        let of_client = guesser.shares_network().then_some(CODES_OF_CLIENT);
        self.codes.take(client, of_client, (user, guesser), CODES_OF_USER)
    }

    /// Resets the attempts with codes after a right one.
    pub(super) fn forgive_codes(&self, user: UserId, guesser: Guesser) {
        self.codes.by_subject.forgive(&(user, guesser));
    }

    /// Counts a requested mail.
    pub(super) fn ask_for_mail(&self, client: &Client, email: &Email) -> Result<(), PeopleError> {
        let address = email.as_str().to_owned();
        self.mails
            .take(client, Some(MAILS_OF_CLIENT), address, MAILS_TO_ADDRESS)
    }
}

impl Guesser {
    /// Returns whether attempts are also counted by network. Those of a known browser aren't: they are few already, and
    /// it must not pay for its neighbors.
    fn shares_network(self) -> bool {
        !matches!(self, Self::KnownBrowser(_))
    }
}

impl<K: Eq + Hash> Limit<K> {
    /// Counts an attempt. The client is checked first, so that refused attempts don't count for the subject.
    fn take(
        &self,
        client: &Client,
        of_client: Option<Quota>,
        subject: K,
        of_subject: Quota,
    ) -> Result<(), PeopleError> {
        let now = Instant::now();
        let refused = of_client.and_then(|quota| self.by_client.take(client.network(), quota, now).refused_for);
        let refused = refused.or_else(|| self.by_subject.take(subject, of_subject, now).refused_for);
        match refused {
            None => Ok(()),
            Some(retry_after) => {
                tracing::warn!(client = %client.address, "too many attempts by a client");
                Err(PeopleError::TooMany { retry_after })
            }
        }
    }
}
