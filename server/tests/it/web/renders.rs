//! The list of renders, and the page of a render.

use std::collections::BTreeSet;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{service_reaching, service_with, site};
use crate::support::{
    origin::Origin,
    pdf,
    receiver::Receiver,
    service::TestService,
    studio::{body, header},
    visitor::Visitor,
};

/// Renders synchronously; returns the status and the render's id.
async fn render(service: &TestService, key: &str, part: &str) -> (u16, String) {
    let request = service.client.post(service.url("/api/v1/renderers/pdf"));
    let request = request.bearer_auth(key).json(&body(part, json!({})));
    let answer = request.send().await.expect("an answer");
    (answer.status().as_u16(), header(&answer, "x-render-id").to_owned())
}

/// Returns the renders that a page of the list shows, in order.
async fn listed(visitor: &Visitor, query: &str) -> Vec<String> {
    let html = visitor.page(&format!("/dashboard/renders{query}")).await;
    let rows = html.split("data-key=\"").skip(1);
    rows.map(|row| row.split('"').next().expect("an id").to_owned())
        .collect()
}

#[tokio::test]
async fn members_open_documents_whose_links_are_revoked() {
    let site = site();
    let service = service_with(site.path()).await;
    let account = service.account("ann@example.org");
    service.account("bob@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let set = async |seconds: &str| {
        let answer = ann.submit("set-document-links", &[("links", seconds)]).await;
        header(&answer, "location").to_owned()
    };
    assert_eq!(set("86400").await, "/dashboard/settings?done=links");
    for refused in ["59", "1209601", "a day"] {
        assert_ne!(set(refused).await, "/dashboard/settings?done=links", "{refused}");
    }
    let settings = ann.page("/dashboard/settings").await;
    assert!(settings.contains(r#"<option value="86400" selected"#), "{settings}");

    let id = service.queued(&account, &json!({"parts": ["<h1>Ours"]})).await;
    let ended = service.ended(&account, &id).await;
    let link = ended["result"]["mediaLink"].as_str().expect("a link");
    let of_render = format!("/dashboard/renders/{id}");
    assert!(ann.page(&of_render).await.contains("1 valid, until"));
    let opened = async || {
        service
            .client
            .get(link)
            .send()
            .await
            .expect("an answer")
            .status()
            .as_u16()
    };
    assert_eq!(opened().await, 200);
    ann.submit("revoke-links", &[("id", &id)]).await;
    assert_eq!(opened().await, 410);
    let document = format!("{of_render}/document.pdf");
    let page = ann.page(&of_render).await;
    assert!(!page.contains("Revoke links"), "{page}");
    assert!(page.contains(&document) && !page.contains("/files/links/"), "{page}");
    let answer = ann.get(&document).await;
    assert_eq!(header(&answer, "cache-control"), "private, no-store");
    assert!(pdf::text(&answer.bytes().await.expect("a document")).contains("Ours"));
    let bob = Visitor::log_in(&service, "bob@example.org").await;
    assert_eq!(bob.get(&document).await.status(), 404);

    service.execute("update plans set link_seconds = 5400").await;
    assert_eq!(set("plan").await, "/dashboard/settings?done=links");
    let settings = ann.page("/dashboard/settings").await;
    let chosen = r#"<option value="plan" selected>Links that expire by your plan, after 90 minutes"#;
    assert!(settings.contains(chosen), "{settings}");
    assert_eq!(set("").await, "/dashboard/settings?done=links");
    let log = "select string_agg(deed ->> 'kind', ' ' order by id) from account_log where deed ->> 'kind' like 'account.document%'";
    assert_eq!(
        service.text(log).await,
        "account.document_links_set account.document_links_by_plan account.documents_made_public"
    );
}

#[tokio::test]
async fn the_list_shows_what_is_asked_for() {
    let site = site();
    let service = service_with(site.path()).await;
    let account = service.account("ann@example.org");
    let foreign = service.account("bob@example.org");
    let test_key = service.create_key("ann@example.org", "Trial & error", &["--test"]);
    let test_key_id = test_key.stderr.trim().to_owned();
    let test_key = test_key.succeeded();
    let template = json!({"template": {"name": "Dunning_letter", "content": "<p>{{ x }}"}});
    let made = service
        .client
        .post(service.url("/api/v1/templates"))
        .bearer_auth(&account.key);
    let made = made.json(&template).send().await.expect("an answer");
    let template = header(&made, "location").rsplit('/').next().expect("an id").to_owned();

    let (_, titled) = render(&service, &account.key, "<title>100 % paid</title>").await;
    let (_, tested) = render(&service, &test_key, "<p>").await;
    let (status, failed) = render(&service, &account.key, "http://127.0.0.1:1/").await;
    assert_eq!(status, 422);
    let part = json!({"type": "template", "content": {"template_id": template}});
    let queued = service.queued(&account, &json!({"parts": [part]})).await;
    service.ended(&account, &queued).await;
    let (_, others) = render(&service, &foreign.key, "<title>100 % paid</title>").await;

    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let all = [&queued, &failed, &tested, &titled];
    assert_eq!(listed(&ann, "").await, all.map(Clone::clone));
    let short = &titled[..13];
    for (query, expected) in [
        ("?state=failed".to_owned(), vec![&failed]),
        ("?state=cancelled".to_owned(), vec![]),
        ("?state=succeeded&mode=async".to_owned(), vec![&queued]),
        ("?mode=sync".to_owned(), vec![&failed, &tested, &titled]),
        ("?keys=test".to_owned(), vec![&tested]),
        (format!("?key={test_key_id}"), vec![&tested]),
        (format!("?key={}", foreign.key_id), vec![]),
        (format!("?template={template}"), vec![&queued]),
        ("?q=100+%25".to_owned(), vec![&titled]),
        ("?q=%25".to_owned(), vec![&titled]),
        ("?q=dunning_".to_owned(), vec![&queued]),
        (format!("?q={titled}"), vec![&titled]),
        (format!("?q={others}"), vec![]),
        ("?from=2020-01-01&to=2020-01-02".to_owned(), vec![]),
        // Invalid filters are ignored.
        ("?state=done&cursor=x&key=1&from=y".to_owned(), all.to_vec()),
    ] {
        let found = listed(&ann, &query).await;
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{query}");
    }
    assert!(listed(&ann, &format!("?q={short}")).await.contains(&titled));
    let html = ann.page("/dashboard/renders").await;
    assert!(html.contains("Trial &amp; error"), "{html}");
    assert!(html.contains("The address ") && html.contains("tag--test"), "{html}");
    let failed_ones = ann.page("/dashboard/renders?state=failed").await;
    assert!(failed_ones.contains("1 render matches the filters"), "{failed_ones}");

    let found = ann.page("/dashboard/search?q=100%20%25").await;
    assert!(found.contains(&titled) && !found.contains(&others), "{found}");
    let found = ann.page(&format!("/dashboard/renders/{queued}")).await;
    assert!(found.contains("Dunning_letter</a>, version 1"), "{found}");
}

#[tokio::test]
async fn the_list_goes_on_where_the_page_before_ended() {
    let site = site();
    let service = service_with(site.path()).await;
    let account = service.account("ann@example.org");
    render(&service, &account.key, "<p>").await;
    // Some are accepted at the same time.
    let many =
        "insert into renders (id, account_id, api_key_id, mode, status, livemode, options, inserted_at, finished_at)
        select gen_random_uuid(), account_id, api_key_id, mode, 'failed', livemode, options,
            inserted_at - (n / 4) * interval '1 s', finished_at
        from renders, generate_series(1, 59) n";
    assert_eq!(service.execute(many).await, 59);
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    for (query, count) in [("", 60), ("?state=failed", 59)] {
        let (mut seen, mut next) = (Vec::new(), Some(format!("/dashboard/renders{query}")));
        while let Some(path) = next {
            let html = ann.page(&path).await;
            let rows = html.split("data-key=\"").skip(1);
            seen.extend(rows.map(|row| row.split('"').next().expect("an id").to_owned()));
            let links = html.split("href=\"/dashboard/renders?").skip(1);
            let mut links = links.map(|link| link.split('"').next().expect("an address").replace("&amp;", "&"));
            next = links
                .find(|link| link.contains("cursor="))
                .map(|query| format!("/dashboard/renders?{query}"));
        }
        assert_eq!(seen.len(), count, "{query}");
        assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), count, "{query}");
    }
}

