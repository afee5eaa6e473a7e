//! Session cookies, and requests from other sites.

use std::time::Duration;

use axum::{
    Extension, Form, Router,
    body::{Body, to_bytes},
    http::{HeaderMap, HeaderValue, Request, StatusCode, header},
    routing::{get, post},
};
use platen_core::{
    clock,
    memory::MemoryBudget,
    service::{
        people::{
            People,
            log_in::{LogInForm, LogInStep, log_in},
        },
        sessions::{self, LoggedIn, Stay},
    },
};
use platen_domain::client::Client;
use platen_server::http::{body_limits::FormLimits, browser_session, csrf};
use tower::ServiceExt;
use tower_sessions::Session;
use url::Url;

use crate::support::people::{PASSWORD, Town};

const BASE: &str = "https://platen.example/";

/// A site with a few pages, as seen by a browser.
struct Site {
    router: Router,
    cookie: Option<String>,
    /// The cookie that identifies the browser.
    device: Option<String>,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Site {
    fn open(town: &Town, base: &str) -> Self {
        let people = town.people.clone();
        let enter =
            async move |session: Session, Extension(client): Extension<Client>| enter(&people, &session, &client).await;
        let pages = Router::new()
            .route("/enter", post(enter))
            .route(
                "/leave",
                post(async |session: Session| sessions::log_out(&session).await.is_ok().to_string()),
            )
            .route(
                "/token",
                get(async |session: Session| csrf::token(&session).unwrap_or_default()),
            )
            .route(
                "/whoami",
                get(async |person: Option<Extension<LoggedIn>>| {
                    person
                        .map(|Extension(person)| person.user.to_string())
                        .unwrap_or_default()
                }),
            )
            .route(
                "/where",
                get(async |Extension(client): Extension<Client>| client.address.to_string()),
            )
            .route(
                "/say",
                post(async |Form(fields): Form<Vec<(String, String)>>| fields.first().expect("a field").1.clone()),
            );
        let base = Url::parse(base).expect("a URL");
        let proxies = vec!["192.0.2.0/24".parse().expect("a network")];
        let form_limits = FormLimits {
            time: Duration::from_mins(1),
            memory: MemoryBudget::new(1 << 30),
        };
        Self {
            router: browser_session::protect(pages, &town.people, &base, proxies, form_limits),
            cookie: None,
            device: None,
        }
    }

    /// Sends a request, and stores the cookies of the response like a browser.
    async fn ask(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        for cookie in [&self.cookie, &self.device].into_iter().flatten() {
            request = request.header(header::COOKIE, cookie);
        }
        let request = request.body(Body::from(body.to_owned())).expect("a request");
        let response = self.router.clone().oneshot(request).await.expect("an answer");
        let (parts, body) = response.into_parts();
        for set in parts.headers.get_all(header::SET_COOKIE) {
            let set = set.to_str().expect("text");
            let pair = set.split(';').next().expect("a cookie");
            let kept = if pair.contains("-device=") {
                &mut self.device
            } else {
                &mut self.cookie
            };
            *kept = (!pair.ends_with('=')).then(|| pair.to_owned());
        }
        let body = to_bytes(body, 100_000).await.expect("a body");
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: String::from_utf8(body.to_vec()).expect("text"),
        }
    }

    async fn get(&mut self, path: &str) -> String {
        self.ask("GET", path, &[], "").await.body
    }

    /// Sends a form from one of our pages.
    async fn send(&mut self, path: &str, form: &str) -> Answer {
        let headers = [
            ("sec-fetch-site", "same-origin"),
            ("content-type", "application/x-www-form-urlencoded"),
        ];
        self.ask("POST", path, &headers, form).await
    }

    async fn enter(&mut self) -> Answer {
        let token = self.get("/token").await;
        self.send("/enter", &format!("csrf={token}")).await
    }
}

async fn enter(people: &People, session: &Session, client: &Client) -> String {
    let form = LogInForm {
        email: "ann@example.org".to_owned(),
        password: PASSWORD.into(),
        stay: Stay::LoggedIn,
    };
    let entered = log_in(people, session, client, form, clock::now()).await;
    match entered {
        Ok(LogInStep::LoggedIn(user)) => user.to_string(),
        other => panic!("{other:?}"),
    }
}

