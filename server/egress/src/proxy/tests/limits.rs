//! Limits on time, bytes and connections.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::support::{
    PUBLIC, World, connect, echo_server, endless_server, read_head, read_until_closed, server, static_server, tunnel,
    within,
};
use crate::{
    guard::GuardLimits,
    log::{Outcome, RECORDS_KEPT},
};

const SHORT: Duration = Duration::from_millis(300);
const MEGABYTE: u64 = 1024 * 1024;

async fn silent_server() -> std::net::SocketAddr {
    server(|mut stream| async move {
        read_until_closed(&mut stream).await;
        Ok(())
    })
    .await
}

/// Keeps every connection open, even after the peer has closed its side.
async fn deaf_server() -> std::net::SocketAddr {
    server(|stream| async move {
        let _open = stream;
        std::future::pending().await
    })
    .await
}

fn outcomes(world: &World) -> Vec<Outcome> {
    world
        .proxy
        .take_log()
        .records
        .into_iter()
        .map(|record| record.outcome)
        .collect()
}

#[tokio::test]
async fn an_unknown_name_and_an_unreachable_host_are_a_bad_gateway() {
    let world = World::new(GuardLimits::default());
    world.names.answer("down.example", &[PUBLIC]);
    let answer = world.get("http://unknown.example/").await;
    assert_eq!(answer.status(), 502);
    assert_eq!(answer.header("x-platen-failed"), Some("the name could not be resolved"));
    let answer = world.get("http://down.example/").await;
    assert_eq!(answer.status(), 502);
    assert_eq!(answer.header("x-platen-failed"), Some("connection refused"));
    assert_eq!(
        outcomes(&world),
        [
            Outcome::ResolveFailed,
            Outcome::ConnectFailed("connection refused".to_owned())
        ]
    );
}

#[tokio::test]
async fn an_answer_that_is_not_http_or_has_an_endless_head_is_a_bad_gateway() {
    for (answer, reason) in [
        ("SSH-2.0-OpenSSH_9.2\r\n\r\n", "the response is not HTTP"),
        (
            "HTTP/1.1 200 OK\r\nContent-",
            "the connection was lost before the response",
        ),
        (
            Box::leak(format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(70_000)).into_boxed_str()),
            "the response header is too large",
        ),
    ] {
        let world = World::with_server(GuardLimits::default(), static_server(answer).await);
        let answer = world.get("http://a.example/").await;
        assert_eq!(answer.status(), 502, "{reason}");
        assert_eq!(answer.header("x-platen-failed"), Some(reason));
        assert_eq!(outcomes(&world), [Outcome::ConnectFailed(reason.to_owned())]);
    }
}

#[tokio::test]
async fn a_host_that_does_not_answer_in_time_is_a_gateway_time_out() {
    let limits = GuardLimits {
        connect_timeout: SHORT,
        response_timeout: SHORT,
        ..GuardLimits::default()
    };
    let world = World::with_server(limits, silent_server().await);
    world.names.answer("far.example", &["93.184.216.1"]);
    world.network.silence("93.184.216.1");
    assert_eq!(world.get("http://far.example/").await.status(), 504);
    assert_eq!(world.get("http://a.example/").await.status(), 504);
    assert!(
        tunnel(&world.proxy, "far.example:443")
            .await
            .unwrap_err()
            .starts_with("HTTP/1.1 504")
    );
    assert_eq!(outcomes(&world), [const { Outcome::TimedOut }; 3]);
}

#[tokio::test]
async fn a_silent_connection_is_cut() {
    let limits = GuardLimits {
        idle_timeout: SHORT,
        ..GuardLimits::default()
    };
    let stalled = server(|mut stream| async move {
        read_head(&mut stream).await?;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            .await?;
        read_until_closed(&mut stream).await;
        Ok(())
    })
    .await;
    let world = World::with_server(limits, stalled);
    let mut download = connect(&world.proxy).await;
    download
        .write_all(b"GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n")
        .await
        .unwrap();
    read_until_closed(&mut download).await;
    world.network.connect(PUBLIC, deaf_server().await);
    let mut half_open = tunnel(&world.proxy, "a.example:443").await.unwrap();
    half_open.shutdown().await.unwrap();
    assert_eq!(read_until_closed(&mut half_open).await, 0);
    assert_eq!(outcomes(&world), [Outcome::TimedOut, Outcome::TimedOut]);

    let mut no_request = connect(&world.proxy).await;
    assert_eq!(read_until_closed(&mut no_request).await, 0);
    let mut half_a_request = connect(&world.proxy).await;
    half_a_request
        .write_all(b"GET http://a.example/ HTTP/1.1\r\n")
        .await
        .unwrap();
    read_until_closed(&mut half_a_request).await;
}

