//! Mails to an account's owner about a past due subscription.

use platen_domain::{
    billing::{FREE, Subscription, SubscriptionStatus},
    ids::AccountId,
    mail::MailKind,
};
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::{
    service::mail::write_to_owner,
    store::{accounts, error::StoreError},
};

/// Change of a subscription since it was last mirrored.
pub(super) struct Turn<'a> {
    /// The subscription as it was then, if it was known.
    pub(super) known: Option<&'a Subscription>,
    /// The subscription as it is now.
    pub(super) found: &'a Subscription,
    /// Plan that it paid for then.
    pub(super) former_plan: Option<&'a str>,
    /// Plan that it currently pays for.
    pub(super) plan: &'a str,
}

impl Turn<'_> {
    /// Returns the mail to send, if any: one when a payment becomes due, and one when the plan is lost because the
    /// payment failed, whether its grace period has ended or Stripe gave up earlier.
    fn mail(&self, account: String, now: OffsetDateTime) -> Option<MailKind> {
        let was_unpaid = self.known.is_some_and(|known| known.unpaid_since.is_some());
        if let SubscriptionStatus::Due { until } = self.found.status(now) {
            let plan = self.plan.to_owned();
            return (!was_unpaid).then_some(MailKind::PaymentFailed { account, plan, until });
        }
        let lost = self.former_plan.filter(|former| *former != FREE && self.plan == FREE)?;
        let plan = lost.to_owned();
        (was_unpaid || self.found.unpaid_since.is_some()).then_some(MailKind::PlanLost { account, plan })
    }
}

/// Notifies the owner, in the transaction that stores the subscription, so each change is mailed once, however often
/// the customer is mirrored.
pub(super) async fn notify_owner(
    db: &mut PgConnection,
    account: AccountId,
    turn: &Turn<'_>,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let Some(owner) = accounts::find_owner_address(db, account).await? else {
        return Ok(());
    };
    match turn.mail(owner.called.clone(), now) {
        Some(mail) => write_to_owner(db, &owner, &mail, now).await,
        None => Ok(()),
    }
}
