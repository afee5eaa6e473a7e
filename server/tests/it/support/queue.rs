//! Claims jobs as a service does, for tests without a server process.

use platen_core::{
    clock,
    store::{
        jobs::{self, ClaimRequest, ClaimedJob},
        tx,
    },
};
use platen_domain::{
    ids::{AccountId, InstanceId},
    job::JobKind,
};
use sqlx::PgPool;
use uuid::Uuid;

/// Claims up to eight due jobs of a kind, after releasing jobs whose leases have expired.
pub(crate) async fn claim_due(db: &PgPool, kind: JobKind) -> Vec<ClaimedJob> {
    jobs::release_lost(db, None).await.expect("released");
    jobs::mark_due(db, kind).await.expect("marked");
    let request = ClaimRequest {
        kind,
        jobs: 8,
        after: AccountId(Uuid::nil()),
        cap: None,
        share: None,
    };
    claim(db, InstanceId::generate(), request).await
}

/// Claims due jobs for a process.
pub(crate) async fn claim(db: &PgPool, instance: InstanceId, request: ClaimRequest) -> Vec<ClaimedJob> {
    let mut transaction = tx::begin(db).await.expect("Postgres answers");
    let claimed = jobs::claim(&mut transaction, instance, request, clock::now()).await;
    tx::commit(transaction).await.expect("committed");
    claimed.expect("claimed")
}
