//! Rate limits and deadlines.

use std::num::NonZeroU32;

use futures::{
    StreamExt as _,
    future::join_all,
    stream::{self, FuturesUnordered},
};
use platen_core::service::rate_limits::{Rate, RateLimits};
use platen_domain::ids::AccountId;
use serde_json::{Value, json};
use sqlx::postgres::PgPoolOptions;

use crate::support::{
    origin::Origin,
    service::TestService,
    studio::{Studio, asked, body, header},
};

#[tokio::test]
async fn an_account_that_asks_too_often_is_told_when_to_come_back() {
    let studio = Studio::start_with(&[("PLATEN_RATE_PER_MINUTE", "2")]).await;
    let other = studio.service.account("bob@example.org");
    let health = async |key: &str| {
        let request = studio.service.client.get(studio.service.url("/api/v1/health"));
        request.bearer_auth(key).send().await.unwrap()
    };
    for remaining in ["\"requests\";r=1;t=60", "\"requests\";r=0;t=60"] {
        let answer = health(&studio.account.key).await;
        assert_eq!(answer.status(), 200);
        assert_eq!(header(&answer, "ratelimit-policy"), "\"requests\";q=2;w=60");
        assert_eq!(header(&answer, "ratelimit"), remaining);
    }
    let refused = health(&studio.account.key).await;
    assert_eq!(refused.status(), 429);
    assert!(header(&refused, "ratelimit").starts_with("\"requests\";r=0;"));
    let seconds: u64 = header(&refused, "retry-after").parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    assert_eq!(health(&other.key).await.status(), 200);
}

#[tokio::test]
async fn one_render_more_than_an_account_may_have_at_once_is_refused_at_once() {
    let origin = Origin::start().await;
    let settings = [
        ("PLATEN_CONCURRENCY", "1"),
        ("PLATEN_EGRESS_ALLOW", origin.authority.as_str()),
    ];
    let studio = Studio::start_with(&settings).await;
    let first = studio.render(origin.url("/held"), json!({}));
    let second = async {
        asked(&origin).await;
        let second = studio.render("<p>", json!({})).await;
        origin.release();
        second
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first.status(), 200);
    assert_eq!(second.status(), 429);
    assert!(header(&second, "retry-after").parse::<u64>().unwrap() >= 1);
    // It is refused before there is a render.
    assert_eq!(studio.service.number("select count(*) from renders").await, 1);
}

#[tokio::test]
async fn processes_count_the_requests_and_renders_of_an_account_together() {
    let origin = Origin::start().await;
    let settings = [
        ("PLATEN_CONCURRENCY", "1"),
        ("PLATEN_RATE_PER_MINUTE", "5"),
        ("PLATEN_EGRESS_ALLOW", origin.authority.as_str()),
    ];
    let studio = Studio::start_with(&settings).await;
    let other = studio.service.apart(&settings).await;
    let test_key = studio
        .service
        .create_key("ann@example.org", "tries", &["--test"])
        .succeeded();
    let render = async |key: &str| {
        let request = other.client.post(other.url("/api/v1/renderers/pdf"));
        let request = request.bearer_auth(key).json(&body("<p>", json!({})));
        request.send().await.unwrap()
    };
    let first = studio.render(origin.url("/held"), json!({}));
    let refused = async {
        asked(&origin).await;
        let refused = [render(&studio.account.key).await, render(&test_key).await];
        origin.release();
        refused
    };
    let (first, refused) = tokio::join!(first, refused);
    assert_eq!(first.status(), 200);
    for refused in refused {
        assert_eq!(refused.status(), 429);
        assert!(refused.text().await.unwrap().contains("has 1 renders in progress"));
    }
    assert_eq!(render(&studio.account.key).await.status(), 200);

    // Of five requests, four were made.
    let last = studio.render("<p>", json!({})).await;
    assert_eq!(last.status(), 200);
    assert!(header(&last, "ratelimit").starts_with("\"requests\";r=0;"));
    let refused = render(&studio.account.key).await;
    assert_eq!(refused.status(), 429);
    assert!(header(&refused, "ratelimit").starts_with("\"requests\";r=0;"));
}

