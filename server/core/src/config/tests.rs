use std::{num::NonZeroU32, time::Duration};

use platen_domain::plan::PlanLimits;

use super::*;

fn read(settings: &[(&str, &str)]) -> Result<Config, ConfigError> {
    Config::read(&|name| {
        settings
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn every_default_is_sound() {
    let config = read(&[]).expect("defaults");
    assert_eq!(config.http.listen.to_string(), "127.0.0.1:3000");
    assert_eq!(config.http.base_url.as_str(), "http://127.0.0.1:3000/");
    assert_eq!(config.limits.body_bytes, None);
    assert!(config.browser.sandbox);
    assert!(config.database.url.is_none());
}

#[test]
fn every_setting_is_described() {
    for setting in SECTIONS.iter().flat_map(|(_, settings)| *settings) {
        let texts = [setting.purpose, setting.allowed, setting.default];
        assert!(texts.iter().all(|text| !text.is_empty()), "{}", setting.name);
    }
}

#[test]
fn an_invalid_setting_contradicts_no_other() {
    let error = read(&[("PLATEN_SLOTS", "0"), ("PLATEN_SESSIONS", "1")]).expect_err("an invalid value");
    assert_eq!(error.to_string().matches("PLATEN_").count(), 1, "{error}");
}

#[test]
fn the_address_of_the_listener_needs_no_zone() {
    let config = read(&[("PLATEN_LISTEN", "[fe80::1%2]:3000")]).expect("an address");
    assert_eq!(config.http.base_url.as_str(), "http://[fe80::1]:3000/");
}

#[test]
fn a_service_is_private_only_on_loopback_addresses_without_a_proxy() {
    let private = |settings: &[(&str, &str)]| read(settings).expect("settings").http.is_private();
    assert!(private(&[]));
    assert!(private(&[
        ("PLATEN_LISTEN", "[::1]:80"),
        ("PLATEN_BASE_URL", "http://localhost:8080")
    ]));
    for (name, value) in [
        ("PLATEN_LISTEN", "0.0.0.0:3000"),
        ("PLATEN_BASE_URL", "https://platen.example"),
        ("PLATEN_BASE_URL", "http://localhost.example"),
        ("PLATEN_TRUSTED_PROXIES", "127.0.0.1"),
    ] {
        assert!(!private(&[(name, value)]), "{name} {value}");
    }
}

#[test]
fn an_empty_value_means_the_default() {
    assert_eq!(
        read(&[("PLATEN_QUEUE_LIMIT", "")]).expect("default").limits.queue_limit,
        200
    );
}

#[test]
fn all_faults_come_at_once_with_name_value_and_what_is_allowed() {
    let error = read(&[
        ("PLATEN_LISTEN", "3000"),
        ("PLATEN_CONCURRENCY", "0"),
        ("PLATEN_CHROMIUM_SANDBOX", "no"),
        ("PLATEN_BASE_URL", "ftp://x"),
    ])
    .unwrap_err()
    .to_string();
    for expected in [
        "PLATEN_LISTEN: \"3000\" is not allowed; allowed: address:port",
        "PLATEN_CONCURRENCY: \"0\" is not allowed; allowed: 1 to 1000",
        "PLATEN_CHROMIUM_SANDBOX: \"no\" is not allowed; allowed: on, off",
        "PLATEN_BASE_URL: \"ftp://x\" is not allowed",
    ] {
        assert!(error.contains(expected), "{expected} is missing in:\n{error}");
    }
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    let error = read(&[("PLATEN_SLOTS", "8"), ("PLATEN_SESSIONS", "4")])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("PLATEN_SESSIONS") && error.contains("PLATEN_SLOTS"),
        "{error}"
    );
}

#[test]
fn no_memory_is_promised_twice() {
    let sound = |settings: &[(&str, &str)]| read(settings).expect("settings");
    let small = sound(&[
        ("PLATEN_MEMORY_MB", "2048"),
        ("PLATEN_SLOTS", "4"),
        ("PLATEN_BROWSERS", "1"),
    ]);
    assert!(small.browser.page_memory_bytes * 7 <= small.memory.pages);
    let large = sound(&[("PLATEN_MEMORY_MB", "65536"), ("PLATEN_SLOTS", "4")]);
    assert_eq!(large.browser.page_memory_bytes, 1 << 30);
    for settings in [
        [("PLATEN_SLOTS", "4"), ("PLATEN_PAGE_MEMORY_MB", "1024")],
        [("PLATEN_BROWSERS", "10"), ("PLATEN_PAGE_MEMORY_MB", "128")],
    ] {
        let error = read(&[&settings[..], &[("PLATEN_MEMORY_MB", "3072")]].concat()).unwrap_err();
        assert!(error.to_string().contains("PLATEN_MEMORY_MB"), "{error}");
    }
}

#[test]
fn a_faulty_database_address_is_not_printed() {
    let error = read(&[("DATABASE_URL", "mysql://user:hunter2@host/db")])
        .unwrap_err()
        .to_string();
    assert!(error.contains("DATABASE_URL") && !error.contains("hunter2"), "{error}");
}

#[test]
fn metrics_are_off_and_their_token_is_not_printed() {
    let metrics = read(&[]).expect("defaults").metrics;
    assert!(metrics.token.is_none() && metrics.listen.is_none());
    for token in ["hunter2", "hunter2 hunter2 hunter2"] {
        let error = read(&[("PLATEN_METRICS_TOKEN", token)]).unwrap_err().to_string();
        assert!(
            error.contains("PLATEN_METRICS_TOKEN") && !error.contains("hunter2"),
            "{error}"
        );
    }
}

#[test]
fn mail_needs_a_sender_and_its_password_is_not_printed() {
    assert!(read(&[]).expect("defaults").mail.smtp.is_none());
    let error = read(&[("PLATEN_SMTP_URL", "smtp://user:hunter2@relay")])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("PLATEN_MAIL_FROM") && !error.contains("hunter2"),
        "{error}"
    );
    let sender = ("PLATEN_MAIL_FROM", "Ann's Platen <no-reply@example.org>");
    let error = read(&[("PLATEN_SMTP_URL", "smtp://hunter2@relay"), sender])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("PLATEN_SMTP_URL") && !error.contains("hunter2"),
        "{error}"
    );
    let mail = read(&[("PLATEN_SMTP_URL", "smtp://relay"), sender])
        .expect("sound")
        .mail;
    assert_eq!(
        (mail.smtp.expect("a server").port, mail.from.email.to_string()),
        (25, "no-reply@example.org".into())
    );
    let error = read(&[("PLATEN_MAIL_FROM", "nobody")]).unwrap_err().to_string();
    assert!(error.contains("PLATEN_MAIL_FROM: \"nobody\" is not allowed"), "{error}");
}

