//! Requests for assets.

use super::support::{World, exchange};
use crate::{
    assets::{Asset, Assets},
    guard::GuardLimits,
    log::ConnectionLog,
};

fn assets(name: &str, text: &'static str) -> Assets {
    let asset = Asset {
        content_type: "text/css",
        bytes: text.into(),
    };
    Assets::from_iter([(name.to_owned(), asset)])
}

#[tokio::test]
async fn assets_are_served_without_the_network() {
    let world = World::new(GuardLimits::default());
    let served = assets("brand/größe 1.css", "a{}");
    let host = served.host().to_owned();
    world.proxy.serve(served);
    let answer = world
        .get(&format!("http://{host}/brand/gr%C3%B6%C3%9Fe%201.css?v=2"))
        .await;
    assert_eq!((answer.status(), answer.body.as_str()), (200, "a{}"));
    assert_eq!(answer.header("content-type"), Some("text/css"));
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let missing = world.get(&format!("http://{host}/brand")).await;
    assert_eq!((missing.status(), missing.body.as_str()), (404, ""));
    let put = exchange(
        &world.proxy,
        &format!("PUT http://{host}/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
    )
    .await;
    assert_eq!(put.status(), 405);
    assert_eq!(world.names.asked(), [] as [&str; 0]);
    assert_eq!(world.proxy.take_log(), ConnectionLog::default());
}

#[tokio::test]
async fn assets_are_those_of_one_render() {
    let world = World::new(GuardLimits::default());
    let (first, second) = (assets("a.css", "first"), assets("a.css", "second"));
    let addresses = [&first, &second].map(|assets| format!("http://{}/a.css", assets.host()));
    world.proxy.serve(first);
    world.proxy.begin_render();
    assert_eq!(world.get(&addresses[0]).await.status(), 502);
    world.proxy.serve(second);
    assert_eq!(world.get(&addresses[0]).await.status(), 502);
    assert_eq!(world.get(&addresses[1]).await.body, "second");
    assert!(world.proxy.end_render().await, "bytes of assets count as received");
}

#[tokio::test]
async fn only_plain_http_leads_to_assets() {
    let world = World::new(GuardLimits::default());
    let served = assets("a.css", "a{}");
    let host = served.host().to_owned();
    world.proxy.serve(served);
    for host in [
        format!("{host}:8080"),
        format!("www.{host}"),
        "asset.invalid".to_owned(),
    ] {
        assert_eq!(world.get(&format!("http://{host}/a.css")).await.status(), 502, "{host}");
    }
}