async fn town() -> Town {
    let town = Town::build().await;
    town.welcome(&mut town.browser("192.0.2.1"), "ann@example.org").await;
    town
}

fn set_cookie(answer: &Answer) -> Vec<String> {
    let cookies = answer.headers.get_all(header::SET_COOKIE).iter();
    cookies
        .map(|cookie| cookie.to_str().expect("text").to_owned())
        .collect()
}

#[tokio::test]
async fn the_cookie_is_for_this_host_and_for_no_script() {
    let town = town().await;
    for (base, name, secure) in [
        (BASE, "__Host-platen", true),
        ("http://127.0.0.1:3000/", "platen", false),
    ] {
        let mut site = Site::open(&town, base);
        assert_eq!(site.get("/whoami").await, "");
        assert_eq!(site.cookie, None, "a visitor who only views pages has no session");
        let entered = site.enter().await;
        assert_eq!(entered.status, 200);
        let cookies = set_cookie(&entered);
        assert_eq!(cookies.len(), 2);
        for (name, seconds) in [(name.to_owned(), 2_592_000), (format!("{name}-device"), 34_560_000)] {
            let mut found = cookies.iter().filter(|cookie| cookie.starts_with(&format!("{name}=")));
            let cookie = found.next().unwrap_or_else(|| panic!("{name}: {cookies:?}"));
            let attributes: Vec<_> = cookie.split("; ").skip(1).collect();
            // May have been computed a second later.
            let lasts = [seconds, seconds - 1].map(|seconds| format!("Max-Age={seconds}"));
            assert!(
                lasts.iter().any(|lasts| attributes.contains(&lasts.as_str())),
                "{cookie}"
            );
            for expected in ["HttpOnly", "SameSite=Lax", "Path=/"] {
                assert!(attributes.contains(&expected), "{expected}: {cookie}");
            }
            assert_eq!(attributes.contains(&"Secure"), secure, "{cookie}");
            assert!(!cookie.contains("Domain"), "{cookie}");
        }
        assert_eq!(site.get("/whoami").await, entered.body);

        let token = site.get("/token").await;
        let left = site.send("/leave", &format!("csrf={token}")).await;
        let cookies = set_cookie(&left);
        assert_eq!(cookies.len(), 1, "{cookies:?}");
        // Browsers accept the removal of a cookie with this name only with these attributes.
        assert!(cookies[0].starts_with(&format!("{name}=;")), "{cookies:?}");
        assert!(
            cookies[0].contains("Path=/") && cookies[0].contains("Max-Age=0"),
            "{cookies:?}"
        );
        assert_eq!(cookies[0].contains("; Secure"), secure, "{cookies:?}");
        assert_eq!(site.get("/whoami").await, "");
    }
}

#[tokio::test]
async fn what_another_site_sends_is_refused() {
    let town = town().await;
    let mut site = Site::open(&town, BASE);
    for foreign in [
        &[("sec-fetch-site", "cross-site")][..],
        &[("sec-fetch-site", "same-site"), ("origin", BASE)],
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
    ] {
        // Log-in is refused as well, although it needs no session.
        let refused = site.ask("POST", "/enter", foreign, "").await;
        assert_eq!(refused.status, 403, "{foreign:?}");
        assert!(refused.body.contains("another site"), "{}", refused.body);
        assert_eq!(site.cookie, None);
    }
    assert_eq!(site.enter().await.status, 200);
    let token = site.get("/token").await;
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        let headers = [("sec-fetch-site", "cross-site"), ("x-csrf-token", token.as_str())];
        assert_eq!(site.ask(method, "/say", &headers, "").await.status, 403, "{method}");
        // A request with a cookie but without the browser's headers is refused.
        assert_eq!(
            site.ask(method, "/say", &headers[1..], "").await.status,
            403,
            "{method}"
        );
    }
    assert_ne!(site.get("/whoami").await, "");
}

