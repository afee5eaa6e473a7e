//! Wire format of commands and messages.

use chromiumoxide_types::Command;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

#[derive(Serialize)]
struct Outgoing<'a, C> {
    id: u64,
    method: &'a str,
    params: &'a C,
    #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
}

#[derive(Deserialize)]
pub(super) struct Incoming<'a> {
    pub(super) id: Option<u64>,
    #[serde(borrow)]
    pub(super) result: Option<&'a RawValue>,
    pub(super) error: Option<IncomingError>,
    pub(super) method: Option<&'a str>,
    #[serde(rename = "sessionId")]
    pub(super) session: Option<&'a str>,
    #[serde(borrow)]
    pub(super) params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct IncomingError {
    pub(super) message: String,
    pub(super) data: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Detached {
    #[serde(rename = "sessionId")]
    pub(super) session: String,
}

/// Serializes a command, terminated by NUL.
pub(super) fn frame<C: Command>(id: u64, session: Option<&str>, command: &C) -> serde_json::Result<Vec<u8>> {
    let mut frame = serde_json::to_vec(&Outgoing {
        id,
        method: &command.identifier(),
        params: command,
        session,
    })?;
    frame.push(0);
    Ok(frame)
}
