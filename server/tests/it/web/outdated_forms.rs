//! Forms of public pages that were loaded before the visitor's session began.

use reqwest::{Client, Response, redirect::Policy};

use super::{PAGE, service_with, site};
use crate::support::{people::PASSWORD, service::TestService, studio::header};

const LOG_IN: &str = "/log-in?next=%2Fdashboard%2Frenders";

/// A browser that stores cookies by hand.
struct Tab<'s> {
    service: &'s TestService,
    client: Client,
    cookies: Vec<String>,
}

impl Tab<'_> {
    async fn submit(&mut self, page: &str, function: &str, form: &[(&str, &str)]) -> Response {
        let service = self.service;
        let form = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form)
            .finish();
        let request = self
            .client
            .post(service.url(&format!("/web/{function}")))
            .header(PAGE.0, PAGE.1)
            .header("cookie", self.cookies.join("; "))
            .header("origin", &service.base_url)
            .header("referer", service.url(page))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form);
        let answer = request.send().await.expect("an answer");
        for set in answer.headers().get_all("set-cookie") {
            let pair = set.to_str().expect("text").split(';').next().expect("a cookie");
            let (name, _) = pair.split_once('=').expect("a name");
            self.cookies
                .retain(|kept| kept.split_once('=').is_none_or(|(kept, _)| kept != name));
            self.cookies.push(pair.to_owned());
        }
        answer
    }

    async fn page(&self, path: &str) -> String {
        let request = self
            .client
            .get(self.service.url(path))
            .header(PAGE.0, PAGE.1)
            .header("cookie", self.cookies.join("; "));
        let answer = request.send().await.expect("an answer");
        answer.text().await.expect("a page")
    }
}

#[tokio::test]
async fn a_form_of_a_public_page_is_shown_again_with_a_fresh_token() {
    let site = site();
    let service = service_with(site.path()).await;
    service.account("ann@example.org");
    let client = Client::builder().no_proxy().redirect(Policy::none()).build();
    let mut tab = Tab {
        service: &service,
        client: client.expect("a client"),
        cookies: Vec::new(),
    };
    assert!(!tab.page(LOG_IN).await.contains("name=\"csrf\""));
    // Another tab begins a session.
    let asked = tab
        .submit(
            "/forgot-password",
            "request-password-reset",
            &[("email", "bob@example.org")],
        )
        .await;
    assert!(header(&asked, "location").contains("/check-mail"), "{asked:?}");

    let form = [
        ("email", "ann@example.org"),
        ("password", PASSWORD),
        ("next", "/dashboard/renders"),
    ];
    let again = tab.submit(LOG_IN, "log-in", &form).await;
    assert_eq!(again.status(), 303);
    let location = header(&again, "location").to_owned();
    assert!(location.starts_with(LOG_IN), "{location}");
    assert!(!location.contains(PASSWORD), "{location}");
    assert!(
        tab.cookies.iter().all(|cookie| !cookie.contains("password")),
        "{:?}",
        tab.cookies
    );
    let page = tab.page(&location).await;
    for shown in [
        "This page was out of date, and nothing was submitted.",
        "ann@example.org",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(!page.contains(PASSWORD), "{page}");
    let (_, token) = page.split_once("name=\"csrf\" value=\"").expect("a token");
    let (token, _) = token.split_once('"').expect("its end");
    let with_token = [&form[..], &[("csrf", token)]].concat();
    let entered = tab.submit(&location, "log-in", &with_token).await;
    assert!(
        header(&entered, "location").ends_with("/dashboard/renders"),
        "{entered:?}"
    );

    // Other forms are refused as before, and so are pages that aren't the service's.
    for (page, function) in [
        ("/dashboard", "rename-account"),
        ("/dashboard", "log-out"),
        ("//evil.example/log-in", "log-in"),
    ] {
        let refused = tab.submit(page, function, &form).await;
        assert_eq!(refused.status(), 403, "{page} {function}");
    }
}