#[tokio::test]
async fn a_form_needs_the_token_of_its_session() {
    let town = town().await;
    let mut site = Site::open(&town, BASE);
    // Without a session there is nothing to protect.
    assert_eq!(site.send("/say", "word=hello").await.body, "hello");
    assert_eq!(
        site.ask(
            "POST",
            "/say",
            &[("content-type", "application/x-www-form-urlencoded")],
            "word=hello"
        )
        .await
        .body,
        "hello"
    );
    site.enter().await;
    let token = site.get("/token").await;
    assert_eq!(token.len(), 43);

    let said = site.send("/say", &format!("word=two+words&csrf={token}")).await;
    assert_eq!((said.status, said.body.as_str()), (StatusCode::OK, "two words"));
    let by_header = [
        ("origin", "https://platen.example"),
        ("content-type", "application/x-www-form-urlencoded"),
        ("x-csrf-token", token.as_str()),
    ];
    assert_eq!(site.ask("POST", "/say", &by_header, "word=hello").await.body, "hello");

    let mut other = Site::open(&town, BASE);
    other.enter().await;
    let of_other = other.get("/token").await;
    for form in [
        "word=hello".to_owned(),
        "word=hello&csrf=".to_owned(),
        format!("word=hello&csrf={}", &token[1..]),
        format!("word=hello&csrf={of_other}"),
    ] {
        let refused = site.send("/say", &form).await;
        assert_eq!(refused.status, 403, "{form}");
        assert!(refused.body.contains("reload the page"), "{}", refused.body);
    }
    let json = [("sec-fetch-site", "same-origin"), ("content-type", "application/json")];
    assert_eq!(site.ask("POST", "/say", &json, "{}").await.status, 403);
    let huge = "x".repeat(9 * 1024 * 1024);
    assert_eq!(site.send("/say", &huge).await.status, 413);

    // Another log-in changes the token.
    site.enter().await;
    assert_eq!(site.send("/say", &format!("word=hello&csrf={token}")).await.status, 403);
    assert_ne!(site.get("/token").await, token);
}

#[tokio::test]
async fn a_session_that_is_over_is_no_session() {
    let town = town().await;
    let mut site = Site::open(&town, BASE);
    let user = site.enter().await.body;
    assert_eq!(site.get("/whoami").await, user);
    let former = site.cookie.clone();
    town.execute("update sessions set expires_at = now()").await;
    assert_eq!(site.get("/whoami").await, "");
    // The cookie is removed, and the browser can log in again.
    assert_eq!(site.cookie, None);
    assert_eq!(site.enter().await.status, 200);
    assert_ne!(site.cookie, former);
    for nonsense in [
        "__Host-platen=x",
        "__Host-platen=",
        "__Host-platen=AAAAAAAAAAAAAAAAAAAAAA",
    ] {
        site.cookie = Some(nonsense.to_owned());
        assert_eq!(site.get("/whoami").await, "", "{nonsense}");
    }
}

#[tokio::test]
async fn pages_say_that_sessions_can_not_be_read() {
    let town = town().await;
    let mut site = Site::open(&town, BASE);
    site.enter().await;
    town.execute("alter table sessions rename to elsewhere").await;
    let answer = site.ask("GET", "/whoami", &[], "").await;
    assert_eq!(answer.status, 503);
    assert!(!answer.body.contains("sessions\""), "{}", answer.body);
    site.cookie = None;
    assert_eq!(site.ask("GET", "/whoami", &[], "").await.status, 200);
}

#[tokio::test]
async fn a_trusted_proxy_names_the_address_of_the_client() {
    let town = town().await;
    let site = Site::open(&town, BASE);
    let peer: std::net::SocketAddr = "192.0.2.9:1234".parse().expect("an address");
    let mut request = Request::get("/where").body(Body::empty()).expect("a request");
    request.extensions_mut().insert(axum::extract::ConnectInfo(peer));
    request
        .headers_mut()
        .insert("x-forwarded-for", HeaderValue::from_static("10.0.0.1, 198.51.100.7"));
    let response = site.router.oneshot(request).await.expect("an answer");
    let body = to_bytes(response.into_body(), 100).await.expect("a body");
    assert_eq!(body, "198.51.100.7");
}
