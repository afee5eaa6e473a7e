//! Connections end with their render, and late traffic is attributed to no render.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::support::{
    World, connect, echo_server, endless_server, read_head, read_until_closed, server, static_server, tunnel, within,
};
use crate::{
    guard::GuardLimits,
    log::{ConnectionLog, Outcome},
};

const GET: &[u8] = b"GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n";
const EMPTY: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// Starts an endless download and opens a tunnel.
async fn busy_world() -> (World, TcpStream, TcpStream) {
    let world = World::with_server(GuardLimits::default(), endless_server().await);
    world.names.answer("echo.example", &["93.184.216.1"]);
    world.network.connect("93.184.216.1", echo_server().await);
    let mut download = connect(&world.proxy).await;
    download.write_all(GET).await.unwrap();
    within(read_head(&mut download)).await.unwrap();
    let mut tunnel = tunnel(&world.proxy, "echo.example:443").await.unwrap();
    tunnel.write_u8(1).await.unwrap();
    within(tunnel.read_u8()).await.unwrap();
    (world, download, tunnel)
}

#[tokio::test]
async fn a_proxy_is_closed_until_a_render_begins_and_after_it_ends() {
    let (world, mut download, mut tunnel) = busy_world().await;
    world.proxy.close_connections();
    read_until_closed(&mut download).await;
    assert_eq!(read_until_closed(&mut tunnel).await, 0);

    let mut late = connect(&world.proxy).await;
    let _ = late.write_all(GET).await;
    assert_eq!(read_until_closed(&mut late).await, 0);
    let log = world.proxy.take_log();
    assert_eq!(log.records.len(), 2, "the late one is booked on nobody");

    world.proxy.begin_render();
    let mut next = connect(&world.proxy).await;
    next.write_all(GET).await.unwrap();
    within(read_head(&mut next)).await.unwrap();
}

#[tokio::test]
async fn a_new_render_ends_the_connections_of_the_last() {
    let (world, mut download, mut tunnel) = busy_world().await;
    let mut unused = connect(&world.proxy).await;
    world.proxy.begin_render();
    read_until_closed(&mut download).await;
    assert_eq!(read_until_closed(&mut tunnel).await, 0);
    assert_eq!(read_until_closed(&mut unused).await, 0);
    assert_eq!(world.proxy.take_log(), ConnectionLog::default());
}

#[tokio::test]
async fn a_connection_that_waits_to_be_accepted_belongs_to_the_render_that_made_it() {
    let world = World::with_server(GuardLimits::default(), static_server(EMPTY).await);
    // The test runtime has one thread, so nothing accepts between these two lines.
    let mut late = std::net::TcpStream::connect(("127.0.0.1", world.proxy.port())).unwrap();
    world.proxy.begin_render();
    std::io::Write::write_all(&mut late, GET).unwrap_or_default();
    late.set_nonblocking(true).unwrap();
    let mut late = TcpStream::from_std(late).unwrap();
    assert_eq!(read_until_closed(&mut late).await, 0);
    assert_eq!(world.proxy.take_log(), ConnectionLog::default());
    assert_eq!(world.network.dialled(), [""; 0]);
}

#[tokio::test]
async fn a_response_after_the_render_is_attributed_to_no_render() {
    let (asked, mut was_asked) = tokio::sync::mpsc::channel(1);
    let (answer, may_answer) = tokio::sync::watch::channel(false);
    let server = server(move |mut stream| {
        let (asked, mut may_answer) = (asked.clone(), may_answer.clone());
        async move {
            read_head(&mut stream).await?;
            asked.send(()).await.unwrap();
            may_answer.wait_for(|may| *may).await.unwrap();
            stream.write_all(EMPTY.as_bytes()).await
        }
    })
    .await;
    let world = World::with_server(GuardLimits::default(), server);
    let mut late = connect(&world.proxy).await;
    late.write_all(GET).await.unwrap();
    within(was_asked.recv()).await.unwrap();
    assert_eq!(world.proxy.take_log().records[0].outcome, Outcome::Pending);
    world.proxy.begin_render();
    answer.send(true).unwrap();
    assert_eq!(read_until_closed(&mut late).await, 0);
    assert_eq!(world.proxy.take_log(), ConnectionLog::default());
}

#[tokio::test]
async fn a_proxy_that_received_anything_after_its_log_was_taken_says_so() {
    let (world, mut download, mut tunnel) = busy_world().await;
    world.proxy.take_log();
    // The server sends endlessly: after these chunks, more bytes have certainly arrived.
    within(async {
        let mut piece = [0; 4096];
        for _ in 0..1024 {
            download.read_exact(&mut piece).await.unwrap();
        }
    })
    .await;
    assert!(!within(world.proxy.end_render()).await);
    read_until_closed(&mut download).await;
    assert_eq!(read_until_closed(&mut tunnel).await, 0);

    world.proxy.begin_render();
    assert!(within(world.proxy.end_render()).await);
}

#[tokio::test]
async fn a_browser_that_hangs_up_ends_the_download() {
    let (ended, mut has_ended) = tokio::sync::mpsc::channel(1);
    let server = server(move |mut stream| {
        let ended = ended.clone();
        async move {
            read_head(&mut stream).await?;
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nx").await?;
            read_until_closed(&mut stream).await;
            ended.send(()).await.unwrap();
            Ok(())
        }
    })
    .await;
    let world = World::with_server(GuardLimits::default(), server);
    let mut download = connect(&world.proxy).await;
    download.write_all(GET).await.unwrap();
    within(read_head(&mut download)).await.unwrap();
    drop(download);
    within(has_ended.recv()).await.unwrap();
}

#[tokio::test]
async fn a_dropped_proxy_leaves_nothing_open() {
    let (world, mut download, mut tunnel) = busy_world().await;
    let port = world.proxy.port();
    drop(world.proxy);
    read_until_closed(&mut download).await;
    assert_eq!(read_until_closed(&mut tunnel).await, 0);
    within(async {
        while let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)).await {
            assert_eq!(read_until_closed(&mut stream).await, 0);
        }
    })
    .await;
}