#[test]
fn reports_of_security_problems_go_to_a_mailbox_or_a_page() {
    let contact = |value: &str| read(&[("PLATEN_SECURITY_CONTACT", value)]);
    assert!(read(&[]).expect("defaults").disclosure.contact.is_none());
    for value in ["mailto:security@example.org", "https://example.org/security"] {
        let found = contact(value).expect(value).disclosure.contact;
        assert_eq!(found.expect(value).as_str(), value);
    }
    let broken = contact("mailto:a@example.org\nPolicy: https://evil.example").map(|config| config.disclosure);
    let broken = broken.expect("line breaks are dropped").contact.expect("one");
    assert!(!broken.as_str().contains('\n'), "{broken}");
    for value in [
        "security@example.org",
        "mailto:",
        "http://example.org",
        "javascript:a@b",
    ] {
        let error = contact(value).unwrap_err().to_string();
        assert!(error.contains("allowed: mailto: or https:// address"), "{error}");
    }
    let error = read(&[("PLATEN_SECURITY_POLICY", "https://example.org")]).unwrap_err();
    assert!(error.to_string().contains("PLATEN_SECURITY_CONTACT"), "{error}");
}

#[test]
fn payment_needs_both_secrets_and_prints_neither() {
    assert!(read(&[]).expect("defaults").billing.stripe.is_none());
    let key = ("PLATEN_STRIPE_SECRET_KEY", "sk_test_hunter2");
    let error = read(&[key]).unwrap_err().to_string();
    assert!(
        error.contains("PLATEN_STRIPE_WEBHOOK_SECRET") && !error.contains("hunter2"),
        "{error}"
    );
    let error = read(&[("PLATEN_STRIPE_SECRET_KEY", "pk_live_hunter2")])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("begins with sk_") && !error.contains("hunter2"),
        "{error}"
    );
    let secret = ("PLATEN_STRIPE_WEBHOOK_SECRET", "whsec_hunter2");
    let stripe = read(&[key, secret]).expect("sound").billing.stripe.expect("Stripe");
    assert!(!format!("{stripe:?}").contains("hunter2") && !stripe.is_live() && !stripe.tax);
}

#[test]
fn a_limit_that_is_set_wins_over_the_plans() {
    let plan = PlanLimits {
        concurrency: 2,
        rate_per_minute: NonZeroU32::MIN,
        body_bytes: 1024,
        sync_deadline: Duration::from_mins(1),
    };
    assert_eq!(read(&[]).expect("defaults").limits.over(plan), plan);
    let set = read(&[("PLATEN_CONCURRENCY", "7"), ("PLATEN_SYNC_DEADLINE", "9")]).expect("settings");
    let limits = PlanLimits {
        concurrency: 7,
        sync_deadline: Duration::from_secs(9),
        ..plan
    };
    assert_eq!(set.limits.over(plan), limits);
}

#[test]
fn help_lists_every_setting() {
    let help = help();
    for (_, settings) in SECTIONS {
        for setting in settings {
            assert!(help.contains(setting.name));
        }
    }
}
