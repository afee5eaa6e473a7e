//! Plain HTTP requests and tunnels to allowed targets.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::support::{
    PUBLIC, World, connect, echo_server, exchange, get, read_head, read_until_closed, server, static_server, tunnel,
    within,
};
use crate::{
    guard::{Guard, GuardLimits},
    log::{ConnectionRecord, Kind, Outcome},
    policy::AddressPolicy,
    proxy::Proxy,
    resolve::SystemResolver,
};

/// Responds with the request header as the body.
async fn mirror() -> std::net::SocketAddr {
    server(|mut stream| async move {
        let head = read_head(&mut stream).await?;
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{head}", head.len());
        stream.write_all(answer.as_bytes()).await
    })
    .await
}

#[tokio::test]
async fn a_plain_request_arrives_as_if_there_were_no_proxy() {
    let world = World::with_server(GuardLimits::default(), mirror().await);
    let answer = exchange(
        &world.proxy,
        "GET http://A.example:8080/path?q=1 HTTP/1.1\r\nHost: elsewhere.example\r\nAccept: text/html\r\n\
         Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eA==\r\nConnection: close, X-Private\r\n\
         X-Private: 1\r\nTE: trailers\r\nUpgrade: h2c\r\n\r\n",
    )
    .await;
    assert_eq!(answer.status(), 200);
    assert_eq!(
        answer.body,
        "GET /path?q=1 HTTP/1.1\r\nhost: a.example:8080\r\naccept: text/html\r\nconnection: close\r\n\r\n"
    );
    assert_eq!(world.network.dialled(), [format!("{PUBLIC}:8080")]);
}

#[tokio::test]
async fn an_answer_loses_what_is_meant_for_neighbours_and_what_only_we_may_say() {
    let server = static_server(
        "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nX-Platen-Refused: no\r\nX-Platen-Failed: no\r\n\
         Keep-Alive: timeout=5\r\nX-Own: 1\r\nConnection: X-Own\r\nProxy-Authenticate: Basic\r\n\
         Content-Length: 2\r\n\r\nhi",
    )
    .await;
    let world = World::with_server(GuardLimits::default(), server);
    let answer = world.get("http://a.example/").await;
    assert_eq!(answer.status(), 404);
    assert_eq!(answer.body, "hi");
    assert_eq!(answer.header("content-type"), Some("text/plain"));
    for removed in ["x-platen-", "keep-alive", "x-own", "proxy-"] {
        assert!(!answer.head.to_lowercase().contains(removed), "{}", answer.head);
    }
}

#[tokio::test]
async fn each_request_is_a_record() {
    let body = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let world = World::with_server(GuardLimits::default(), static_server(body).await);
    world.get("http://a.example/1").await;
    world.get("http://a.example:81/2").await;
    let log = world.proxy.take_log();
    let record = |port| ConnectionRecord {
        kind: Kind::Http,
        host: "a.example".to_owned(),
        port,
        outcome: Outcome::Connected,
        bytes_received: body.len() as u64,
    };
    assert_eq!(log.records, [record(80), record(81)]);
    assert_eq!(log.bytes_received, 2 * body.len() as u64);
    assert_eq!(world.proxy.take_log().records, []);
}

#[tokio::test]
async fn one_connection_of_the_browser_carries_many_requests() {
    let world = World::with_server(GuardLimits::default(), mirror().await);
    let mut stream = connect(&world.proxy).await;
    for _ in 0..3 {
        stream
            .write_all(b"GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n")
            .await
            .unwrap();
        let head = within(read_head(&mut stream)).await.unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        within(read_head(&mut stream)).await.unwrap();
    }
    assert_eq!(world.names.asked(), ["a.example"], "a name is looked up once a render");
    assert_eq!(world.network.dialled().len(), 3);
}

#[tokio::test]
async fn bodies_are_streamed_both_ways() {
    // Each side waits for the other's first chunk before it sends its second.
    let server = server(|mut stream| async move {
        read_head(&mut stream).await?;
        let mut piece = [0; 5];
        stream.read_exact(&mut piece).await?;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
            .await?;
        stream.write_all(&piece).await?;
        stream.read_exact(&mut piece).await?;
        stream.write_all(&piece).await
    })
    .await;
    let world = World::with_server(GuardLimits::default(), server);
    let mut stream = connect(&world.proxy).await;
    let head = "POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: 10\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(b"first").await.unwrap();
    within(read_head(&mut stream)).await.unwrap();
    let mut piece = [0; 5];
    within(stream.read_exact(&mut piece)).await.unwrap();
    assert_eq!(&piece, b"first");
    stream.write_all(b"other").await.unwrap();
    within(stream.read_exact(&mut piece)).await.unwrap();
    assert_eq!(&piece, b"other");
}