#[tokio::test]
async fn requests_that_two_processes_get_at_once_are_rendered_up_to_the_limit() {
    const LIMIT: usize = 2;
    const EACH: usize = 8;
    let origin = Origin::start().await;
    let limit = LIMIT.to_string();
    let settings = [
        ("PLATEN_CONCURRENCY", limit.as_str()),
        ("PLATEN_EGRESS_ALLOW", origin.authority.as_str()),
    ];
    let studio = Studio::start_with(&settings).await;
    let other = studio.service.apart(&settings).await;
    let page = body(origin.url("/held"), json!({}));
    let render = async |service: &TestService| {
        let request = service.client.post(service.url("/api/v1/renderers/pdf"));
        let request = request.bearer_auth(&studio.account.key).json(&page);
        request.send().await.unwrap().status()
    };
    let mut answers: FuturesUnordered<_> = [&studio.service, &other].repeat(EACH).into_iter().map(render).collect();
    // Those that are allowed are held.
    for _ in LIMIT..2 * EACH {
        assert_eq!(answers.next().await.expect("an answer"), 429);
    }
    origin.release();
    let rest: Vec<_> = answers.collect().await;
    assert_eq!(rest, [200; LIMIT]);
    assert_eq!(studio.service.number("select count(*) from renders").await, 2);
}

#[tokio::test]
async fn twelve_processes_together_allow_the_rate_of_an_account() {
    let studio = Studio::start().await;
    let db = PgPoolOptions::new().max_connections(12);
    let db = db.connect(studio.service.database_url()).await.unwrap();
    let account = studio.service.text("select id::text from accounts").await;
    let account = AccountId::parse(&account).unwrap();
    for (limit, most) in [(6_000, 6_120), (60, 61)] {
        let rate = Rate::Requests(NonZeroU32::new(limit).unwrap());
        let process = || RateLimits::new(db.clone());
        let exhaust = async |limits: RateLimits| {
            let mut allowed = 0;
            loop {
                match limits.take(account, rate).await.unwrap().refused_for {
                    None => allowed += 1,
                    Some(refused_for) => break (allowed, refused_for),
                }
            }
        };
        // Eleven have one request each, and keep what they take in advance.
        let idle: Vec<_> = (0..11).map(|_| process()).collect();
        for limits in &idle {
            assert_eq!(limits.take(account, rate).await.unwrap().refused_for, None);
        }
        let (allowed, _) = exhaust(process()).await;
        assert!((limit..=most).contains(&(11 + allowed)), "{allowed} by one of twelve");

        later(&studio, 61).await;
        let all = join_all(idle.into_iter().chain([process()]).map(exhaust)).await;
        let allowed = all.iter().map(|(allowed, _)| allowed).sum();
        assert!((limit..=most).contains(&allowed), "{allowed} by twelve");

        later(&studio, 30).await;
        let (allowed, refused_for) = exhaust(process()).await;
        assert_eq!(allowed, 0, "the minute isn't over");
        assert!(refused_for.as_secs() <= 30, "{refused_for:?}");
        studio.service.execute("delete from rate_limits").await;
    }
}

/// Lets seconds pass for requests that were counted, or sets the clock back for negative ones.
async fn later(studio: &Studio, seconds: i32) {
    let times = format!("array(select at - interval '{seconds} s' from unnest(taken_at) at order by at)");
    studio
        .service
        .execute(&format!("update rate_limits set taken_at = {times}"))
        .await;
}

#[tokio::test]
async fn requests_count_for_a_minute_each() {
    let studio = Studio::start_with(&[("PLATEN_RATE_PER_MINUTE", "10")]).await;
    let request = async || {
        let request = studio.service.client.get(studio.service.url("/api/v1/health"));
        request.bearer_auth(&studio.account.key).send().await.unwrap().status()
    };
    for _ in 0..4 {
        assert_eq!(request().await, 200);
    }
    later(&studio, 50).await;
    for _ in 0..6 {
        assert_eq!(request().await, 200);
    }
    assert_eq!(request().await, 429);
}

