//! Pages can't reach the DevTools connection to the browser.

use std::{collections::HashSet, fs};

use uuid::Uuid;

use crate::{
    processes,
    support::{TestEngine, html_job},
};

/// DevTools uses a pipe: no process of the browser listens on a port.
#[tokio::test(flavor = "multi_thread")]
async fn the_browser_listens_on_no_port() {
    let engine = TestEngine::start("").await;
    engine
        .render(Uuid::now_v7(), html_job("<script>1</script>x"))
        .await
        .unwrap();
    let processes = processes::all(engine.profiles());
    assert!(processes.len() > 2, "{processes:?}");
    let sockets: HashSet<String> = processes
        .iter()
        .filter_map(|pid| fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())).ok())
        .flat_map(|files| files.flatten().filter_map(|file| fs::read_link(file.path()).ok()))
        .filter_map(|target| {
            let inode = target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
            Some(inode.to_owned())
        })
        .collect();
    assert!(!sockets.is_empty(), "the browser's own sockets are not seen");
    for table in ["/proc/net/tcp", "/proc/net/tcp6", "/proc/net/udp", "/proc/net/udp6"] {
        for line in fs::read_to_string(table).unwrap_or_default().lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            // proc(5): the state, 0A for a listener, 07 for an unconnected datagram socket; the inode.
            let listens = matches!(fields[3], "0A" | "07");
            assert!(!(listens && sockets.contains(fields[9])), "{table}: {line}");
        }
    }
}
