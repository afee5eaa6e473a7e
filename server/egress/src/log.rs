//! What a proxy did for one render.

/// How a browser asked for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A plain HTTP request; each is a record of its own.
    Http,
    /// A tunnel by `CONNECT`: `https`, `wss` or `ws`.
    Tunnel,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Neither connected nor failed when the log was taken.
    Pending,
    /// The other side was reached (and, for plain HTTP, began to answer).
    Connected,
    /// The address policy said no; the rule in words.
    Refused(String),
    /// The name has no address.
    ResolveFailed,
    /// The other side could not be reached or broke the protocol; the reason in words.
    ConnectFailed(String),
    /// A time limit ran out: resolving, connecting, waiting for the response's head, or silence afterwards.
    TimedOut,
    /// The render's byte limit was reached; the connection was cut.
    OverLimit,
}

/// One request or tunnel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionRecord {
    /// Plain or tunnelled.
    pub kind: Kind,
    /// Host as the browser named it; an IPv6 address without brackets.
    pub host: String,
    /// Port as the browser named it.
    pub port: u16,
    /// What became of it.
    pub outcome: Outcome,
    /// Bytes that came from the other side, heads included.
    pub bytes_received: u64,
}

/// All that a proxy did for one render.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConnectionLog {
    /// The first [`RECORDS_KEPT`] records, in order of request.
    pub records: Vec<ConnectionRecord>,
    /// Requests and tunnels beyond those.
    pub records_omitted: u64,
    /// Connections of the browser that were closed at once because too many were open.
    pub connections_over_limit: u64,
    /// Bytes that came from the other sides, over all records, the omitted ones too.
    pub bytes_received: u64,
}

/// Records kept of one render.
pub const RECORDS_KEPT: usize = 1_000;