#[tokio::test]
async fn a_search_among_many_renders_goes_on_page_by_page() {
    let site = site();
    let service = service_with(site.path()).await;
    let account = service.account("ann@example.org");
    let (_, rare) = render(&service, &account.key, "<title>Rare</title>").await;
    let newer =
        "insert into renders (id, account_id, api_key_id, mode, status, livemode, options, inserted_at, finished_at)
        select gen_random_uuid(), account_id, api_key_id, 'async', 'succeeded', livemode, options,
            inserted_at + n * interval '1 ms', finished_at
        from renders, generate_series(1, 6000) n";
    assert_eq!(service.execute(newer).await, 6_000);
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    for query in ["q=rare", "mode=sync"] {
        let html = ann.page(&format!("/dashboard/renders?{query}")).await;
        assert!(html.contains("No matches among the renders searched so far"), "{html}");
        let (_, next) = html
            .split_once(&format!("/dashboard/renders?{query}&amp;cursor="))
            .expect("a next page");
        let (cursor, _) = next.split_once('"').expect("its end");
        assert_eq!(
            listed(&ann, &format!("?{query}&cursor={cursor}")).await,
            [rare.as_str()]
        );
    }
    let request = service.client.get(service.url("/api/v1/renders?mode=sync"));
    let answer = request.bearer_auth(&account.key).send().await.expect("an answer");
    assert!(header(&answer, "link").contains("cursor="));
    assert_eq!(answer.json::<Value>().await.expect("JSON"), json!({"data": []}));
}

