//! How often people may try: by the address that they type, and by where they come from.

use std::{
    net::IpAddr,
    num::NonZeroU32,
    time::{Duration, Instant},
};

use crate::{
    domain::{client::Client, email::Email},
    service::{
        people::PeopleError,
        throttle::{Quota, Throttle},
    },
};

const PASSWORD_TIME: Duration = Duration::from_mins(15);
const MAIL_TIME: Duration = Duration::from_hours(1);

/// Passwords that may be tried for one address.
const PASSWORDS_OF_ADDRESS: Quota = quota(5, PASSWORD_TIME);
/// Passwords that may be tried from one place. Many people may share it.
const PASSWORDS_OF_CLIENT: Quota = quota(50, PASSWORD_TIME);
/// Mails that may be asked for to one address: nobody's mailbox is to be filled.
const MAILS_TO_ADDRESS: Quota = quota(5, MAIL_TIME);
/// Mails that may be asked for from one place.
const MAILS_OF_CLIENT: Quota = quota(30, MAIL_TIME);

const fn quota(times: u32, within: Duration) -> Quota {
    let Some(times) = NonZeroU32::new(times) else {
        panic!("a quota is never 0")
    };
    Quota { times, within }
}

/// Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Limits {
    passwords: Limit,
    mails: Limit,
}

#[derive(Clone, Default)]
struct Limit {
    by_address: Throttle<String>,
    by_client: Throttle<IpAddr>,
}

impl Limits {
    /// Counts a password that is tried for an address.
    pub(super) fn try_password(&self, client: &Client, email: &Email) -> Result<(), PeopleError> {
        self.passwords
            .take(client, PASSWORDS_OF_CLIENT, email, PASSWORDS_OF_ADDRESS)
    }

    /// Whoever knows the password may forget it again.
    pub(super) fn forgive(&self, email: &Email) {
        self.passwords.by_address.forgive(&email.as_str().to_owned());
    }

    /// Counts a mail that is asked for.
    pub(super) fn ask_for_mail(&self, client: &Client, email: &Email) -> Result<(), PeopleError> {
        self.mails.take(client, MAILS_OF_CLIENT, email, MAILS_TO_ADDRESS)
    }
}

impl Limit {
    /// The client first: one that is refused does not use up what the address has.
    fn take(&self, client: &Client, of_client: Quota, email: &Email, of_address: Quota) -> Result<(), PeopleError> {
        let now = Instant::now();
        let refused = self.by_client.take(client.network(), of_client, now).refused_for;
        let refused = refused.or_else(|| {
            let address = email.as_str().to_owned();
            self.by_address.take(address, of_address, now).refused_for
        });
        match refused {
            None => Ok(()),
            Some(retry_after) => {
                tracing::warn!(client = %client.address, "somebody tries too often");
                Err(PeopleError::TooMany { retry_after })
            }
        }
    }
}
