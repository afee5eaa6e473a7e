//! Mail that is shown at `/dev/mail` instead of being sent, and access to it.

use platen_core::{clock, service::people::sign_up::sign_up};

use crate::support::{
    people::{Town, form, token_in},
    service::TestService,
    smtp::SmtpServer,
    studio::header,
};

/// Signs up a user, which queues a mail.
async fn with_a_mail(service: &TestService) -> Town {
    let town = Town::at(service.database_url()).await;
    let client = town.browser("192.0.2.1").client;
    sign_up(&town.people, &client, form("ann@example.org"), clock::now())
        .await
        .expect("signed up");
    town
}

async fn status(service: &TestService, path: &str, headers: &[(&str, &str)]) -> u16 {
    let mut request = service.client.get(service.url(path));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.expect("an answer").status().as_u16()
}

#[tokio::test]
async fn a_developer_finds_the_mail_at_this_machine() {
    let service = TestService::start().await;
    with_a_mail(&service).await;
    service
        .number_is(1, "select count(*) from mails where kept is not null")
        .await;
    let show = async |path: &str| {
        let answer = service.client.get(service.url(path)).send().await.expect("an answer");
        assert_eq!(answer.status(), 200, "{path}");
        let policy = header(&answer, "content-security-policy").to_owned();
        assert!(
            policy.contains("default-src 'none'") && !policy.contains("script"),
            "{policy}"
        );
        assert_eq!(header(&answer, "cache-control"), "no-store");
        answer.text().await.expect("a body")
    };
    let list = show("/dev/mail").await;
    assert!(
        list.contains("ann@example.org") && list.contains("Confirm your email address"),
        "{list}"
    );
    let (_, rest) = list.split_once("href=\"").expect("a link");
    let path = rest.split('"').next().expect("a path");
    let mail = show(path).await;
    let token = token_in(&mail).split('"').next().expect("a token").to_owned();
    let link = format!("{}/sign-up/verify?token={token}", service.base_url);
    assert!(mail.contains(&format!("<a href=\"{link}\">{link}</a>")), "{mail}");
    assert!(show(&format!("{path}/html")).await.contains(&link));
    for unknown in ["/dev/mail/x", "/dev/mail/00000000-0000-7000-8000-000000000000"] {
        assert_eq!(status(&service, unknown, &[]).await, 404, "{unknown}");
    }
    // Other clients can't.
    for headers in [
        &[("x-forwarded-for", "127.0.0.1")][..],
        &[("forwarded", "for=127.0.0.1")],
        &[("via", "1.1 proxy")],
        &[("x-real-ip", "127.0.0.1")],
        &[("host", "evil.example")],
        &[("host", "localhost.evil.example")],
    ] {
        for path in ["/dev/mail", path] {
            assert_eq!(status(&service, path, headers).await, 404, "{headers:?}");
        }
    }
    let former = service.client.get(service.url(path)).version(reqwest::Version::HTTP_10);
    assert_eq!(former.send().await.expect("an answer").status(), 404);
    assert_eq!(status(&service, path, &[("host", "localhost:3000")]).await, 200);
}

#[tokio::test]
async fn what_is_sent_or_served_to_others_is_not_shown() {
    let server = SmtpServer::start().await;
    let url = server.url();
    let sent = [
        ("PLATEN_SMTP_URL", url.as_str()),
        ("PLATEN_MAIL_FROM", "no-reply@example.org"),
    ];
    let service = TestService::start_with(&sent).await;
    with_a_mail(&service).await;
    server.takes(1).await;
    assert_eq!(status(&service, "/dev/mail", &[]).await, 404);

    let proxied = service.beside(&[("PLATEN_BASE_URL", "https://platen.example")]).await;
    assert_eq!(status(&proxied, "/dev/mail", &[]).await, 404);
    let public = service.beside(&[("PLATEN_LISTEN", "0.0.0.0:0")]).await;
    assert_eq!(status(&public, "/dev/mail", &[]).await, 404);
}