#[tokio::test]
async fn figures_stay_the_same_once_hours_are_counted() {
    let mut service = TestService::start().await;
    let account = service.account("ann@example.org");
    render(&service, &account.key, "<p>").await;
    // Of every twelve minutes of five hours, the last of which has an unfinished render.
    let earlier = "insert into renders (id, account_id, api_key_id, mode, status, livemode, options, inserted_at, finished_at)
        select gen_random_uuid(), account_id, case when n % 3 > 0 then api_key_id end, 'async', ended.status, livemode, options,
            start + n * interval '12 min', case when ended.status <> 'queued' then now() end
        from renders, (select date_trunc('hour', now(), 'UTC') - interval '7 hours' as start) hours,
            generate_series(0, 24) n,
            lateral (select case when n = 22 then 'queued' when n % 4 = 0 then 'failed' else 'succeeded' end as status) ended
        where renders.mode = 'sync'";
    assert_eq!(service.execute(earlier).await, 25);
    let same = "with spans as (
            select start, start + length as until, of_key
            from (select date_trunc('hour', now(), 'UTC') - interval '7 hours' as first) hours,
                lateral (values (first), (first + interval '20 min'), (first - interval '1 day')) starts (start),
                (values (interval '1 hour'), (interval '5 hours'), (interval '9 days')) lengths (length),
                lateral (select null::uuid as of_key union select api_key_id from renders) keys
         )
         select count(*) from spans
         where (
            select (coalesce(sum(succeeded), 0), coalesce(sum(failed), 0))
            from count_by_hour((select id from accounts), of_key, start, until)
         ) = (
            select (count(*) filter (where status = 'succeeded')::numeric, count(*) filter (where status = 'failed')::numeric)
            from renders
            where inserted_at >= start and inserted_at < until and (of_key is null or api_key_id = of_key)
         )";
    assert_eq!(service.number(same).await, 18);
    service.restart(Signal::TERM).await;
    // Two rows for each hour, one of which is of no key; none for that with the unfinished render.
    service.number_is(8, "select count(*) from render_hours").await;
    assert_eq!(service.number(same).await, 18);
    service.restart(Signal::TERM).await;
    service.number_is(8, "select count(*) from render_hours").await;
}

