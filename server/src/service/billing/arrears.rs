//! What the owner of an account is told of a plan that is not paid for.

use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::{
    domain::{
        billing::{FREE, Standing, Subscription},
        ids::AccountId,
        mail::Letter,
    },
    service::mail::write_to_owner,
    store::{accounts, error::StoreError},
};

/// What has become of a subscription since somebody looked last.
pub(super) struct Turn<'a> {
    /// As it was then, if it was known.
    pub(super) known: Option<&'a Subscription>,
    /// As it is.
    pub(super) found: &'a Subscription,
    /// What it paid for then.
    pub(super) former_plan: Option<&'a str>,
    /// What it pays for.
    pub(super) plan: &'a str,
}

impl Turn<'_> {
    /// What there is to tell: once when something is to be paid, and once when the plan is lost because it was not, whether
    /// the time for it is over or Stripe has given up before.
    fn letter(&self, account: String, now: OffsetDateTime) -> Option<Letter> {
        let was_unpaid = self.known.is_some_and(|known| known.unpaid_since.is_some());
        if let Standing::Due { until } = self.found.standing(now) {
            let plan = self.plan.to_owned();
            return (!was_unpaid).then_some(Letter::PaymentFailed { account, plan, until });
        }
        let lost = self.former_plan.filter(|former| *former != FREE && self.plan == FREE)?;
        let plan = lost.to_owned();
        (was_unpaid || self.found.unpaid_since.is_some()).then_some(Letter::PlanLost { account, plan })
    }
}

/// Tells the owner, in the transaction that writes down how the subscription stands: so each turn is told once, however often
/// somebody looks.
pub(super) async fn tell(
    db: &mut PgConnection,
    account: AccountId,
    turn: &Turn<'_>,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let Some(owner) = accounts::find_owner_address(db, account).await? else {
        return Ok(());
    };
    match turn.letter(owner.called.clone(), now) {
        Some(letter) => write_to_owner(db, &owner, &letter, now).await,
        None => Ok(()),
    }
}