#[tokio::test]
async fn a_busy_connection_is_not_cut_for_idleness() {
    let limits = GuardLimits {
        idle_timeout: SHORT,
        ..GuardLimits::default()
    };
    let world = World::with_server(limits, echo_server().await);
    let mut stream = tunnel(&world.proxy, "a.example:443").await.unwrap();
    let begin = tokio::time::Instant::now();
    let mut pace = tokio::time::interval(SHORT / 4);
    while begin.elapsed() < SHORT * 4 {
        pace.tick().await;
        stream.write_u8(1).await.unwrap();
        within(stream.read_u8()).await.unwrap();
    }
    assert_eq!(outcomes(&world), [Outcome::Connected]);
}

#[tokio::test]
async fn a_render_moves_no_more_than_its_share() {
    let limits = GuardLimits {
        bytes_per_render: MEGABYTE,
        ..GuardLimits::default()
    };
    let world = World::with_server(limits, endless_server().await);
    let mut download = connect(&world.proxy).await;
    download
        .write_all(b"GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n")
        .await
        .unwrap();
    let bytes = read_until_closed(&mut download).await as u64;
    assert!((MEGABYTE / 2..=MEGABYTE + MEGABYTE / 8).contains(&bytes), "{bytes}");

    // Later requests are closed without a response.
    let mut next = connect(&world.proxy).await;
    next.write_all(b"CONNECT a.example:443 HTTP/1.1\r\n\r\n").await.unwrap();
    assert_eq!(read_until_closed(&mut next).await, 0);
    assert_eq!(outcomes(&world), [Outcome::OverLimit, Outcome::OverLimit]);

    // The next render has its own limit, to which sent bytes count like received ones.
    world.network.connect(PUBLIC, silent_server().await);
    world.proxy.begin_render();
    let mut upload = tunnel(&world.proxy, "a.example:443").await.unwrap();
    let piece = vec![0; 64 * 1024];
    let mut sent = 0;
    while within(upload.write_all(&piece)).await.is_ok() {
        sent += piece.len() as u64;
        assert!(sent < 64 * MEGABYTE, "nobody stops it");
    }
    assert_eq!(outcomes(&world), [Outcome::OverLimit]);
}

#[tokio::test]
async fn connections_beyond_the_limit_are_closed_at_once() {
    let limits = GuardLimits {
        connections_per_proxy: 2,
        ..GuardLimits::default()
    };
    let world = World::with_server(limits, echo_server().await);
    let first = tunnel(&world.proxy, "a.example:443").await.unwrap();
    let second = tunnel(&world.proxy, "a.example:443").await.unwrap();
    for _ in 0..3 {
        assert_eq!(read_until_closed(&mut connect(&world.proxy).await).await, 0);
    }
    let log = world.proxy.take_log();
    assert_eq!(log.connections_over_limit, 3);
    assert_eq!(log.records.len(), 2);

    // Released slots can be taken again.
    drop((first, second));
    within(async {
        loop {
            let mut stream = connect(&world.proxy).await;
            if stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.is_ok() && read_head(&mut stream).await.is_ok() {
                break;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_head_without_end_is_turned_away() {
    let world = World::new(GuardLimits::default());
    let mut stream = connect(&world.proxy).await;
    stream.write_all(b"GET http://a.example/ HTTP/1.1\r\n").await.unwrap();
    let line = format!("X: {}\r\n", "x".repeat(8_000));
    let mut sent = 0;
    while within(stream.write_all(line.as_bytes())).await.is_ok() {
        sent += line.len() as u64;
        assert!(sent < 64 * MEGABYTE, "nobody stops it");
    }
    assert_eq!(outcomes(&world), []);
}

#[tokio::test]
async fn the_log_keeps_the_first_records_and_counts_the_rest() {
    let world = World::new(GuardLimits::default());
    let mut stream = connect(&world.proxy).await;
    for _ in 0..RECORDS_KEPT + 5 {
        stream
            .write_all(b"GET http://127.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n")
            .await
            .unwrap();
        within(read_head(&mut stream)).await.unwrap();
    }
    let log = world.proxy.take_log();
    assert_eq!(log.records.len(), RECORDS_KEPT);
    assert_eq!(log.records_omitted, 5);
}