#[tokio::test]
async fn the_page_of_a_render_tells_all_of_it_as_text() {
    let origin = Origin::start().await;
    let site = site();
    let service = service_reaching(&origin.authority, site.path()).await;
    let account = service.account("ann@example.org");
    let attack = "<script>alert(1)</script>";
    let html = format!(
        "<title>&lt;script&gt;alert(1)&lt;/script&gt;</title><link rel=stylesheet href=http://{0}/style.css><img src=http://{0}/status/404><img src=http://10.0.0.1/x.png>
         <script>console.error('<script>alert(1)</' + 'script>')</script>",
        origin.authority
    );
    let (status, id) = render(&service, &account.key, &html).await;
    assert_eq!(status, 200);
    // The request is stored after the response.
    service.number_is(1, "select count(*) from render_contents").await;
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let page = ann.page(&format!("/dashboard/renders/{id}")).await;
    assert!(!page.contains(attack), "{page}");
    let escaped = "&lt;script&gt;alert(1)&lt;/script&gt;";
    // In the title, in the details, and in the console.
    assert!(page.matches(escaped).count() >= 3, "{page}");
    for expected in [
        ">Succeeded<",
        ">200<",
        ">failed<",
        ">refused<",
        "10.0.0.1/x.png",
        "3 requests, 1 refused",
        "1 message<",
        "Conforms to PDF/A-2a",
        "not requested",
        "Total",
        &format!("/dashboard/playground?render={id}"),
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    service.number_is(1, "select count(*) from accessibility_reports").await;
    let page = ann.page(&format!("/dashboard/renders/{id}")).await;
    for expected in ["Violations of PDF/A-2a and PDF/UA-1", "ISO 14289-1, 7."] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    let list = ann.page("/dashboard/renders").await;
    assert!(list.contains(escaped) && !list.contains(attack), "{list}");

    let (_, failed) = render(
        &service,
        &account.key,
        &format!("http://{}/status/500", origin.authority),
    )
    .await;
    let page = ann.page(&format!("/dashboard/renders/{failed}")).await;
    for expected in [
        "The address answered with status 500",
        "/parts/0",
        "not reached",
        "No credits were charged",
        "no credits",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
}

#[tokio::test]
async fn the_page_of_a_render_says_what_the_check_found_and_where_to_change_it() {
    let site = site();
    let service = service_with(site.path()).await;
    let account = service.account("ann@example.org");
    let page = "<!doctype html><html lang=en><title>Plan</title><h1>Plan</h1>";
    let template = json!({"template": {"name": "Plan", "content": format!("{page}<h3>{{{{ name }}}}</h3>")}});
    let made = service.client.post(service.url("/api/v1/templates"));
    let made = made
        .bearer_auth(&account.key)
        .json(&template)
        .send()
        .await
        .expect("an answer");
    let template = header(&made, "location").rsplit('/').next().expect("an id").to_owned();
    let context = json!({"name": "<b>Costs</b>"});
    let part = json!({"type": "template", "content": {"template_id": template, "context": context}});
    let id = service.queued(&account, &json!({"parts": [part]})).await;
    service.number_is(1, "select count(*) from accessibility_reports").await;
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let html = ann.page(&format!("/dashboard/renders/{id}")).await;
    assert!(!html.contains("<b>Costs"), "{html}");
    for expected in [
        ">PDF/A-2a<",
        "1 violation<",
        "&lt;b&gt;Costs",
        "ISO 14289-1, 7.4.2-1",
        "Don't skip levels of headings",
        "#words-%3Cb%3ECosts%3C%2Fb%3E",
        "Find in the template",
    ] {
        assert!(html.contains(expected), "{expected}: {html}");
    }

    assert!(!html.contains("is the newest"), "{html}");
    let saved = service
        .client
        .patch(service.url(&format!("/api/v1/templates/{template}")))
        .bearer_auth(&account.key)
        .json(&json!({"template": {"name": "Plan", "content": page}}))
        .send()
        .await
        .expect("an answer");
    assert!(saved.status().is_success(), "{saved:?}");
    let html = ann.page(&format!("/dashboard/renders/{id}")).await;
    assert!(html.contains("(version 1 was rendered, 2 is the newest)"), "{html}");

    let id = service.queued(&account, &json!({"parts": [page]})).await;
    service.ended(&account, &id).await;
    let html = ann.page(&format!("/dashboard/renders/{id}")).await;
    assert!(
        html.contains("Passes all machine checks of PDF/A-2a and PDF/UA-1."),
        "{html}"
    );
    assert!(!html.contains("ccessible<"), "{html}");
}

#[tokio::test]
async fn the_structure_of_a_stored_document_is_listed_in_reading_order() {
    let site = site();
    let service = service_with(site.path()).await;
    let account = service.account("ann@example.org");
    let page = "<!doctype html><html lang=en><title>Plan</title><h1>Plan</h1><ul><li>&lt;b&gt;</ul>\
                <p lang=de style='break-before: page'>Ende";
    let id = service.queued(&account, &json!({"parts": [page]})).await;
    service.ended(&account, &id).await;
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let structure = |id: &str| format!("/dashboard/renders/{id}/structure");
    assert!(
        ann.page(&format!("/dashboard/renders/{id}"))
            .await
            .contains(&structure(&id))
    );
    let html = ann.page(&structure(&id)).await;
    let places = [
        ">Document<",
        ">H1<",
        "“Plan”",
        ">L<",
        "“&lt;b&gt;”",
        ">P<",
        "“Ende”",
        "page 2",
    ]
    .map(|expected| {
        let place = html.find(expected);
        place.unwrap_or_else(|| panic!("{expected}: {html}"))
    });
    assert!(places.is_sorted(), "{places:?}: {html}");
    assert!(
        html.contains("id=\"element-1\"") && html.contains("href=\"#element-2\""),
        "{html}"
    );

    let (_, returned) = render(&service, &account.key, page).await;
    let html = ann.page(&structure(&returned)).await;
    for expected in ["is not stored", "platen inspect --accessibility FILE"] {
        assert!(html.contains(expected), "{expected}: {html}");
    }
    let (_, failed) = render(&service, &account.key, "http://127.0.0.1:1/").await;
    assert!(
        ann.page(&structure(&failed))
            .await
            .contains("The render has no document.")
    );

    let mut operator = Visitor::operator(&service, "op@example.org").await;
    let fields = [("subject", account.id.as_str()), ("reason", "x")];
    let answer = operator
        .submit_from(&format!("/admin/accounts/{}", account.id), "look-into-account", &fields)
        .await;
    operator.remember(&answer);
    let html = operator.page(&structure(&id)).await;
    assert!(
        html.contains("visible only to the account") && !html.contains("Ende"),
        "{html}"
    );
}

#[tokio::test]
async fn a_render_is_its_accounts_only() {
    let site = site();
    let service = service_with(site.path()).await;
    let account = service.account("ann@example.org");
    service.account("bob@example.org");
    let bob = Visitor::log_in(&service, "bob@example.org").await;
    let waiting = json!({"parts": ["<p>"], "callback": {"url": "https://example.invalid/"}});
    let id = service.queued(&account, &waiting).await;
    for path in [
        format!("/dashboard/renders/{id}"),
        format!("/dashboard/renders/{id}/structure"),
        "/dashboard/renders/nothing".to_owned(),
    ] {
        let answer = bob.get(&path).await;
        assert_eq!(answer.status(), 404, "{path}");
        assert!(
            answer
                .text()
                .await
                .expect("a page")
                .contains("Page not found. Check the address.")
        );
    }
    service.ended(&account, &id).await;
    let before = service.shown(&account, &id).await;
    for function in ["cancel-render", "resend-callback", "stop-callback"] {
        let answer = bob.submit(function, &[("id", &id)]).await;
        let said = header(&answer, "location").to_owned();
        assert!(answer.status() == 302 && said.contains("__err"), "{function}: {said}");
    }
    assert_eq!(
        service.shown(&account, &id).await["callback"]["state"],
        before["callback"]["state"]
    );
    assert_eq!(listed(&bob, "").await, [""; 0]);
}

#[tokio::test]
async fn a_render_that_waits_is_cancelled() {
    let site = site();
    let settings = [
        ("PLATEN_SITE_DIR", site.path().to_str().expect("text")),
        // No worker takes jobs from the queue.
        ("PLATEN_ROLE", "web"),
    ];
    let service = TestService::start_with(&settings).await;
    let account = service.account("ann@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let id = service.queued(&account, &json!({"parts": ["<p>"]})).await;
    let path = format!("/dashboard/renders/{id}");
    let page = ann.page(&path).await;
    assert!(
        page.contains("Cancel render") && page.contains("Waiting for a slot."),
        "{page}"
    );
    let answer = ann.submit("cancel-render", &[("id", &id)]).await;
    assert_eq!(
        (answer.status().as_u16(), header(&answer, "location")),
        (303, path.as_str())
    );
    let page = ann.page(&path).await;
    assert!(
        page.contains(">Cancelled<") && !page.contains("Cancel render"),
        "{page}"
    );
}

#[tokio::test]
async fn a_callback_is_sent_again_or_given_up() {
    let receiver = Receiver::start().await;
    let site = site();
    let service = service_reaching(&receiver.authority, site.path()).await;
    let account = service.account("ann@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let callback = json!({"parts": ["<p>"], "callback": {"url": receiver.url("/503?secret=1")}});
    let id = service.queued(&account, &callback).await;
    receiver.wait_for(1).await;
    let tried = |count: usize| {
        move |render: &serde_json::Value| render["callback"]["attempts"].as_array().expect("a list").len() == count
    };
    service.shown_when(&account, &id, tried(1)).await;
    let path = format!("/dashboard/renders/{id}");
    let page = ann.page(&path).await;
    assert!(page.contains("Resend") && page.contains(">503<"), "{page}");
    assert!(!page.contains("secret"), "{page}");
    let answer = ann.submit("resend-callback", &[("id", &id)]).await;
    assert_eq!(
        (answer.status().as_u16(), header(&answer, "location")),
        (303, path.as_str())
    );
    receiver.wait_for(2).await;
    service.shown_when(&account, &id, tried(2)).await;

    let stop = [("id", id.as_str()), ("from_list", "yes")];
    let answer = ann.submit("stop-callback", &stop).await;
    assert_eq!(header(&answer, "location"), "/dashboard/webhooks");
    assert_eq!(service.shown(&account, &id).await["callback"]["state"], "failed");
    assert_eq!(
        service
            .number("select count(*) from jobs where kind = 'callback'")
            .await,
        0
    );
    let again = ann.submit("stop-callback", &stop).await;
    assert!(header(&again, "location").contains("__err"));
}
