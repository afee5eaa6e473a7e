//! Viewing an account as its owner.

use serde_json::json;

use super::{ANN, OPERATOR, Office};
use crate::support::{studio::header, visitor::Visitor};

impl Office {
    async fn look(&mut self) {
        let subject = [("subject", self.account.id.as_str()), ("reason", "Ticket 4410")];
        let page = self.page_of_account();
        let answer = self.operator.submit_from(&page, "look-into-account", &subject).await;
        assert_eq!(header(&answer, "location"), "/dashboard");
        self.operator.remember(&answer);
    }
}

#[tokio::test]
async fn a_look_shows_the_account_and_is_told_to_its_owner() {
    let mut office = Office::open().await;
    let former = office.operator.token().await;
    office.look().await;
    let page = office.operator.page("/dashboard").await;
    assert!(page.contains("Viewing ann@example.org as its owner."), "{page}");
    assert!(page.contains("30 minutes left"), "{page}");
    let keys = office.operator.page("/dashboard/api-keys").await;
    assert!(keys.contains(&office.account.key[..12]), "{keys}");
    // A page of the operator's own account that was opened before.
    let refused = office.operator.submit_with(&former, "revoke-key", &[]).await;
    assert_eq!(refused.status(), 403);

    let ann = Visitor::log_in(&office.service, ANN).await;
    let log = ann.page("/dashboard/team/log").await;
    let told = "viewed the account as its owner, read-only, for up to 30 minutes (Ticket 4410)";
    assert!(
        log.contains(told) && log.contains("An operator of this service") && !log.contains(OPERATOR),
        "{log}"
    );
    let team = ann.page("/dashboard/team").await;
    assert!(!team.contains(OPERATOR), "{team}");

    let answer = office.operator.submit("stop-looking", &[]).await;
    assert_eq!(
        header(&answer, "location"),
        format!("{}?done=looked", office.page_of_account())
    );
    office.operator.remember(&answer);
    let page = office.operator.page("/dashboard").await;
    assert!(page.contains(OPERATOR) && !page.contains("as its owner"), "{page}");
    let audit = office.audit().await;
    assert_eq!(
        audit.lines().skip(1).collect::<Vec<_>>(),
        ["look.begun ann@example.org Ticket 4410", "look.ended ann@example.org "]
    );
}

#[tokio::test]
async fn a_look_ends_by_itself_and_with_the_operators_office() {
    let mut office = Office::open().await;
    office.look().await;
    let over =
        "update sessions set data = jsonb_set(data, '{person,look,until}', to_jsonb('2026-11-22T10:00:00Z'::text))
        where data -> 'person' ->> 'look' is not null";
    office.service.execute(over).await;
    let page = office.operator.page("/dashboard").await;
    assert!(page.contains(OPERATOR) && !page.contains("as its owner"), "{page}");

    office.look().await;
    let dismissed = office.service.command(&["admin", "dismiss", "--email", OPERATOR], "");
    assert_eq!(dismissed.code, Some(0), "{dismissed:?}");
    let refused = office.operator.get("/dashboard").await;
    assert_eq!(
        (refused.status().as_u16(), header(&refused, "location")),
        (303, "/log-in?next=%2Fdashboard")
    );
}

