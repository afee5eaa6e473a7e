//! The operators' area: access, content, and actions on accounts.

mod accounts;
mod announcements;
mod audit;
mod audit_log;
mod failed_jobs;
mod health;
mod looking;

use platen_core::service::people::second_factor::passkeys::Added;
use tempfile::TempDir;

use super::{service_with, site};
use crate::support::{
    authenticator::Authenticator,
    people::{PASSWORD, Town},
    service::{TestAccount, TestService},
    studio::header,
    visitor::Visitor,
};

const OPERATOR: &str = "op@example.org";
const ANN: &str = "ann@example.org";

/// A service with an operator and another user's account.
struct Office {
    service: TestService,
    operator: Visitor,
    account: TestAccount,
    _site: TempDir,
}

impl Office {
    async fn open() -> Self {
        let site = site();
        let service = service_with(site.path()).await;
        Self {
            account: service.account(ANN),
            operator: Visitor::operator(&service, OPERATOR).await,
            service,
            _site: site,
        }
    }

    fn page_of_account(&self) -> String {
        format!("/admin/accounts/{}", self.account.id)
    }

    /// Performs an action on the account, with a reason.
    async fn operate(&self, function: &str, fields: &[(&str, &str)]) -> String {
        let subject = [("subject", self.account.id.as_str()), ("reason", "Ticket 4410")];
        let fields: Vec<_> = fields.iter().copied().chain(subject).collect();
        let answer = self
            .operator
            .submit_from(&self.page_of_account(), function, &fields)
            .await;
        assert!(answer.status().is_redirection(), "{function}");
        header(&answer, "location").to_owned()
    }

    /// Returns the audit log in order: kind, account, reason.
    async fn audit(&self) -> String {
        let query = "select coalesce(string_agg(
                concat_ws(' ', kind, entry ->> 'account_name', entry ->> 'reason'), E'\\n' order by number
            ), '') from audit_log";
        self.service.text(query).await
    }
}

#[tokio::test]
async fn only_operators_with_a_second_factor_have_access() {
    let office = Office::open().await;
    let service = &office.service;
    let ann = Visitor::log_in(service, ANN).await;
    for path in ["/admin/accounts", &office.page_of_account()] {
        let refused = ann.get(path).await;
        assert_eq!(refused.status(), 404, "{path}");
        assert!(!refused.text().await.expect("a page").contains("Operator"), "{path}");
        let stranger = super::page(service, path).await;
        assert_eq!(stranger.status(), 303, "{path}");
        assert!(
            header(&stranger, "location").starts_with("/log-in?next=%2Fadmin"),
            "{path}"
        );
    }
    let page = ann.page("/dashboard").await;
    assert!(!page.contains("Operator area"), "{page}");

    service.account_with("new@example.org", &["--admin"]);
    let new = Visitor::log_in(service, "new@example.org").await;
    let sent_away = new.get("/admin/accounts").await;
    assert_eq!(
        (sent_away.status().as_u16(), header(&sent_away, "location")),
        (303, "/dashboard/settings/second-factor?required=yes")
    );
    // A passkey suffices as the second factor.
    let town = Town::at(service.database_url()).await;
    let mut browser = town.browser("192.0.2.1");
    let user = town.log_in(&mut browser, "new@example.org", PASSWORD).await;
    let added = town
        .add_passkey(&mut browser, user.expect("logged in"), &mut Authenticator::new())
        .await;
    assert_eq!(added.expect("added"), Added::WithCodes);
    assert_eq!(new.get("/admin/accounts").await.status(), 200);
    let page = office.operator.page("/admin/accounts").await;
    assert!(page.contains("3 accounts") && page.contains(ANN), "{page}");
    assert!(office.operator.page("/dashboard").await.contains("Operator area"));

    let dismissed = service.command(&["admin", "dismiss", "--email", OPERATOR], "");
    assert_eq!(dismissed.code, Some(0), "{dismissed:?}");
    let gone = office.operator.get("/admin/accounts").await;
    assert_eq!(gone.status(), 303, "they are logged out");
}

#[tokio::test]
async fn changes_need_a_recent_confirmation_of_identity() {
    let office = Office::open().await;
    let before =
        "update sessions set data = jsonb_set(data, '{person,confirmed}', to_jsonb('2026-11-22T10:00:00Z'::text))";
    office.service.execute(before).await;
    for function in [
        "suspend-account",
        "restore-account",
        "grant-credits",
        "set-plan",
        "set-limits",
        "look-into-account",
        "retry-failed-work",
        "discard-failed-work",
        "announce",
        "end-announcement",
    ] {
        let fields = [
            ("credits", "5"),
            ("lasts", "period"),
            ("plan", "Growth"),
            ("period_credits", ""),
            ("concurrency", "1"),
            ("rate_per_minute", "1"),
            ("body_mib", "1"),
            ("deadline_seconds", "1"),
            ("kind", ""),
            ("account", ""),
            ("words", "x"),
            ("link", ""),
            ("link_words", ""),
            ("level", "warning"),
            ("starts_at", ""),
            ("ends_at", ""),
        ];
        let location = office.operate(function, &fields).await;
        assert!(
            location.starts_with("/dashboard/confirm?next="),
            "{function}: {location}"
        );
    }
    assert_eq!(office.audit().await, "operator.appointed ");
}
