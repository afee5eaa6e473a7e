//! The time for which a log-in counts as confirmed.

use platen_core::service::{
    people::{confirm, second_factor::Shown},
    sessions,
};
use time::Duration;

use crate::support::people::{PASSWORD, Town};

#[tokio::test]
async fn a_confirmation_expires_and_is_renewed_by_password_or_second_factor() {
    let town = Town::build().await;
    let mut ann = town.ann().await;
    let client = ann.laptop.client.clone();
    let (code, now) = ann.code();
    let user = ann.user;
    ann.laptop
        .visit(async |session| {
            let is_confirmed = async |at| {
                let person = sessions::current(session, at).await.unwrap().expect("logged in");
                person.is_confirmed(at)
            };
            assert!(is_confirmed(now).await);
            let later = now + Duration::minutes(11);
            assert!(!is_confirmed(later).await);
            let people = &town.people;
            let by_password = async |password: &str, at| {
                confirm::by_password(people, session, user, &client, password.into(), at).await
            };
            by_password("not the password", later).await.unwrap_err();
            assert!(!is_confirmed(later).await);
            by_password(PASSWORD, later).await.unwrap();
            assert!(is_confirmed(later).await);
            let code = Shown::Code(code.into());
            confirm::by_second_factor(people, session, user, &client, &code, now)
                .await
                .unwrap();
            assert!(is_confirmed(now).await);
        })
        .await;
}
