//! Protection of the audit log against changes.

use super::{ANN, Office};
use crate::support::command::Answer;

impl Office {
    fn verify(&self, arguments: &[&str]) -> Answer {
        let command = [&["admin", "verify-audit"], arguments].concat();
        self.service.command(&command, "")
    }

    /// Creates three entries, and returns the end of their chain.
    async fn with_entries(&self) -> String {
        for credits in ["1", "2"] {
            self.operate("grant-credits", &[("credits", credits), ("lasts", "period")])
                .await;
        }
        let answer = self.verify(&[]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        assert!(answer.stdout.starts_with("3:"), "{answer:?}");
        answer.stdout.trim().to_owned()
    }
}

#[tokio::test]
async fn the_database_refuses_to_change_the_audit_log() {
    let office = Office::open().await;
    office.with_entries().await;
    for statement in [
        "update audit_log set entry = '{}'",
        "delete from audit_log",
        "truncate audit_log",
    ] {
        let refused = office.service.try_execute(statement).await.expect_err(statement);
        assert!(refused.contains("never changed or deleted"), "{statement}: {refused}");
    }
    // The table's owner lacks the privileges as well.
    let rights = "select count(*) from pg_class, aclexplode(relacl) where relname = 'audit_log'
        and privilege_type in ('UPDATE', 'DELETE', 'TRUNCATE')";
    assert_eq!(office.service.number(rights).await, 0);
    let granted = "select count(*) from pg_class, aclexplode(relacl) where relname = 'audit_log'
        and privilege_type in ('SELECT', 'INSERT')";
    assert_eq!(office.service.number(granted).await, 2);
}

#[tokio::test]
async fn tampering_with_the_audit_log_is_detected() {
    let office = Office::open().await;
    let end = office.with_entries().await;
    let tamper = async |statement: &str| {
        let statement = format!(
            "alter table audit_log disable trigger user;
             alter table audit_log drop constraint if exists audit_log_digest;
             {statement};
             alter table audit_log enable trigger user"
        );
        office.service.execute(&statement).await;
    };
    tamper(
        "update audit_log set entry = replace(entry::text, '\"credits\":1', '\"credits\":9')::json where number = 2",
    )
    .await;
    let answer = office.verify(&[]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(answer.stderr.contains("entry 2 was changed"), "{answer:?}");
    // With a matching digest, the next entry reveals the change.
    let digest = "sha256(previous || convert_to(entry::text, 'UTF8'))";
    tamper(&format!("update audit_log set digest = {digest} where number = 2")).await;
    assert!(office.verify(&[]).stderr.contains("entry 3 doesn't follow"));
    // If all later entries are rewritten as well, the noted digest reveals it.
    tamper(&format!(
        "update audit_log set previous = (select digest from audit_log where number = 2) where number = 3;
         update audit_log set digest = {digest} where number = 3"
    ))
    .await;
    let answer = office.verify(&[]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let answer = office.verify(&["--noted", &end]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(
        answer.stderr.contains("entry 3 differs from the recorded entry"),
        "{answer:?}"
    );
    // The noted digest also reveals that the end was removed.
    tamper("delete from audit_log where number = 3").await;
    assert_eq!(office.verify(&[]).code, Some(0));
    assert_eq!(office.verify(&["--noted", &end]).code, Some(1));
    tamper("delete from audit_log where number = 1").await;
    assert!(office.verify(&[]).stderr.contains("entry 1 is missing"));
    assert_eq!(office.verify(&["--noted", "3"]).code, Some(2));
}

#[tokio::test]
async fn entries_that_are_written_at_once_are_one_chain() {
    let office = Office::open().await;
    let grants = (1..=8).map(|_| office.operate("grant-credits", &[("credits", "5"), ("lasts", "period")]));
    futures::future::join_all(grants).await;
    let answer = office.verify(&[]);
    assert!(answer.code == Some(0) && answer.stdout.starts_with("9:"), "{answer:?}");
    let granted = format!(
        "select granted from credit_periods join members using (account_id) join users on users.id = user_id where email = '{ANN}'"
    );
    assert_eq!(office.service.number(&granted).await, 40);
}
