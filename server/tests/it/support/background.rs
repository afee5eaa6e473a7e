//! Asynchronous renders.

use std::time::{Duration, Instant};

use reqwest::{Method, Response};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::support::{
    process::PATIENCE,
    service::{TestAccount, TestService},
    studio::{Studio, header},
};

const POLL: Duration = Duration::from_millis(10);

impl TestService {
    /// Requests a render for an account.
    pub(crate) async fn queue(&self, account: &TestAccount, body: &Value) -> Response {
        let request = self.client.post(self.url("/api/v1/renderers/pdf/async"));
        let request = request.bearer_auth(&account.key).json(body);
        request.send().await.expect("an answer")
    }

    /// Like [`Self::queue`], but must succeed; returns the render's id.
    pub(crate) async fn queued(&self, account: &TestAccount, body: &Value) -> String {
        let answer = self.queue(account, body).await;
        let id = answer
            .headers()
            .get("x-render-id")
            .map(|id| id.to_str().expect("text").to_owned());
        let (status, body) = (answer.status(), answer.text().await.expect("a body"));
        assert_eq!((status.as_u16(), body.as_str()), (200, r#"{"status":"success"}"#));
        id.expect("a render")
    }

    /// Returns a render as the API shows it.
    pub(crate) async fn shown(&self, account: &TestAccount, id: &str) -> Value {
        let request = self.client.get(self.url(&format!("/api/v1/renders/{id}")));
        let answer = request.bearer_auth(&account.key).send().await.expect("an answer");
        assert_eq!(answer.status(), 200, "{id}");
        let mut body: Value = answer.json().await.expect("JSON");
        body["data"].take()
    }

    /// Returns a render as the API shows it, once the condition holds.
    pub(crate) async fn shown_when(&self, account: &TestAccount, id: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let render = self.shown(account, id).await;
            if wanted(&render) {
                return render;
            }
            assert!(Instant::now() < deadline, "it did not happen: {render:#}");
            tokio::time::sleep(POLL).await;
        }
    }

    /// Returns a render as the API shows it, once it has ended.
    pub(crate) async fn ended(&self, account: &TestAccount, id: &str) -> Value {
        self.shown_when(account, id, |render| !render["finished_at"].is_null())
            .await
    }

    /// Executes a statement directly on the database, and returns the number of affected rows.
    pub(crate) async fn execute(&self, statement: &str) -> u64 {
        let mut connection = self.connection().await;
        let done = sqlx::raw_sql(AssertSqlSafe(statement.to_owned()))
            .execute(&mut connection)
            .await;
        done.expect("sound SQL").rows_affected()
    }

    /// Like [`Self::execute`], but returns the error message if the database refuses the statement.
    pub(crate) async fn try_execute(&self, statement: &str) -> Result<u64, String> {
        let mut connection = self.connection().await;
        let done = sqlx::raw_sql(AssertSqlSafe(statement.to_owned()))
            .execute(&mut connection)
            .await;
        done.map(|done| done.rows_affected()).map_err(|error| error.to_string())
    }

    /// Makes the user with this address a member of an account.
    pub(crate) async fn join(&self, account: &str, email: &str, role: &str) {
        let statement = format!(
            "insert into members (account_id, user_id, role, inserted_at)
             select '{account}', id, '{role}', now() from users where email = '{email}'"
        );
        assert_eq!(self.execute(&statement).await, 1);
    }

    /// Returns the text result of a query.
    pub(crate) async fn text(&self, query: &str) -> String {
        let mut connection = self.connection().await;
        let text = sqlx::query_scalar(AssertSqlSafe(query.to_owned()))
            .fetch_one(&mut connection)
            .await;
        text.expect("a text")
    }

    /// Returns the numeric result of a query.
    pub(crate) async fn number(&self, query: &str) -> i64 {
        let mut connection = self.connection().await;
        let number = sqlx::query_scalar(AssertSqlSafe(query.to_owned()))
            .fetch_one(&mut connection)
            .await;
        number.expect("a number")
    }

    /// Returns the credits that are reserved; an account must have had a reservation before.
    pub(crate) async fn reserved_credits(&self) -> i64 {
        self.number("select sum(credits)::bigint from credit_reservations")
            .await
    }

    /// Returns the number of asynchronous renders that have not ended.
    pub(crate) async fn unfinished_renders(&self) -> i64 {
        self.number("select count(*) from jobs where kind = 'render'").await
    }

    /// Waits until a query returns this number.
    pub(crate) async fn number_is(&self, expected: i64, query: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let found = self.number(query).await;
            if found == expected {
                return;
            }
            assert!(Instant::now() < deadline, "{found}, not {expected}: {query}");
            tokio::time::sleep(POLL).await;
        }
    }

    pub(crate) async fn connection(&self) -> PgConnection {
        PgConnection::connect(self.database_url())
            .await
            .expect("Postgres answers")
    }
}

impl Studio {
    /// See [`TestService::queued`].
    pub(crate) async fn queued(&self, body: &Value) -> String {
        self.service.queued(&self.account, body).await
    }

    /// See [`TestService::ended`].
    pub(crate) async fn ended(&self, id: &str) -> Value {
        self.service.ended(&self.account, id).await
    }

    /// Returns the document of a render, once it has ended.
    pub(crate) async fn document(&self, id: &str) -> Vec<u8> {
        let render = self.ended(id).await;
        let link = render["result"]["mediaLink"].as_str();
        let link = link.unwrap_or_else(|| panic!("no document: {render}"));
        let answer = self.service.client.get(link).send().await.expect("an answer");
        assert_eq!(answer.status(), 200);
        answer.bytes().await.expect("a body").to_vec()
    }

    /// Posts to a path without a body.
    pub(crate) async fn post(&self, path: &str) -> Response {
        self.request(Method::POST, path).send().await.expect("an answer")
    }

    /// Starts a service that may deliver webhooks to `authority`.
    pub(crate) async fn start_with_receiver(authority: &str) -> Self {
        Self::start_with(&[("PLATEN_EGRESS_ALLOW", authority)]).await
    }
}

/// Returns a body with one part and a webhook at `url`.
pub(crate) fn page_with_callback(html: &str, url: &str) -> Value {
    json!({"parts": [html], "callback": {"url": url}})
}

/// Parses a JSON body.
pub(crate) fn parsed(body: &str) -> Value {
    serde_json::from_str(body).expect("JSON")
}

/// Returns the `Location` header of a response.
pub(crate) fn location(answer: &Response) -> String {
    header(answer, "location").to_owned()
}
