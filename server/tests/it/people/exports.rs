//! Limits on the number of account exports.

use platen_core::{
    clock,
    service::exports::{RequestExportError, list, request},
};
use time::Duration;

use crate::support::people::Town;

#[tokio::test]
async fn an_account_has_one_export_at_a_time_and_three_a_day() {
    let town = Town::build().await;
    let (mut ann, mut bob) = (town.browser("192.0.2.1"), town.browser("192.0.2.2"));
    let user = town.welcome(&mut ann, "ann@example.org").await;
    let other = town.welcome(&mut bob, "bob@example.org").await;
    let own = town.caller(user, &ann.client).await;
    let others = town.caller(other, &bob.client).await;
    let (db, now) = (&town.people.db, clock::now());
    for _ in 0..3 {
        request(db, &own, now).await.expect("asked for");
        let second = request(db, &own, now).await;
        assert!(second.is_err(), "{second:?}");
        town.execute("update exports set state = 'failed', finished_at = now()")
            .await;
    }
    let fourth = request(db, &own, now + Duration::hours(23)).await;
    assert!(matches!(fourth, Err(RequestExportError::TooMany)), "{fourth:?}");
    assert_eq!(list(db, own.account, now).await.expect("a list").len(), 3);
    let next_day = now + Duration::hours(25);
    request(db, &own, next_day).await.expect("asked for");
    let second = request(db, &own, next_day).await;
    assert!(matches!(second, Err(RequestExportError::UnderWay)), "{second:?}");
    // The limits apply to each account separately.
    request(db, &others, now).await.expect("asked for");
    let audit_events = "select count(*) from account_log where kind = 'account.export_asked'";
    assert_eq!(town.number(audit_events).await, 5);
}
