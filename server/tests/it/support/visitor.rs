//! A user who is logged in to the dashboard, without a browser.

use platen_core::clock;
use reqwest::{Client, Response, redirect::Policy};
use serde_json::Value;
use url::form_urlencoded;

use crate::support::{
    people::{PASSWORD, Town},
    service::TestService,
    studio::header,
};

const HTML: &str = "text/html";

/// Stores cookies, and doesn't follow redirects.
pub(crate) struct Visitor {
    client: Client,
    base_url: String,
    cookie: String,
}

impl Visitor {
    /// Logs in the owner of an account, or stops at the second step.
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

    /// Creates an operator with an account and a second factor, and logs in.
    pub(crate) async fn operator(service: &TestService, email: &str) -> Self {
        service.account_with(email, &["--admin"]);
        // Logs in before the second factor is required.
        let visitor = Self::log_in(service, email).await;
        let town = Town::at(service.database_url()).await;
        let mut browser = town.browser("192.0.2.1");
        let user = town.log_in(&mut browser, email, PASSWORD).await.expect("logged in");
        town.set_up_second_factor(&mut browser, user, clock::now()).await;
        visitor
    }

    /// Stores the cookies of a response, replacing those with the same names.
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

    /// Returns the value of its `Cookie` header.
    pub(crate) fn cookie(&self) -> &str {
        &self.cookie
    }

    /// Switches to another account.
    pub(crate) async fn switch_to(&mut self, account: &str) {
        let answer = self.submit("switch-account", &[("subject", account)]).await;
        assert_eq!(header(&answer, "location"), "/dashboard");
        self.remember(&answer);
    }

    /// Requests a page like a browser.
    pub(crate) async fn get(&self, path: &str) -> Response {
        self.get_with(path, &[]).await
    }

    /// Like [`Self::get`], with additional headers.
    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        let request = self.client.get(format!("{}{path}", self.base_url));
        let mut request = request.header("accept", HTML).header("cookie", &self.cookie);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.send().await.expect("an answer")
    }

    /// Requests the headers of a response only.
    pub(crate) async fn head(&self, path: &str) -> Response {
        let request = self.client.head(format!("{}{path}", self.base_url));
        request.header("cookie", &self.cookie).send().await.expect("an answer")
    }

    /// Opens the event stream of the list of renders, until the response is dropped.
    pub(crate) async fn open_page(&self) -> Response {
        let accept = [("accept", "text/event-stream")];
        let mut events = self.get_with("/dashboard/events/renders", &accept).await;
        assert_eq!(events.status(), 200);
        events.chunk().await.expect("it listens");
        events
    }

    /// Returns a page, which must exist.
    pub(crate) async fn page(&self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status(), 200, "{path}");
        // Removes the markers between text nodes that are used for hydration.
        answer.text().await.expect("a page").replace("<!>", "")
    }

    /// Submits a form of one of our pages, with its token.
    pub(crate) async fn submit(&self, function: &str, fields: &[(&str, &str)]) -> Response {
        self.submit_from("/dashboard", function, fields).await
    }

    /// Like [`Self::submit_from`], for a form that logs in: stores the new cookies.
    pub(crate) async fn log_in_from(&mut self, page: &str, function: &str, fields: &[(&str, &str)]) -> Response {
        let answer = self.submit_from(page, function, fields).await;
        if answer.status() == 303 {
            self.remember(&answer);
        }
        answer
    }

    /// Like [`Self::submit`], from this page.
    pub(crate) async fn submit_from(&self, page: &str, function: &str, fields: &[(&str, &str)]) -> Response {
        let token = self.token_in(page).await;
        self.submit_with(&token, function, fields).await
    }

    /// Like [`Self::submit`], with the token of a page that was opened before.
    pub(crate) async fn submit_with(&self, token: &str, function: &str, fields: &[(&str, &str)]) -> Response {
        let fields: Vec<_> = fields.iter().copied().chain([("csrf", token)]).collect();
        self.post(function, &fields).await
    }

    /// Like [`Self::submit`], to the path of a form that calls no server function.
    pub(crate) async fn submit_to(&self, path: &str, fields: &[(&str, &str)]) -> Response {
        let token = self.token().await;
        let fields: Vec<_> = fields.iter().copied().chain([("csrf", token.as_str())]).collect();
        self.post_to(path, &fields).await
    }

    /// Returns the token in the forms of pages.
    pub(crate) async fn token(&self) -> String {
        self.token_in("/dashboard").await
    }

    async fn token_in(&self, page: &str) -> String {
        let page = self.page(page).await;
        let (_, rest) = page.split_once("name=\"csrf-token\" content=\"").expect("a token");
        let (token, _) = rest.split_once('"').expect("its end");
        token.to_owned()
    }

    /// Calls a server function like a script; returns its result as JSON, or null if it is empty.
    pub(crate) async fn call(&self, function: &str, fields: &[(&str, String)]) -> Value {
        let form = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        self.ask(function, "application/x-www-form-urlencoded", form).await
    }

    /// Like [`Self::call`], for a function that reads JSON.
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
        self.post_to(&format!("/web/{function}"), fields).await
    }

    /// Submits a form to a path, without adding the token.
    pub(crate) async fn post_to(&self, path: &str, fields: &[(&str, &str)]) -> Response {
        let form = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        let media_type = "application/x-www-form-urlencoded";
        self.post_body(path, media_type, form.into_bytes()).await
    }

    /// Submits a form in this encoding to a path.
    pub(crate) async fn post_body(&self, path: &str, media_type: &str, form: Vec<u8>) -> Response {
        let request = self.client.post(format!("{}{path}", self.base_url));
        let request = request
            .header("accept", HTML)
            .header("cookie", &self.cookie)
            .header("origin", &self.base_url)
            .header("referer", format!("{}/dashboard", self.base_url))
            .header("content-type", media_type);
        request.body(form).send().await.expect("an answer")
    }
}
