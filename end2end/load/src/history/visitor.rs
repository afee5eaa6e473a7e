//! The owner of an account, who reads the pages of the dashboard.

use reqwest::{Client, RequestBuilder, StatusCode, header, redirect::Policy};

use crate::{
    error::LoadError,
    platen::{PASSWORD, Service},
};

pub(super) struct Visitor {
    http: Client,
    address: String,
    /// Value of the header.
    cookie: String,
}

impl Visitor {
    pub(super) async fn log_in(service: &Service, email: &str) -> Result<Self, LoadError> {
        let http = Client::builder().no_proxy().redirect(Policy::none()).build()?;
        let address = format!("http://{}", service.authority());
        let log_in = http.post(format!("{address}/web/log-in"));
        let log_in = log_in
            .header(header::ACCEPT, "text/html")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(format!("email={email}&password={}", PASSWORD.replace(' ', "+")));
        let answer = log_in.send().await?;
        if !matches!(answer.status(), StatusCode::SEE_OTHER | StatusCode::FOUND) {
            return Err(LoadError::Platen(format!("answered a log-in with {}", answer.status())));
        }
        let cookies = answer.headers().get_all(header::SET_COOKIE).iter();
        let cookies: Vec<_> = cookies
            .filter_map(|cookie| cookie.to_str().ok()?.split(';').next())
            .collect();
        Ok(Self {
            cookie: cookies.join("; "),
            http,
            address,
        })
    }

    /// Creates a webhook endpoint that receives no event of this benchmark.
    pub(super) async fn create_endpoint(&self) -> Result<(), LoadError> {
        let page = self.get("/dashboard").send().await?.text().await?;
        let token = page.split_once("name=\"csrf-token\" content=\"");
        let token = token.and_then(|(_, rest)| rest.split_once('"'));
        let (token, _) = token.ok_or_else(|| LoadError::Platen("shows a page without a token".to_owned()))?;
        let form = [
            ("webhook_url", "http://127.0.0.1:9/hooks"),
            ("events[0]", "batch.ended"),
            ("csrf", token),
        ];
        let request = self.http.post(format!("{}/web/create-webhook-endpoint", self.address));
        let request = request
            .header(header::ACCEPT, "text/html")
            .header(header::COOKIE, &self.cookie)
            .header(header::ORIGIN, &self.address);
        let answer = request.form(&form).send().await?;
        let created = answer.headers().get(header::LOCATION);
        if created.is_some_and(|page| page == "/dashboard/webhooks?done=created") {
            return Ok(());
        }
        let status = answer.status();
        Err(LoadError::Platen(format!(
            "answered a new webhook endpoint with {status}"
        )))
    }

    /// Starts a request for a page. Without a session, the response would be a redirection.
    pub(super) fn get(&self, path: &str) -> RequestBuilder {
        let request = self.http.get(format!("{}{path}", self.address));
        request
            .header(header::ACCEPT, "text/html")
            .header(header::COOKIE, &self.cookie)
    }
}