#[tokio::test]
async fn a_clock_that_is_set_back_by_less_than_a_minute_allows_no_more_requests() {
    let studio = Studio::start_with(&[("PLATEN_RATE_PER_MINUTE", "10")]).await;
    let request = async || {
        let request = studio.service.client.get(studio.service.url("/api/v1/health"));
        request.bearer_auth(&studio.account.key).send().await.unwrap().status()
    };
    for seconds in [90, 30] {
        for _ in 0..10 {
            assert_eq!(request().await, 200);
        }
        later(&studio, -seconds).await;
    }
    assert_eq!(request().await, 429);
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let studio = Studio::start_with(&[("PLATEN_BODY_SECONDS", "1")]).await;
    let beginning = stream::iter([Ok::<_, std::io::Error>("{\"parts\": [")]);
    let endless = beginning.chain(stream::pending());
    let request = studio.service.client.post(studio.service.url("/api/v1/renderers/pdf"));
    let request = request
        .bearer_auth(&studio.account.key)
        .header("content-type", "application/json")
        .body(reqwest::Body::wrap_stream(endless));
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 408);
}

#[tokio::test]
async fn a_render_that_takes_too_long_is_told_in_which_phase() {
    let origin = Origin::start().await;
    let settings = [
        ("PLATEN_SYNC_DEADLINE", "2"),
        ("PLATEN_EGRESS_ALLOW", origin.authority.as_str()),
    ];
    let studio = Studio::start_with(&settings).await;
    let never = json!({"evaluate_js": {"expression": "new Promise(() => {})"}});
    let unmet = json!({"wait_for": {"selector": "p", "attribute": "done"}});
    for (part, options, phase) in [
        ("<p>".to_owned(), never, "evaluate"),
        ("<p>".to_owned(), unmet, "wait"),
        (origin.url("/never"), json!({}), "load"),
    ] {
        let answer = studio.render(part, options).await;
        assert_eq!(answer.status(), 504, "{phase}");
        let render_id = header(&answer, "x-render-id").to_owned();
        let body: Value = answer.json().await.unwrap();
        let message = body["error"]["message"].as_str().unwrap();
        assert!(message.contains(phase), "{phase}: {message}");
        assert_eq!(studio.recorded(&render_id).await["error"]["phase"], phase);
    }
    assert_eq!(studio.render("<p>", json!({})).await.status(), 200);
}

#[tokio::test]
async fn a_full_queue_is_said_at_once() {
    let origin = Origin::start().await;
    let settings = [
        ("PLATEN_SLOTS", "1"),
        ("PLATEN_QUEUE_LIMIT", "1"),
        ("PLATEN_EGRESS_ALLOW", origin.authority.as_str()),
    ];
    let studio = Studio::start_with(&settings).await;
    // One render runs, one waits; two more are refused.
    let running = studio.render(origin.url("/held"), json!({}));
    let others = async {
        asked(&origin).await;
        let mut others: FuturesUnordered<_> = [(), (), ()]
            .map(|()| studio.render("<p>", json!({})))
            .into_iter()
            .collect();
        let mut answers = vec![others.next().await.unwrap(), others.next().await.unwrap()];
        origin.release();
        answers.extend(others.next().await);
        answers
    };
    let (running, others) = tokio::join!(running, others);
    assert_eq!(running.status(), 200);
    let mut statuses: Vec<u16> = others.iter().map(|answer| answer.status().as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 503, 503]);
    let refused = others.into_iter().find(|answer| answer.status() == 503).unwrap();
    assert!(header(&refused, "retry-after").parse::<u64>().unwrap() >= 1);
}

#[tokio::test]
async fn an_account_with_many_renders_does_not_keep_another_one_waiting() {
    let origin = Origin::start().await;
    let settings = [
        ("PLATEN_SLOTS", "1"),
        ("PLATEN_EGRESS_ALLOW", origin.authority.as_str()),
    ];
    let studio = Studio::start_with(&settings).await;
    let other = studio.service.account("bob@example.org");
    let running = studio.render(origin.url("/held"), json!({}));
    let many = async {
        asked(&origin).await;
        join_all([(); 8].map(|()| studio.render("<p>", json!({})))).await
    };
    let neighbour = async {
        studio.recorded_under_way(9).await;
        let request = studio.service.client.post(studio.service.url("/api/v1/renderers/pdf"));
        let request = request.bearer_auth(&other.key).json(&body("<p>", json!({})));
        let answer = request.send().await.unwrap();
        // Until now, all slots except the spare one were taken.
        origin.release();
        answer
    };
    let (running, many, neighbour) = tokio::join!(running, many, neighbour);
    assert_eq!(neighbour.status(), 200);
    for answer in many.iter().chain([&running]) {
        assert_eq!(answer.status(), 200);
    }
}
