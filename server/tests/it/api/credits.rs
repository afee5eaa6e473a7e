//! The price of renders, and accounts without credits.

use futures::future::join_all;
use reqwest::Response;
use rustix::process::Signal;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

use crate::support::{
    origin::Origin,
    service::{TestAccount, TestService},
    studio::{Studio, asked, body, header},
};

/// Returns a document with this many pages.
pub(super) fn pages(count: usize) -> String {
    format!("{}<p>end", "<p style='break-after:page'>x</p>".repeat(count - 1))
}

async fn studio_with_credits(credits: &str, settings: &[(&str, &str)]) -> Studio {
    let service = TestService::start_with(settings).await;
    let account = service.account_with("ann@example.org", &["--credits", credits]);
    Studio { service, account }
}

/// Returns the response of `GET /api/v1/credits`.
async fn credits(service: &TestService, account: &TestAccount) -> Value {
    let request = service.client.get(service.url("/api/v1/credits"));
    let answer = request.bearer_auth(&account.key).send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    let body: Value = answer.json().await.expect("JSON");
    body["data"].clone()
}

/// Returns the message of a 403 `forbidden`.
pub(super) async fn forbidden(answer: Response) -> String {
    assert_eq!(answer.status(), 403);
    let body: Value = answer.json().await.expect("JSON");
    assert_eq!(body["error"], "forbidden");
    body["message"].as_str().expect("a message").to_owned()
}

#[tokio::test]
async fn every_ten_pages_begun_cost_a_credit_and_failures_nothing() {
    let studio = studio_with_credits("10", &[]).await;
    let unused = credits(&studio.service, &studio.account).await;
    assert_eq!(
        (&unused["credits_total"], &unused["credits_used"]),
        (&json!(10), &json!(0))
    );
    assert_eq!(
        (&unused["plan_name"], &unused["usage_details"]),
        (&json!("Free"), &json!([]))
    );

    for (pages_asked, delivered, cost) in [
        (11, json!({}), "2"),
        (11, json!({"pages": "2-11"}), "1"),
        (1, json!({}), "1"),
    ] {
        let answer = studio.render(pages(pages_asked), delivered).await;
        assert_eq!(answer.status(), 200);
        assert_eq!(header(&answer, "x-credits-used"), cost);
    }
    studio.problem("<p>", json!({"pages": "7"})).await;

    let used = credits(&studio.service, &studio.account).await;
    assert_eq!((&used["credits_total"], &used["credits_used"]), (&json!(10), &json!(4)));
    let items = used["usage_details"].as_array().unwrap();
    assert_eq!(
        items
            .iter()
            .filter_map(|item| item["aggregated_value"].as_i64())
            .sum::<i64>(),
        4
    );
    for item in items {
        assert_eq!(
            (&item["meter"], &item["livemode"]),
            (&json!("sync_render"), &json!(true))
        );
    }
    assert_eq!(items[0]["start_time"], used["period_start"]);
}

#[tokio::test]
async fn test_keys_cost_nothing_and_need_no_credits() {
    let mut studio = studio_with_credits("0", &[]).await;
    studio.account.key = studio
        .service
        .create_key("ann@example.org", "tries", &["--test"])
        .succeeded();
    let answer = studio.render(pages(11), json!({})).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(header(&answer, "x-credits-used"), "0");
    let used = credits(&studio.service, &studio.account).await;
    assert_eq!(used["credits_used"], 0);
    let item = &used["usage_details"][0];
    assert_eq!(
        (&item["aggregated_value"], &item["livemode"]),
        (&json!(2), &json!(false))
    );
}

