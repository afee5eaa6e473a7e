//! How often people may try: by the address that they type, by where they come from, and apart from that for browsers that
//! the address's owner has logged in with. Wrong passwords from elsewhere never lock those out.

use std::{
    hash::Hash,
    net::IpAddr,
    num::NonZeroU32,
    time::{Duration, Instant},
};

use crate::{
    domain::{
        client::{Client, DeviceDigest},
        email::Email,
        ids::UserId,
    },
    service::{
        people::PeopleError,
        throttle::{Quota, Throttle},
    },
};

const PASSWORD_TIME: Duration = Duration::from_mins(15);
const MAIL_TIME: Duration = Duration::from_hours(1);
const CODE_TIME: Duration = Duration::from_hours(1);

/// Passwords that may be tried for one address, by each kind of [`Guesser`].
const PASSWORDS_OF_ADDRESS: Quota = quota(5, PASSWORD_TIME);
/// Passwords that may be tried from one place. Many people may share it.
const PASSWORDS_OF_CLIENT: Quota = quota(50, PASSWORD_TIME);
/// Mails that may be asked for to one address: nobody's mailbox is to be filled.
const MAILS_TO_ADDRESS: Quota = quota(5, MAIL_TIME);
/// Mails that may be asked for from one place.
const MAILS_OF_CLIENT: Quota = quota(30, MAIL_TIME);

/// Codes that may be tried as the second factor of one user, by each kind of [`Guesser`]. Of a million codes three count at a time: whoever knows the
/// password and guesses day and night needs years.
const CODES_OF_USER: Quota = quota(10, CODE_TIME);
/// Codes that may be tried from one place.
const CODES_OF_CLIENT: Quota = quota(100, CODE_TIME);

const fn quota(times: u32, within: Duration) -> Quota {
    let Some(times) = NonZeroU32::new(times) else {
        panic!("a quota is never 0")
    };
    Quota { times, within }
}

/// Whose tries for one address or user are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Guesser {
    /// Everybody about whom nothing is known.
    Anyone,
    /// One browser that the user has logged in with.
    KnownBrowser(DeviceDigest),
    /// Whoever has a link that was mailed to the address.
    LinkHolder,
}

/// Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Limits {
    passwords: Limit<(String, Guesser)>,
    mails: Limit<String>,
    codes: Limit<(UserId, Guesser)>,
}

#[derive(Clone)]
struct Limit<K> {
    /// By whom it is about.
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
    /// Counts a password that is tried for an address.
    pub(super) fn try_password(&self, client: &Client, email: &Email, guesser: Guesser) -> Result<(), PeopleError> {
        let subject = (email.as_str().to_owned(), guesser);
        let of_client = guesser.shares_network().then_some(PASSWORDS_OF_CLIENT);
        self.passwords.take(client, of_client, subject, PASSWORDS_OF_ADDRESS)
    }

    /// Whoever knows the password may forget it again.
    pub(super) fn forgive(&self, email: &Email, guesser: Guesser) {
        self.passwords.by_subject.forgive(&(email.as_str().to_owned(), guesser));
    }

    /// Whoever has replaced the password may mistype it again, wherever they do.
    pub(super) fn forgive_everybody(&self, email: &Email) {
        self.passwords
            .by_subject
            .forgive_where(|(address, _)| address == email.as_str());
    }

    /// Counts a code that is tried as the second factor of a user.
    pub(super) fn try_code(&self, client: &Client, user: UserId, guesser: Guesser) -> Result<(), PeopleError> {
        let of_client = guesser.shares_network().then_some(CODES_OF_CLIENT);
        self.codes.take(client, of_client, (user, guesser), CODES_OF_USER)
    }

    /// Whoever has shown a right code may mistype again.
    pub(super) fn forgive_codes(&self, user: UserId, guesser: Guesser) {
        self.codes.by_subject.forgive(&(user, guesser));
    }

    /// Counts a mail that is asked for.
    pub(super) fn ask_for_mail(&self, client: &Client, email: &Email) -> Result<(), PeopleError> {
        let address = email.as_str().to_owned();
        self.mails
            .take(client, Some(MAILS_OF_CLIENT), address, MAILS_TO_ADDRESS)
    }
}

impl Guesser {
    /// Whether tries are counted by network as well. A known browser has few enough, and its neighbours' are not its own.
    fn shares_network(self) -> bool {
        !matches!(self, Self::KnownBrowser(_))
    }
}

impl<K: Eq + Hash> Limit<K> {
    /// The client first: one that is refused does not use up what the subject has.
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
                tracing::warn!(client = %client.address, "somebody tries too often");
                Err(PeopleError::TooMany { retry_after })
            }
        }
    }
}
