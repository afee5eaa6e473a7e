//! Internal addresses can't be reached.

use super::support::{Canary, PUBLIC, World, echo_server, exchange, static_server, tunnel};
use crate::{
    guard::{ConnectError, Guard, GuardLimits},
    log::{Kind, Outcome},
    policy::{AddressPolicy, Refusal},
    proxy::Proxy,
};

/// Opens a proxy on the real network, so that a gap in the policy would reach the canary.
fn real_proxy(names: std::sync::Arc<super::support::Names>) -> Proxy {
    let proxy = Proxy::open(Guard::new(AddressPolicy::default(), names, GuardLimits::default())).unwrap();
    proxy.begin_render();
    proxy
}

#[tokio::test]
async fn no_spelling_and_no_name_reaches_loopback() {
    let names = std::sync::Arc::new(super::support::Names::default());
    names.answer("rebound.example", &["127.0.0.1"]);
    names.answer("mapped.example", &["::ffff:127.0.0.1"]);
    names.answer("many.example", &["127.0.0.1", "::1", "0.0.0.0", "169.254.169.254"]);
    // `localhost` is never passed to a resolver, so this record must have no effect.
    names.answer("localhost", &[PUBLIC]);
    let proxy = real_proxy(names.clone());
    let canary = Canary::new();
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "0",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "a.localhost",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "rebound.example",
        "mapped.example",
        "many.example",
    ] {
        let authority = format!("{host}:{}", canary.port());
        let request = format!("GET http://{authority}/ HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
        let answer = exchange(&proxy, &request).await;
        assert_eq!(answer.status(), 403, "{host}");
        assert_eq!(answer.body, "", "{host}");
        let refusal = answer.header("x-platen-refused").expect(host).to_owned();
        let head = tunnel(&proxy, &authority).await.unwrap_err();
        assert!(head.starts_with("HTTP/1.1 403"), "{host}: {head}");
        assert!(
            head.contains(&format!("x-platen-refused: {refusal}\r\n")),
            "{host}: {head}"
        );
        let records = proxy.take_log().records;
        assert_eq!(
            records.iter().map(|record| record.kind).collect::<Vec<_>>(),
            [Kind::Http, Kind::Tunnel],
            "{host}"
        );
        for record in records {
            assert_eq!(record.port, canary.port(), "{host}");
            assert_eq!(record.outcome, Outcome::Refused(refusal.clone()), "{host}");
        }
    }
    assert!(!names.asked().contains(&"localhost".to_owned()));
    canary.assert_silent();
}

#[tokio::test]
async fn a_proxy_is_no_way_into_the_proxy_of_another_session() {
    let other = real_proxy(std::sync::Arc::default());
    let proxy = real_proxy(std::sync::Arc::default());
    let head = tunnel(&proxy, &format!("127.0.0.1:{}", other.port()))
        .await
        .unwrap_err();
    assert!(head.starts_with("HTTP/1.1 403"), "{head}");
}

#[tokio::test]
async fn a_name_that_changes_its_answer_is_dialled_where_it_was_checked() {
    let world = World::new(GuardLimits::default());
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    world.network.connect(PUBLIC, static_server(answer).await);
    world.names.answer("rebinding.example", &[PUBLIC]);
    world.names.answer("rebinding.example", &["127.0.0.1"]);
    assert_eq!(world.get("http://rebinding.example/").await.status(), 200);
    assert_eq!(world.names.asked(), ["rebinding.example"]);
    assert_eq!(world.network.dialled(), [format!("{PUBLIC}:80")]);

    // The next render resolves the name again and is refused.
    world.proxy.begin_render();
    assert_eq!(world.get("http://rebinding.example/").await.status(), 403);
    assert_eq!(world.network.dialled(), [format!("{PUBLIC}:80")]);
}

#[tokio::test]
async fn of_many_addresses_only_those_that_pass_are_dialled() {
    let world = World::new(GuardLimits::default());
    world
        .names
        .answer("mixed.example", &["10.0.0.1", "93.184.216.1", "::1", "93.184.216.2"]);
    world.network.connect("93.184.216.2", echo_server().await);
    tunnel(&world.proxy, "mixed.example:443").await.unwrap();
    assert_eq!(world.network.dialled(), ["93.184.216.1:443", "93.184.216.2:443"]);
}

#[tokio::test]
async fn a_silent_address_does_not_hold_up_the_next() {
    let world = World::new(GuardLimits::default());
    world.names.answer("mixed.example", &["93.184.216.1", "93.184.216.2"]);
    world.network.silence("93.184.216.1");
    world.network.connect("93.184.216.2", echo_server().await);
    tunnel(&world.proxy, "mixed.example:443").await.unwrap();
    assert_eq!(world.network.dialled(), ["93.184.216.1:443", "93.184.216.2:443"]);
}

#[tokio::test]
async fn a_guard_resolves_for_those_that_dial_themselves() {
    let names = std::sync::Arc::new(super::support::Names::default());
    names.answer("a.example", &["10.0.0.1", PUBLIC]);
    names.answer("inside.example", &["10.0.0.1"]);
    names.answer("empty.example", &[]);
    let guard = Guard::new(AddressPolicy::default(), names, GuardLimits::default());
    assert_eq!(
        guard.resolve("a.example", 443).await.unwrap(),
        [format!("{PUBLIC}:443").parse().unwrap()]
    );
    let inside = guard.resolve("inside.example", 443).await;
    assert!(
        matches!(inside, Err(ConnectError::Refused(Refusal::Private))),
        "{inside:?}"
    );
    let literal = guard.resolve("[::1]", 443).await;
    assert!(
        matches!(literal, Err(ConnectError::Refused(Refusal::Loopback))),
        "{literal:?}"
    );
    for host in ["empty.example", "unknown.example"] {
        assert!(
            matches!(guard.resolve(host, 443).await, Err(ConnectError::NotResolved)),
            "{host}"
        );
    }
}