#[tokio::test]
async fn without_credits_nothing_is_fetched_and_the_end_of_the_period_is_told() {
    let origin = Origin::start().await;
    let studio = studio_with_credits("0", &[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let answer = studio.render(origin.url("/"), json!({})).await;
    assert!(answer.headers().get("x-render-id").is_none());
    let message = forbidden(answer).await;
    let period_end = credits(&studio.service, &studio.account).await["period_end"].clone();
    assert!(message.contains(period_end.as_str().unwrap()), "{message}");
    assert!(origin.hits().is_empty());
}

#[tokio::test]
async fn the_owner_is_told_when_most_and_when_all_credits_are_used() {
    let studio = studio_with_credits("5", &[]).await;
    let told = async || {
        let letters = "select coalesce(string_agg(concat_ws(' of ', letter->>'used', letter->>'own'), ', ' order by inserted_at), '')
             from mails where letter->>'kind' = 'credits_used'";
        studio.service.text(letters).await
    };
    for (count, letters) in [(30, ""), (10, "4 of 5"), (1, "4 of 5, 5 of 5")] {
        studio.pdf(pages(count), json!({})).await;
        assert_eq!(told().await, letters, "after {count} pages");
    }
    forbidden(studio.render("<p>", json!({})).await).await;
    assert_eq!(told().await, "4 of 5, 5 of 5");
}

#[tokio::test]
async fn a_document_that_costs_more_than_is_left_is_not_charged() {
    let studio = studio_with_credits("2", &[]).await;
    let answer = studio.render(pages(21), json!({})).await;
    let render_id = header(&answer, "x-render-id").to_owned();
    let message = forbidden(answer).await;
    assert!(message.contains("costs 3 credits and 2 are free"), "{message}");
    let row = studio.recorded(&render_id).await;
    assert_eq!((&row["status"], &row["credits"]), (&json!("failed"), &Value::Null));
    assert!(
        row["error"]["message"].as_str().unwrap().contains("costs 3 credits"),
        "{row}"
    );
    assert_eq!(credits(&studio.service, &studio.account).await["credits_used"], 0);
    assert_eq!(studio.render(pages(20), json!({})).await.status(), 200);
}

#[tokio::test]
async fn a_render_under_way_holds_a_credit_until_it_ends() {
    let origin = Origin::start().await;
    let studio = studio_with_credits("1", &[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    {
        let render = studio.render(origin.url("/never"), json!({}));
        let other = async {
            asked(&origin).await;
            forbidden(studio.render("<p>", json!({})).await).await
        };
        tokio::select! {
            answer = render => panic!("an answer came: {}", answer.status()),
            message = other => assert!(message.contains("1 reserved"), "{message}"),
        }
    }
    studio.recorded_as("cancelled").await;
    assert_eq!(studio.render("<p>", json!({})).await.status(), 200);
    assert_eq!(credits(&studio.service, &studio.account).await["credits_used"], 1);
}

#[tokio::test]
async fn the_last_credits_are_never_overspent_over_two_processes() {
    let settings = [("PLATEN_CONCURRENCY", "100")];
    let studio = studio_with_credits("5", &settings).await;
    let second = studio.service.beside(&settings).await;
    let requests = (0..100).map(|number| {
        let service = if number % 2 == 0 { &studio.service } else { &second };
        let request = service.client.post(service.url("/api/v1/renderers/pdf"));
        request
            .bearer_auth(&studio.account.key)
            .json(&body("<p>", json!({})))
            .send()
    });
    let statuses: Vec<_> = join_all(requests)
        .await
        .into_iter()
        .map(|answer| answer.unwrap().status().as_u16())
        .collect();
    let count = |wanted| statuses.iter().filter(|status| **status == wanted).count();
    assert_eq!((count(200), count(403)), (5, 95), "{statuses:?}");
    let used = credits(&second, &studio.account).await;
    assert_eq!(
        (&used["credits_used"], &used["usage_details"][0]["aggregated_value"]),
        (&json!(5), &json!(5))
    );
}

#[tokio::test]
async fn a_new_period_begins_once_with_all_credits() {
    let studio = studio_with_credits("4", &[]).await;
    assert_eq!(studio.render(pages(31), json!({})).await.status(), 200);
    forbidden(studio.render("<p>", json!({})).await).await;
    // The month ends.
    studio
        .service
        .execute("update credit_periods set ends_at = now(); update accounts set period_anchor = now()")
        .await;
    let answers = join_all([(); 8].map(|()| studio.render("<p>", json!({})))).await;
    let successes = answers.iter().filter(|answer| answer.status() == 200).count();
    assert_eq!(successes, 4);
    let used = credits(&studio.service, &studio.account).await;
    assert_eq!((&used["credits_total"], &used["credits_used"]), (&json!(4), &json!(4)));
    let mut connection = PgConnection::connect(studio.service.database_url()).await.unwrap();
    let periods: Vec<(i64, i64)> = sqlx::query_as("select allowance, used from credit_periods order by starts_at")
        .fetch_all(&mut connection)
        .await
        .unwrap();
    assert_eq!(periods, [(4, 4), (4, 4)]);
}

/// Starts a render whose page never arrives, and returns once the page was requested from the origin.
async fn begin_endless(service: &TestService, account: &TestAccount, origin: &Origin) {
    let request = service.client.post(service.url("/api/v1/renderers/pdf"));
    let request = request
        .bearer_auth(&account.key)
        .json(&body(origin.url("/never"), json!({})));
    tokio::spawn(request.send());
    asked(origin).await;
}

#[tokio::test]
async fn what_a_killed_process_held_comes_back_and_the_sum_is_right() {
    let origin = Origin::start().await;
    let settings = [("PLATEN_EGRESS_ALLOW", origin.authority.as_str())];
    let studio = studio_with_credits("2", &settings).await;
    let mut killed = studio.service.beside(&settings).await;
    begin_endless(&killed, &studio.account, &origin).await;
    assert_eq!(studio.render("<p>", json!({})).await.status(), 200);
    let message = forbidden(studio.render("<p>", json!({})).await).await;
    assert!(message.contains("1 reserved"), "{message}");

    killed.process.signal(Signal::KILL);
    let ended = tokio::task::spawn_blocking(move || killed.process.ended());
    ended.await.unwrap();
    let row = studio.recorded_as("failed").await;
    assert_eq!(row["error"]["message"], "the service stopped during the render");
    assert_eq!(studio.render("<p>", json!({})).await.status(), 200);
    forbidden(studio.render("<p>", json!({})).await).await;
    assert_eq!(credits(&studio.service, &studio.account).await["credits_used"], 2);
}

#[tokio::test]
async fn a_process_that_only_loses_its_connections_keeps_its_renders() {
    let origin = Origin::start().await;
    let settings = [("PLATEN_EGRESS_ALLOW", origin.authority.as_str())];
    let studio = studio_with_credits("1", &settings).await;
    let _other = studio.service.beside(&settings).await;
    let disturbed = async {
        asked(&origin).await;
        let others = "select pg_terminate_backend(pid) from pg_stat_activity
             where datname = current_database() and pid <> pg_backend_pid()";
        studio.service.execute(others).await;
    };
    // Longer than the time after which a process counts as dead.
    let (answer, ()) = tokio::join!(studio.render(origin.url("/slow/6000"), json!({})), disturbed);
    assert_eq!(answer.status(), 200);
    assert_eq!(credits(&studio.service, &studio.account).await["credits_used"], 1);
}

#[tokio::test]
async fn a_render_that_could_not_be_recorded_gives_its_credit_back() {
    let origin = Origin::start().await;
    let studio = studio_with_credits("1", &[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let disturbed = async {
        asked(&origin).await;
        studio
            .service
            .execute("alter table usage_days rename to elsewhere")
            .await;
        origin.release();
    };
    let (answer, ()) = tokio::join!(studio.render(origin.url("/held"), json!({})), disturbed);
    assert_eq!(answer.status(), 500);
    studio.recorded_as("failed").await;
    studio
        .service
        .execute("alter table elsewhere rename to usage_days")
        .await;
    assert_eq!(studio.render("<p>", json!({})).await.status(), 200);
    assert_eq!(credits(&studio.service, &studio.account).await["credits_used"], 1);
}
