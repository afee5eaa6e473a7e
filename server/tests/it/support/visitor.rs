//! Somebody who is logged in to the dashboard, without a browser.

use platen_server::clock;
use reqwest::{Client, Response, redirect::Policy};
use serde_json::Value;
use url::form_urlencoded;

use crate::support::{
    people::{PASSWORD, Town},
    service::TestService,
    studio::header,
};

const HTML: &str = "text/html";

/// Keeps its cookie, and follows no redirect.
pub(crate) struct Visitor {
    client: Client,
    base_url: String,
    cookie: String,
}

impl Visitor {
    /// Logs the owner of an account in, or comes to the second step.
    pub(crate) async fn log_in(service: &TestService, email: &str) -> Self {
        let client = Client::builder().no_proxy().redirect(Policy::none()).build();
        let mut visitor = Self {
            client: client.expect("a client"),
            base_url: service.base_url.clone(),
            cookie: String::new(),
        };
        let answer = visitor
            .post("log-in", &[("email", email), ("password", PASSWORD)])
            .await;
        assert_eq!(answer.status(), 303);
        visitor.remember(&answer);
        visitor
    }

    /// Makes an operator with an account and a second factor of their own, and logs them in.
    pub(crate) async fn operator(service: &TestService, email: &str) -> Self {
        service.account_with(email, &["--admin"]);
        // Before there is a second step.
        let visitor = Self::log_in(service, email).await;
        let town = Town::at(service.database_url()).await;
        let mut browser = town.browser("192.0.2.1");
        let user = town.log_in(&mut browser, email, PASSWORD).await.expect("logged in");
        town.set_up_second_factor(&mut browser, user, clock::now()).await;
        visitor
    }

    /// Keeps the cookies of an answer, each in place of the one that had its name.
    pub(crate) fn remember(&mut self, answer: &Response) {
        let set = answer.headers().get_all("set-cookie").iter();
        let set: Vec<_> = set
            .filter_map(|cookie| cookie.to_str().ok()?.split(';').next())
            .collect();
        let name = |pair: &str| pair.split('=').next().map(ToOwned::to_owned);
        let kept = self.cookie.split("; ").filter(|kept| !kept.is_empty());
        let kept = kept.filter(|kept| !set.iter().any(|set| name(set) == name(kept)));
        self.cookie = kept.chain(set.iter().copied()).collect::<Vec<_>>().join("; ");
    }

    /// What its requests send as `Cookie`.
    pub(crate) fn cookie(&self) -> &str {
        &self.cookie
    }

    /// Acts for another account from now on.
    pub(crate) async fn switch_to(&mut self, account: &str) {
        let answer = self.submit("switch-account", &[("subject", account)]).await;
        assert_eq!(header(&answer, "location"), "/dashboard");
        self.remember(&answer);
    }

    /// Asks for something as a browser does.
    pub(crate) async fn get(&self, path: &str) -> Response {
        self.get_with(path, &[]).await
    }

    /// As [`Self::get`], with further headers.
    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        let request = self.client.get(format!("{}{path}", self.base_url));
        let mut request = request.header("accept", HTML).header("cookie", &self.cookie);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.send().await.expect("an answer")
    }

    /// Opens the list of renders, which listens until the response is dropped.
    pub(crate) async fn open_page(&self) -> Response {
        let accept = [("accept", "text/event-stream")];
        let mut events = self.get_with("/dashboard/events/renders", &accept).await;
        assert_eq!(events.status(), 200);
        events.chunk().await.expect("it listens");
        events
    }

    /// A page, which has to be there.
    pub(crate) async fn page(&self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status(), 200, "{path}");
        // Marks between texts are for the browser.
        answer.text().await.expect("a page").replace("<!>", "")
    }

    /// Sends a form of one of our pages, with its token.
    pub(crate) async fn submit(&self, function: &str, fields: &[(&str, &str)]) -> Response {
        self.submit_from("/dashboard", function, fields).await
    }

    /// As [`Self::submit_from`], for a form that logs in: keeps the new cookies.
    pub(crate) async fn log_in_from(&mut self, page: &str, function: &str, fields: &[(&str, &str)]) -> Response {
        let answer = self.submit_from(page, function, fields).await;
        if answer.status() == 303 {
            self.remember(&answer);
        }
        answer
    }

    /// As [`Self::submit`], from this page.
    pub(crate) async fn submit_from(&self, page: &str, function: &str, fields: &[(&str, &str)]) -> Response {
        let token = self.token_in(page).await;
        self.submit_with(&token, function, fields).await
    }

    /// As [`Self::submit`], with the token of a page that was open before.
    pub(crate) async fn submit_with(&self, token: &str, function: &str, fields: &[(&str, &str)]) -> Response {
        let fields: Vec<_> = fields.iter().copied().chain([("csrf", token)]).collect();
        self.post(function, &fields).await
    }

    /// What the forms of pages hold.
    pub(crate) async fn token(&self) -> String {
        self.token_in("/dashboard").await
    }

    async fn token_in(&self, page: &str) -> String {
        let page = self.page(page).await;
        let (_, rest) = page.split_once("name=\"csrf-token\" content=\"").expect("a token");
        let (token, _) = rest.split_once('"').expect("its end");
        token.to_owned()
    }

    /// Calls a function as a script does: what became of it, as JSON; null where that is nothing.
    pub(crate) async fn call(&self, function: &str, fields: &[(&str, String)]) -> Value {
        let form = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        self.ask(function, "application/x-www-form-urlencoded", form).await
    }

    /// As [`Self::call`], of a function that reads JSON.
    pub(crate) async fn call_with_json(&self, function: &str, body: &Value) -> Value {
        self.ask(function, "application/json", body.to_string()).await
    }

    async fn ask(&self, function: &str, media_type: &str, body: String) -> Value {
        let request = self.client.post(format!("{}/web/{function}", self.base_url));
        let request = request
            .header("accept", "application/json")
            .header("cookie", &self.cookie)
            .header("origin", &self.base_url)
            .header("x-csrf-token", self.token().await)
            .header("content-type", media_type);
        let answer = request.body(body).send().await.expect("an answer");
        answer.json().await.unwrap_or_default()
    }

    async fn post(&self, function: &str, fields: &[(&str, &str)]) -> Response {
        let form = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        let request = self.client.post(format!("{}/web/{function}", self.base_url));
        let request = request
            .header("accept", HTML)
            .header("cookie", &self.cookie)
            .header("origin", &self.base_url)
            .header("referer", format!("{}/dashboard", self.base_url))
            .header("content-type", "application/x-www-form-urlencoded");
        request.body(form).send().await.expect("an answer")
    }
}
