//! The connection log that a proxy records for one render.

/// How the browser requested a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A plain HTTP request. Each request has its own record, even on a shared browser connection.
    Http,
    /// A `CONNECT` tunnel: `https`, `wss` or `ws`.
    Tunnel,
}

/// How a request or tunnel ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Neither connected nor failed when the log was taken.
    Pending,
    /// The server was reached (and, for plain HTTP, began to respond).
    Connected,
    /// The address policy refused the target; contains the rule in words ([`Refusal`](crate::policy::Refusal)).
    Refused(String),
    /// The name has no address.
    ResolveFailed,
    /// The server could not be reached or violated the protocol; contains the reason in words.
    ConnectFailed(String),
    /// A time limit expired: resolving, connecting, waiting for the response header, or an idle connection.
    TimedOut,
    /// The render's byte limit was reached and the connection closed.
    OverLimit,
}

/// Record of one request or tunnel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionRecord {
    /// Plain HTTP request or tunnel.
    pub kind: Kind,
    /// Host as the browser requested it, normalized as in a URL; an IPv6 address without brackets.
    pub host: String,
    /// Port as the browser requested it.
    pub port: u16,
    /// How the request or tunnel ended.
    pub outcome: Outcome,
    /// Bytes received from the server, headers included.
    pub bytes_received: u64,
}

/// All connections that a proxy made or refused for one render.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConnectionLog {
    /// The first [`RECORDS_KEPT`] records, in order of request.
    pub records: Vec<ConnectionRecord>,
    /// Number of requests and tunnels beyond [`RECORDS_KEPT`].
    pub records_omitted: u64,
    /// Browser connections that were closed at once because
    /// [`connections_per_proxy`](crate::guard::GuardLimits::connections_per_proxy) were open.
    pub connections_over_limit: u64,
    /// Bytes received from servers over all requests and tunnels, omitted ones included.
    pub bytes_received: u64,
}

/// Maximum number of records per render.
pub const RECORDS_KEPT: usize = 1_000;
