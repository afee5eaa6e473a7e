//! Work that an earlier release has enqueued in tables of its own becomes jobs, once.

use std::{fs, path::Path};

use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::support::postgres;

/// The first migration after which mails, exports and requests to Stripe are jobs.
const BECOME_JOBS: &str = "20261123000036";

/// A row of each kind that is due, held, left by a dead process, given up and done. The last digit of an id is the kind.
const ROWS: &str = "
    insert into mails (id, recipient, letter, run_at, inserted_at, tries, claim, lease_until, given_up, failed_at, kept)
    values
        ('00000000-0000-0000-0000-000000000001', 'a@example.org', '{}', now(), now(), 0, null, null, false, null, null),
        ('00000000-0000-0000-0000-000000000002', 'a@example.org', '{}', now(), now(), 1, gen_random_uuid(),
            now() + interval '3 min', false, null, null),
        ('00000000-0000-0000-0000-000000000003', 'a@example.org', '{}', now(), now(), 1, gen_random_uuid(),
            now() - interval '1 s', false, null, null),
        ('00000000-0000-0000-0000-000000000004', 'a@example.org', '{}', now(), now(), 8, null, null, true, now(), null),
        ('00000000-0000-0000-0000-000000000005', 'a@example.org', '{}', now(), now(), 1, null, null, false, null, '{}');
    insert into stripe_customers (id, look_at, claim, lease_until, inserted_at)
    values ('1', now(), null, null, now()), ('2', now(), gen_random_uuid(), now() + interval '3 min', now()),
        ('3', null, gen_random_uuid(), now() - interval '1 s', now());
    insert into stripe_meter_events
        (id, customer_id, credits, used_at, send_at, claim, lease_until, given_up_at, failed_at, sent_at)
    values
        ('00000000-0000-0000-0001-000000000001', '1', 1, now(), now(), null, null, null, null, null),
        ('00000000-0000-0000-0001-000000000002', '1', 1, now(), now(), gen_random_uuid(), now() + interval '3 min', null,
            null, null),
        ('00000000-0000-0000-0001-000000000003', '1', 1, now(), now(), gen_random_uuid(), now() - interval '1 s', null,
            null, null),
        ('00000000-0000-0000-0001-000000000004', '1', 1, now(), now(), null, null, now(), now(), null),
        ('00000000-0000-0000-0001-000000000005', '1', 1, now(), now(), null, null, null, null, now());
";
/// The claim of mails in the earlier release.
const EARLIER_CLAIM: &str = "update mails set claim = gen_random_uuid(), lease_until = now(), tries = tries + 1
    where kept is null and not given_up and run_at <= now() and (claim is null or lease_until < now())";

async fn execute(db: &mut PgConnection, statements: &str) -> u64 {
    let done = sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(db).await;
    done.unwrap_or_else(|error| panic!("{statements}: {error}"))
        .rows_affected()
}

/// Returns each job of a kind as the last digit of its subject and whether it is due, later or given up.
async fn jobs(db: &mut PgConnection, kind: &str) -> Vec<String> {
    let jobs = sqlx::query_scalar(
        "select right(job_subject(jobs), 1) || case when run_at = 'infinity' then ' given up' when due then ' due'
             else ' later' end
         from jobs where kind = $1 order by 1",
    );
    jobs.bind(kind).fetch_all(db).await.expect("jobs")
}

#[tokio::test]
async fn work_of_an_earlier_release_becomes_jobs() {
    let mut db = PgConnection::connect(&postgres::empty_database().await)
        .await
        .expect("connected");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../migrations");
    let files = fs::read_dir(folder).expect("migrations");
    let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    let is_later = |file: &&std::path::PathBuf| file.file_name().is_some_and(|name| name >= BECOME_JOBS);
    for file in files.iter().filter(|file| !is_later(file)) {
        execute(&mut db, &fs::read_to_string(file).expect("a migration")).await;
    }
    execute(&mut db, ROWS).await;
    for file in files.iter().filter(is_later) {
        execute(&mut db, &fs::read_to_string(file).expect("a migration")).await;
    }
    let expected = ["1 due", "2 later", "3 due", "4 given up"];
    assert_eq!(jobs(&mut db, "mail").await, expected);
    assert_eq!(jobs(&mut db, "usage").await, expected);
    // Nothing is expected of the third customer, except the end of its deleted account.
    assert_eq!(jobs(&mut db, "customer").await, ["1 due", "2 later", "3 due"]);

    // An earlier release still runs: it claims nothing, adds work, and ends what it holds.
    assert_eq!(execute(&mut db, EARLIER_CLAIM).await, 0);
    let added = "insert into mails (id, recipient, letter, run_at, inserted_at)
        values ('00000000-0000-0000-0000-000000000006', 'a@example.org', '{}', now(), now())";
    execute(&mut db, added).await;
    assert_eq!(execute(&mut db, EARLIER_CLAIM).await, 0);
    let released =
        "update mails set claim = null, lease_until = null, run_at = now(), failed_at = now(), last_error = 'x'
        where id = '00000000-0000-0000-0000-000000000002'";
    execute(&mut db, released).await;
    assert_eq!(
        jobs(&mut db, "mail").await,
        ["1 due", "2 due", "3 due", "4 given up", "6 due"]
    );
    execute(
        &mut db,
        "delete from mails where id = '00000000-0000-0000-0000-000000000002'",
    )
    .await;
    assert_eq!(jobs(&mut db, "mail").await, ["1 due", "3 due", "4 given up", "6 due"]);
}
