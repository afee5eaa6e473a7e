//! The billing page, and the targets of its forms.

use platen_fake_stripe::FakeStripe;
use reqwest::StatusCode;

use super::{service_with, site};
use crate::support::{
    service::TestService,
    shop::{WEBHOOK_SECRET, settings},
    studio::header,
    visitor::Visitor,
};

// The command blocks its thread; the fake needs another one.
#[tokio::test(flavor = "multi_thread")]
async fn owners_are_sent_to_stripe_and_reminded_of_what_is_to_be_paid() {
    let (stripe, site) = (FakeStripe::start(WEBHOOK_SECRET).await, site());
    let folder = site.path().to_str().expect("text").to_owned();
    let settings = settings(stripe.url()).into_iter().chain([("PLATEN_SITE_DIR", folder)]);
    let settings: Vec<_> = settings.collect();
    let settings: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let service = TestService::start_with(&settings).await;
    service.command_with(&settings, &["billing", "sync"], "").succeeded();
    service.account_with("ann@example.org", &[]);
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let page = ann.get("/dashboard/billing").await;
    let policy = header(&page, "content-security-policy").to_owned();
    let allowed = format!("form-action 'self' {};", stripe.url().trim_end_matches('/'));
    assert!(policy.contains(&allowed), "{policy}");
    let answer = ann.submit("subscribe", &[("plan", "Starter")]).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    let checkout = header(&answer, "location").to_owned();
    assert!(checkout.starts_with(stripe.url()), "{checkout}");
    stripe.pay(&checkout);
    let page = ann.page("/dashboard/billing?done=subscribed").await;
    assert!(page.contains("2,000 credits a month, € 19"), "{page}");
    let refused = ann.submit("buy-credits", &[("subject", "credits_of_last_year")]).await;
    let (_, error) = header(&refused, "location").split_once('?').expect("an error");
    let page = ann.page(&format!("/dashboard/billing?{error}")).await;
    assert!(page.contains("This product is no longer available."), "{page}");
    let subscription = stripe.last_subscription()["id"].as_str().expect("an id").to_owned();
    drop(stripe.events());
    stripe.fail_payment(&subscription, 3600);
    for body in stripe.events() {
        let request = reqwest::Client::new().post(service.url("/webhooks/stripe"));
        let request = request.header("stripe-signature", stripe.signature(&body)).body(body);
        assert_eq!(request.send().await.expect("an answer").status(), StatusCode::OK);
    }
    service
        .number_is(1, "select count(*) from stripe_subscriptions where status = 'past_due'")
        .await;
    let page = ann.page("/dashboard").await;
    assert!(page.contains("The last payment failed."), "{page}");
}

#[tokio::test]
async fn where_nothing_is_for_sale_the_operator_gives_plans() {
    let site = site();
    let service = service_with(site.path()).await;
    service.account_with("ann@example.org", &[]);
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let page = ann.get("/dashboard/billing").await;
    assert!(header(&page, "content-security-policy").contains("form-action 'self';"));
    let page = page.text().await.expect("a page");
    assert!(
        page.contains("To change plan, contact the operator of this service."),
        "{page}"
    );
}

#[tokio::test]
async fn what_was_used_in_the_period_is_a_file_as_well() {
    let site = site();
    let service = service_with(site.path()).await;
    let account = service.account_with("ann@example.org", &[]);
    service.account_with("ben@example.org", &[]);
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let file = ann.get("/dashboard/billing/usage.csv").await;
    assert_eq!(header(&file, "content-type"), "text/csv; charset=utf-8");
    assert_eq!(
        header(&file, "content-disposition"),
        "attachment; filename=\"platen-usage.csv\""
    );
    let head = "\"day\",\"meter\",\"livemode\",\"credits\"\r\n";
    assert_eq!(file.text().await.expect("a file"), head);
    let use_up = format!(
        "insert into usage_days (id, account_id, period_starts_at, day, meter, livemode, credits)
         select gen_random_uuid(), account_id, starts_at, (starts_at at time zone 'utc')::date + days, meter, livemode, credits
         from credit_periods, (values (1, 'sync_render', true, 12), (0, 'async_render', false, 3), (0, 'async_render', true, 1))
             as used (days, meter, livemode, credits)
         where account_id = '{}'",
        account.id
    );
    service.execute(&use_up).await;
    let days = "select concat_ws(' ', (starts_at at time zone 'utc')::date, (starts_at at time zone 'utc')::date + 1)
                from credit_periods";
    let days = service.text(days).await;
    let (first, second) = days.split_once(' ').expect("two days");
    let rows = format!(
        "\"{first}\",\"async_render\",\"true\",\"1\"\r\n\"{first}\",\"async_render\",\"false\",\"3\"\r\n\
         \"{second}\",\"sync_render\",\"true\",\"12\"\r\n"
    );
    assert_eq!(ann.page("/dashboard/billing/usage.csv").await, format!("{head}{rows}"));
    // The file contains only the own account's usage.
    let ben = Visitor::log_in(&service, "ben@example.org").await;
    assert_eq!(ben.page("/dashboard/billing/usage.csv").await, head);
}