#[tokio::test]
async fn a_viewing_operator_sees_neither_documents_nor_secrets() {
    let mut office = Office::open().await;
    let ann = Visitor::log_in(&office.service, ANN).await;
    let body = serde_json::json!({"parts": ["<p>Payroll<script>console.log('salary')</script>"]});
    let render = office.service.queued(&office.account, &body).await;
    let ended = office.service.ended(&office.account, &render).await;
    let link = ended["result"]["mediaLink"].as_str().expect("a link").to_owned();
    let path = format!("/dashboard/renders/{render}");
    let own = ann.page(&path).await;
    office
        .service
        .number_is(1, "select count(*) from render_thumbnails")
        .await;
    let picture = format!("{path}/pages/1.png");
    assert_eq!(ann.get(&picture).await.status(), 200);
    assert!(
        own.contains("salary") && own.contains(&link.replace('&', "&amp;")),
        "{own}"
    );
    // The operator has just revealed the secret of their own account.
    office.operator.submit("reveal-webhook-secret", &[]).await;
    let secret = |email| {
        let command = ["accounts", "webhook-secret", "--email", email];
        office.service.command(&command, "").succeeded()
    };
    let (own, theirs) = (secret(OPERATOR), secret(ANN));
    assert!(office.operator.page("/dashboard/webhooks").await.contains(&own));

    office.look().await;
    let page = office.operator.page(&path).await;
    assert!(
        page.contains("Succeeded") && !page.contains("salary") && !page.contains("mediaLink"),
        "{page}"
    );
    assert!(!page.contains(&link.replace('&', "&amp;")), "{page}");
    assert!(page.contains("The report is visible only to the account"), "{page}");
    assert_eq!(office.operator.get(&picture).await.status(), 403);
    let webhooks = office.operator.page("/dashboard/webhooks").await;
    assert!(!webhooks.contains(&own) && !webhooks.contains(&theirs), "{webhooks}");
}

#[tokio::test]
async fn a_viewing_operator_gets_neither_the_documents_of_a_batch_nor_their_addresses() {
    let mut office = Office::open().await;
    let service = &office.service;
    let ann = Visitor::log_in(service, ANN).await;
    let render = json!({"parts": ["<p>Salary of {{ name }}"]});
    let batch = json!({"batch": {"render": render, "rows": [{"name": "Bob"}]}});
    let request = service.client.post(service.url("/api/v1/batches"));
    let request = request.bearer_auth(&office.account.key).json(&batch);
    let created = request.send().await.expect("an answer");
    let (_, id) = header(&created, "location").rsplit_once('/').expect("an id");
    let path = format!("/dashboard/batches/{id}");
    service
        .number_is(1, "select count(*) from batches where state = 'ended'")
        .await;
    let address = service
        .text("select result ->> 'mediaLink' from renders where status = 'succeeded'")
        .await;
    let results = format!("{path}/results.csv");
    assert!(ann.page(&results).await.contains(&address));
    let documents = ["zip", "pdf"].map(|format| format!("{path}/documents.{format}"));
    for file in &documents {
        assert_eq!(ann.get(file).await.status(), 200, "{file}");
    }

    office.look().await;
    assert!(office.operator.page(&path).await.contains("1 of 1 rows"));
    let shown = office.operator.page(&results).await;
    assert!(shown.contains("\"succeeded\"") && !shown.contains(&address), "{shown}");
    for file in &documents {
        assert_eq!(office.operator.get(file).await.status(), 403, "{file}");
    }
}

#[tokio::test]
async fn a_viewing_operator_sees_no_columns_of_a_batch() {
    let mut office = Office::open().await;
    let render = json!({"parts": ["<p>Salary of {{ name }}"]});
    let request = office.service.client.post(office.service.url("/api/v1/batches"));
    let request = request.bearer_auth(&office.account.key);
    let created = request.json(&json!({"batch": {"render": render}})).send().await;
    let path = header(&created.expect("an answer"), "location").to_owned();
    let (_, id) = path.rsplit_once('/').expect("an id");
    // As a file whose rows are checked before the batch begins.
    let pause = "create function pause() returns trigger language plpgsql as
            $$ begin new.state := case new.state when 'running' then 'paused' else new.state end; return new; end $$;
        create trigger pause before update on batches for each row execute function pause()";
    office.service.execute(pause).await;
    let rows = office.service.client.put(office.service.url(&format!("{path}/rows")));
    let rows = rows
        .bearer_auth(&office.account.key)
        .header("content-type", "application/x-ndjson");
    let stored = rows.body("{\"name\": \"Bob\", \"bonus_of_bob\": 17}\n").send().await;
    assert_eq!(stored.expect("an answer").status(), 200);
    let page = format!("/dashboard/batches/{id}");
    let ann = Visitor::log_in(&office.service, ANN).await;
    assert!(ann.page(&page).await.contains("bonus_of_bob"));

    office.look().await;
    let shown = office.operator.page(&page).await;
    assert!(shown.contains("Paused") && !shown.contains("bonus_of_bob"), "{shown}");
}
