//! `CONNECT`: copies bytes in both directions without interpreting them.

use std::sync::Arc;

use hyper::{Request, body::Incoming};
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional_with_sizes;

use super::{
    answer::{self, Answer},
    connection::Connection,
    metered::Metered,
    target::Target,
};
use crate::log::Kind;

/// Buffer sizes of a tunnel, in bytes: pages send little and receive much.
const UPWARD_BUFFER: usize = 8 * 1024;
const DOWNWARD_BUFFER: usize = 32 * 1024;

/// Connects to the request's target and spawns a task that copies bytes once the response has been sent.
pub(super) async fn open(connection: Arc<Connection>, request: Request<Incoming>) -> Answer {
    let Some(target) = request
        .uri()
        .authority()
        .and_then(|authority| Target::parse(authority, None))
    else {
        return answer::bad_request();
    };
    let upstream = match connection.reach(Kind::Tunnel, target).await {
        Ok(upstream) => upstream,
        Err(answer) => return answer,
    };
    upstream.entry().set_connected();
    tokio::spawn(async move { connection.run_bounded(copy(request, upstream)).await });
    answer::connected()
}

/// Copies bytes until both directions have ended; the idle timeout closes half-open tunnels.
async fn copy(request: Request<Incoming>, mut upstream: Metered) {
    let copied = match hyper::upgrade::on(request).await {
        Ok(browser) => {
            let mut browser = TokioIo::new(browser);
            copy_bidirectional_with_sizes(&mut browser, &mut upstream, UPWARD_BUFFER, DOWNWARD_BUFFER).await
        }
        Err(error) => Err(std::io::Error::other(error)),
    };
    if let Err(error) = copied {
        tracing::debug!(%error, "tunnel failed");
    }
}
