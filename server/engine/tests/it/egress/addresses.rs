//! Names and spellings of addresses that are not public.

use futures::{StreamExt, stream};
use platen_engine::error::{RenderError, RenderProblem};
use platen_engine::job::Part;
use uuid::Uuid;

use super::{Names, start_with_names};
use crate::{
    servers::Canary,
    support::{html_job, job},
};

/// Hosts as a page may spell them, and as the browser normalizes them.
const HOSTS: [(&str, &str); 44] = [
    // Loopback.
    ("127.0.0.1", "127.0.0.1"),
    ("127.1", "127.0.0.1"),
    ("127.0.1", "127.0.0.1"),
    ("127.255.255.254", "127.255.255.254"),
    ("2130706433", "127.0.0.1"),
    ("0x7f000001", "127.0.0.1"),
    ("0x7F.0.0.0x1", "127.0.0.1"),
    ("0177.0.0.1", "127.0.0.1"),
    ("017700000001", "127.0.0.1"),
    ("127.0.0.1.", "127.0.0.1"),
    ("%31%32%37.0.0.1", "127.0.0.1"),
    ("①②⑦.⓪.⓪.①", "127.0.0.1"),
    ("127。0。0。1", "127.0.0.1"),
    ("[::1]", "[::1]"),
    ("[0:0:0:0:0:0:0:1]", "[::1]"),
    // Names of loopback addresses.
    ("localhost", "localhost"),
    ("LOCALHOST", "localhost"),
    ("localhost.", "localhost."),
    ("a.b.localhost", "a.b.localhost"),
    ("ⓛocalhost", "localhost"),
    ("public.example", "public.example"),
    ("mapped.example", "mapped.example"),
    ("metadata.example", "metadata.example"),
    ("xn--bcher-kva.example", "xn--bcher-kva.example"),
    // Any address of this machine.
    ("0.0.0.0", "0.0.0.0"),
    ("0", "0.0.0.0"),
    ("[::]", "[::]"),
    // IPv4 written as IPv6.
    ("[::ffff:127.0.0.1]", "[::ffff:7f00:1]"),
    ("[::ffff:7f00:1]", "[::ffff:7f00:1]"),
    ("[::127.0.0.1]", "[::7f00:1]"),
    ("[::ffff:0:127.0.0.1]", "[::ffff:0:7f00:1]"),
    ("[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]"),
    ("[2002:7f00:1::]", "[2002:7f00:1::]"),
    ("[2001:0:7f00:1::]", "[2001:0:7f00:1::]"),
    // Local networks, and metadata services of clouds.
    ("10.0.0.1", "10.0.0.1"),
    ("172.16.0.1", "172.16.0.1"),
    ("192.168.257", "192.168.1.1"),
    ("[fd00::1]", "[fd00::1]"),
    ("169.254.169.254", "169.254.169.254"),
    ("2852039166", "169.254.169.254"),
    ("[fe80::1]", "[fe80::1]"),
    ("100.100.100.200", "100.100.100.200"),
    ("224.0.0.251", "224.0.0.251"),
    ("[ff02::1]", "[ff02::1]"),
];

const NAMES: Names = Names(&[
    ("public.example", &["127.0.0.1"]),
    ("mapped.example", &["::ffff:127.0.0.1"]),
    ("metadata.example", &["169.254.169.254", "10.0.0.1"]),
    ("xn--bcher-kva.example", &["::1"]),
]);

#[tokio::test(flavor = "multi_thread")]
async fn no_spelling_leads_a_picture_to_the_canary() {
    let canary = Canary::start().await;
    let engine = start_with_names("", NAMES).await;
    let pictures: Vec<String> = HOSTS
        .iter()
        .enumerate()
        .map(|(i, (host, _))| format!("<img src='{}'>", canary.at(host, &format!("/{i}"))))
        .collect();
    let page = format!("<!doctype html><meta charset=utf-8>{}", pictures.concat());
    let document = engine.render(Uuid::now_v7(), html_job(&page)).await.unwrap();
    for (i, (host, canonical)) in HOSTS.iter().enumerate() {
        let path = format!("/{i}");
        let request = document.requests.iter().find(|request| request.url.ends_with(&path));
        let request = request.unwrap_or_else(|| panic!("{host} was not tried"));
        assert_eq!(request.url, canary.at(canonical, &path), "{host}");
        assert!(request.refused.is_some(), "{host}: {request:?}");
    }
    canary.assert_untouched();
}

/// Renders two at a time, each in its own session.
#[tokio::test(flavor = "multi_thread")]
async fn no_spelling_leads_a_url_part_to_the_canary() {
    let canary = Canary::start().await;
    let engine = start_with_names("", NAMES).await;
    stream::iter(HOSTS)
        .for_each_concurrent(2, async |(host, _)| {
            let url = canary.at(host, "/").parse().unwrap();
            match engine.render(Uuid::now_v7(), job(Part::Url(url))).await {
                Err(RenderError::Problem {
                    problem: RenderProblem::AddressRefused { reason },
                    ..
                }) => {
                    assert!(!reason.contains("127"), "tells the address: {reason}");
                }
                other => panic!("{host}: {other:?}"),
            }
        })
        .await;
    canary.assert_untouched();
}

/// Tunnels for `https` are refused before the first byte.
#[tokio::test(flavor = "multi_thread")]
async fn https_is_refused_as_well() {
    let canary = Canary::start().await;
    let engine = start_with_names("", NAMES).await;
    for host in ["127.0.0.1", "localhost", "public.example", "[::1]", "169.254.169.254"] {
        let url = canary.at(host, "/").replacen("http:", "https:", 1).parse().unwrap();
        let result = engine.render(Uuid::now_v7(), job(Part::Url(url))).await.map(drop);
        let refused = matches!(
            &result,
            Err(RenderError::Problem {
                problem: RenderProblem::AddressRefused { .. },
                ..
            })
        );
        assert!(refused, "{host}: {result:?}");
    }
    canary.assert_untouched();
}