#[tokio::test]
async fn a_body_of_unknown_length_arrives_whole_and_a_broken_one_is_seen_as_broken() {
    let whole = static_server("HTTP/1.0 200 OK\r\n\r\nall of it").await;
    let world = World::with_server(GuardLimits::default(), whole);
    let answer = world.get("http://a.example/").await;
    assert_eq!(answer.header("transfer-encoding"), Some("chunked"));
    assert_eq!(answer.body, "9\r\nall of it\r\n0\r\n\r\n");

    let broken = static_server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n").await;
    let world = World::with_server(GuardLimits::default(), broken);
    let answer = world.get("http://a.example/").await;
    assert!(!answer.body.ends_with("0\r\n\r\n"), "{:?}", answer.body);
}

#[tokio::test]
async fn an_answer_to_head_keeps_its_length() {
    let server = static_server("HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n").await;
    let world = World::with_server(GuardLimits::default(), server);
    let request = "HEAD http://a.example/ HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n";
    let answer = exchange(&world.proxy, request).await;
    assert_eq!(answer.header("content-length"), Some("1234"));
    assert_eq!(answer.body, "");
}

#[tokio::test]
async fn a_tunnel_carries_bytes_both_ways_and_each_side_may_end_its_own() {
    let world = World::with_server(GuardLimits::default(), echo_server().await);
    let mut stream = tunnel(&world.proxy, "a.example:443").await.unwrap();
    let messages = [
        "GET /chat HTTP/1.1\r\nUpgrade: websocket\r\n\r\n",
        "\u{81}\u{5}hello",
        "more",
    ];
    for message in messages {
        stream.write_all(message.as_bytes()).await.unwrap();
        let mut echo = vec![0; message.len()];
        within(stream.read_exact(&mut echo)).await.unwrap();
        assert_eq!(echo, message.as_bytes());
    }
    stream.write_all(b"last").await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(read_until_closed(&mut stream).await, 4);
    let log = world.proxy.take_log();
    assert_eq!(log.records[0].kind, Kind::Tunnel);
    assert_eq!(log.records[0].port, 443);
    assert_eq!(log.records[0].outcome, Outcome::Connected);
    assert_eq!(log.records[0].bytes_received, log.bytes_received);
    assert_eq!(log.bytes_received, messages.concat().len() as u64 + 4);
}

#[tokio::test]
async fn the_operators_list_opens_a_real_server_and_no_other() {
    let server = mirror().await;
    let allow = format!("127.0.0.1:{}", server.port()).parse().unwrap();
    let guard = Guard::new(
        AddressPolicy::new(allow),
        Arc::new(SystemResolver::default()),
        GuardLimits::default(),
    );
    let proxy = Proxy::open(guard).unwrap();
    proxy.begin_render();
    let other = super::support::Canary::new();
    for host in ["127.0.0.1", "localhost", "page.localhost", "0x7f.1"] {
        assert_eq!(
            get(&proxy, &format!("http://{host}:{}/", server.port())).await.status(),
            200,
            "{host}"
        );
        assert_eq!(
            get(&proxy, &format!("http://{host}:{}/", other.port())).await.status(),
            403,
            "{host}"
        );
    }
    other.assert_silent();
}

#[tokio::test]
async fn what_is_no_request_for_a_proxy_is_a_bad_request() {
    let world = World::new(GuardLimits::default());
    for request in [
        "GET / HTTP/1.1",
        "GET https://a.example/ HTTP/1.1",
        "GET ftp://a.example/ HTTP/1.1",
        "GET http://a.example:65536/ HTTP/1.1",
        "GET http://[fe80::1%25lo]/ HTTP/1.1",
        "CONNECT a.example HTTP/1.1",
        "CONNECT a.example:x HTTP/1.1",
        "nonsense",
    ] {
        let answer = exchange(
            &world.proxy,
            &format!("{request}\r\nHost: x\r\nConnection: close\r\n\r\n"),
        )
        .await;
        assert_eq!(answer.status(), 400, "{request}");
    }
    assert_eq!(world.names.asked(), [""; 0]);
    assert_eq!(world.network.dialled(), [""; 0]);
}
