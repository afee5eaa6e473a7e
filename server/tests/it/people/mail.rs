//! Sending mail, and handling of failures.

use std::sync::Arc;

use platen_core::{
    clock,
    config::Config,
    outbound::mail::SmtpClient,
    service::{
        mail::Delivery,
        people::{
            password::{request_reset, reset},
            sign_up::{sign_up, verify},
        },
    },
};

use crate::support::{
    people::{PASSWORD, Town, form, token_in},
    service::TestService,
    smtp::SmtpServer,
};

const WAITING: &str = "select count(*) from jobs where kind = 'mail' and run_at < 'infinity'";
const GIVEN_UP: &str = "select count(*) from jobs where kind = 'mail' and run_at = 'infinity'";
const SENDER: &str = "Ann's Platen <no-reply@example.org>";

/// Creates a town that sends its mail to this server.
async fn town_with(url: &str) -> Town {
    let mut town = Town::build().await;
    let config = Config::read(&|name| match name {
        "PLATEN_SMTP_URL" => Some(url.to_owned()),
        "PLATEN_MAIL_FROM" => Some(SENDER.to_owned()),
        _ => None,
    });
    let client = SmtpClient::new(&config.expect("sound settings").mail).expect("a client");
    town.mailing.delivery = Delivery::Smtp(Arc::new(client.expect("a server")));
    town
}

impl Town {
    async fn asks_for_a_link(&self, email: &str) {
        let client = self.browser("192.0.2.1").client;
        sign_up(&self.people, &client, form(email), clock::now())
            .await
            .expect("signed up");
    }

    async fn hastens(&self) {
        self.execute("update jobs set run_at = now() where run_at < 'infinity'")
            .await;
    }
}

#[tokio::test]
async fn the_service_sends_mail_in_two_forms_and_forgets_it() {
    let server = SmtpServer::start().await;
    let settings = [
        ("PLATEN_SMTP_URL", server.url()),
        ("PLATEN_MAIL_FROM", SENDER.to_owned()),
    ];
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let mut service = TestService::start_with(&settings).await;
    service.account("ann@example.org");
    let town = Town::at(service.database_url()).await;
    let client = town.browser("192.0.2.1").client;
    request_reset(&town.people, &client, "ann@example.org", clock::now())
        .await
        .unwrap();
    let sent = server.takes(1).await.pop().expect("a mail");
    assert_eq!(sent.envelope.len(), 2, "{:?}", sent.envelope);
    assert!(
        sent.envelope[0].starts_with("MAIL FROM:<no-reply@example.org>"),
        "{:?}",
        sent.envelope
    );
    assert_eq!(sent.envelope[1], "RCPT TO:<ann@example.org>");
    assert_eq!(sent.header("To").as_deref(), Some("ann@example.org"));
    assert_eq!(sent.header("Subject").as_deref(), Some("Reset your password"));
    let from = sent.header("From").expect("a sender");
    assert!(from.ends_with("<no-reply@example.org>"), "{from}");
    assert!(sent.header("Date").is_some() && sent.header("MIME-Version").is_some());
    let id = sent.header("Message-ID").expect("an id");
    assert!(id.ends_with("@example.org>"), "{id}");
    let mail = sent.decoded();
    let token = token_in(&mail);
    assert!(mail.contains("Content-Type: multipart/alternative"), "{mail}");
    let link = format!("{}/reset-password?token={token}", service.base_url);
    assert!(mail.contains(&format!("\r\n{link}\r\n")), "{mail}");
    assert!(mail.contains(&format!("href=\"{link}\"")), "{mail}");
    assert!(!mail.contains("<img") && !mail.contains("src="), "{mail}");
    service.number_is(0, "select count(*) from mails").await;
    // The log records that it was sent, but not to whom.
    let event = service.process.wait_for_event("sent a mail");
    assert_eq!(event["kind"], "reset_password", "{event}");
    let log = service.process.log();
    assert!(!log.contains("ann@example.org") && !log.contains(&token), "{log}");
    // The token is valid.
    reset(&town.people, &token, "another password".into(), clock::now())
        .await
        .unwrap();
}

/// A later release may have more kinds of mail.
#[tokio::test]
async fn a_mail_that_cannot_be_read_is_tried_later() {
    let server = SmtpServer::start().await;
    let settings = [
        ("PLATEN_SMTP_URL", server.url()),
        ("PLATEN_MAIL_FROM", SENDER.to_owned()),
    ];
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let service = TestService::start_with(&settings).await;
    let town = Town::at(service.database_url()).await;
    town.execute(
        "insert into mails (id, recipient, letter, inserted_at)
         values (gen_random_uuid(), 'ann@example.org', '{\"kind\": \"of_a_later_release\"}', now())",
    )
    .await;
    let tried = "select count(*) from jobs
        where kind = 'mail' and failures = 1 and last_error is not null and run_at > now() + interval '5 s'";
    service.number_is(1, tried).await;
}

#[tokio::test]
async fn a_mail_that_is_not_taken_is_sent_again() {
    let server = SmtpServer::start().await;
    let town = town_with(&server.url()).await;
    server.refuse("451 4.3.0 try again later");
    town.asks_for_a_link("ann@example.org").await;
    assert_eq!(town.sends().await, 1);
    assert_eq!(server.taken().len(), 0);
    // Not immediately.
    assert_eq!(town.sends().await, 0);
    assert_eq!(
        town.number("select count(*) from jobs where run_at > now() + interval '5 s'")
            .await,
        1
    );
    town.hastens().await;
    assert_eq!(town.sends().await, 1);
    let mail = server.takes(1).await.pop().expect("a mail").decoded();
    assert_eq!(town.number("select count(*) from mails").await, 0);
    let mut ann = town.browser("192.0.2.1");
    let (token, client) = (token_in(&mail), ann.client.clone());
    let people = &town.people;
    ann.visit(async |session| verify(people, session, &client, &token, PASSWORD.into(), clock::now()).await)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_server_that_is_away_is_waited_for_and_not_for_ever() {
    // There is no server at this port.
    let town = town_with("smtp://127.0.0.1:1").await;
    town.asks_for_a_link("ann@example.org").await;
    for _ in 0..7 {
        assert_eq!(town.sends().await, 1);
        assert_eq!(town.number(WAITING).await, 1);
        town.hastens().await;
    }
    assert_eq!(town.sends().await, 1);
    // It stays visible to operators, but is not retried.
    assert_eq!((town.number(WAITING).await, town.number(GIVEN_UP).await), (0, 1));
    town.hastens().await;
    assert_eq!(town.sends().await, 0);
}

#[tokio::test]
async fn a_mailbox_that_is_not_there_is_not_tried_again() {
    let server = SmtpServer::start().await;
    let town = town_with(&server.url()).await;
    server.refuse("550 5.1.1 no such user <ann@example.org>");
    town.asks_for_a_link("ann@example.org").await;
    assert_eq!(town.sends().await, 1);
    assert_eq!(
        (
            server.taken().len(),
            town.number(WAITING).await,
            town.number(GIVEN_UP).await
        ),
        (0, 0, 1)
    );
    let told = "select count(*) from jobs where last_error = 'the server responded with 550'";
    assert_eq!(town.number(told).await, 1);
}

#[tokio::test]
async fn what_a_process_held_that_is_gone_is_sent_by_another() {
    let server = SmtpServer::start().await;
    let town = town_with(&server.url()).await;
    town.asks_for_a_link("ann@example.org").await;
    let claim = "update jobs set claim = gen_random_uuid(), instance = gen_random_uuid(),
                     lease_until = now() + interval '1 min'";
    town.execute(claim).await;
    assert_eq!(town.sends().await, 0);
    town.execute("update jobs set lease_until = now() - interval '1 s'")
        .await;
    assert_eq!(town.sends().await, 1);
    assert_eq!(server.taken().len(), 1);
}

#[tokio::test]
async fn several_processes_send_each_mail_once() {
    let server = SmtpServer::start().await;
    let town = town_with(&server.url()).await;
    for number in 0..20 {
        let client = town.browser(&format!("192.0.2.{number}")).client;
        let email = format!("{number}@example.org");
        sign_up(&town.people, &client, form(&email), clock::now())
            .await
            .unwrap();
    }
    let sent = futures::future::join_all((0..4).map(|_| town.sends())).await;
    assert_eq!(sent.iter().sum::<usize>(), 20, "{sent:?}");
    let mut recipients: Vec<_> = server.taken().into_iter().map(|taken| taken.header("To")).collect();
    recipients.sort();
    recipients.dedup();
    assert_eq!((recipients.len(), server.taken().len()), (20, 20));
}

#[tokio::test]
async fn no_name_becomes_a_header() {
    let server = SmtpServer::start().await;
    let town = town_with(&server.url()).await;
    // No form would accept these values.
    let name = r#"x\r\nBcc: eve@example.org\r\n\r\n<b onclick=\"x\">&\u2028"#;
    let letter =
        format!(r#"{{"kind": "deletion_asked", "account_name": "{name}", "delete_at": "2026-12-01T00:00:00Z"}}"#);
    let address = r#"{"kind": "address_changed", "new_address": "a@b\r\nBcc: eve@example.org"}"#;
    for letter in [letter.as_str(), address] {
        let insert = format!(
            "insert into mails (id, recipient, letter, run_at, inserted_at)
             values (gen_random_uuid(), 'ann@example.org', '{letter}', now(), now())"
        );
        town.execute(&insert).await;
    }
    assert_eq!(town.sends().await, 2);
    for taken in server.taken() {
        let head = taken.data.split("\r\n\r\n").next().expect("headers");
        assert!(!head.contains("eve@example.org"), "{head}");
        assert_eq!(taken.envelope.len(), 2, "{:?}", taken.envelope);
        let mail = taken.decoded();
        let (_, html) = mail.split_once("Content-Type: text/html").expect("two forms");
        assert!(!html.contains("<b onclick"), "{html}");
    }
    // Nothing is sent to an invalid address.
    for recipient in [
        "ann@example.org>\r\nRCPT TO:<eve@example.org",
        "ann@example.org, eve@example.org",
        "@",
    ] {
        let insert = format!(
            r#"insert into mails (id, recipient, letter, run_at, inserted_at)
               values (gen_random_uuid(), '{recipient}', '{{"kind": "password_changed"}}', now(), now())"#
        );
        town.execute(&insert).await;
        assert_eq!(town.sends().await, 1);
    }
    assert_eq!(
        (server.taken().len(), town.number("select count(*) from mails").await),
        (2, 0)
    );
}

#[tokio::test]
async fn mail_waits_without_a_way_to_deliver_it() {
    let mut town = Town::build().await;
    town.mailing.delivery = Delivery::None;
    town.asks_for_a_link("ann@example.org").await;
    assert_eq!(town.sends().await, 0);
    // No link was created or stored.
    assert_eq!(town.number("select count(*) from one_time_tokens").await, 0);
    assert_eq!(town.number("select count(*) from mails where kept is null").await, 1);
}

/// The command and the server that it connects to run concurrently.
#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_asks_the_server() {
    let server = SmtpServer::start().await;
    let service = TestService::start().await;
    let examine = |url: &str| {
        let settings = [("PLATEN_SMTP_URL", url), ("PLATEN_MAIL_FROM", SENDER)];
        service.command_with(&settings, &["doctor"], "").stdout
    };
    let told = examine(&server.url());
    assert!(
        told.contains(&format!("ok       Mail      127.0.0.1:{}", server.port)),
        "{told}"
    );
    let told = examine("smtp://user:hunter2@127.0.0.1:1?tls=none");
    assert!(
        told.contains("warning  Mail      127.0.0.1:1:") && !told.contains("hunter2"),
        "{told}"
    );
    let told = service.command(&["doctor"], "").stdout;
    assert!(told.contains("/dev/mail"), "{told}");
}
