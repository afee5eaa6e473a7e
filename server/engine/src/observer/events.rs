//! DevTools events, reduced to the fields in use.

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestWillBeSent {
    pub(super) request_id: String,
    pub(super) timestamp: f64,
    pub(super) frame_id: Option<String>,
    pub(super) request: RequestAddress,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) redirect_response: Option<Response>,
}

#[derive(Deserialize)]
pub(super) struct RequestAddress {
    pub(super) url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResponseReceived {
    pub(super) request_id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) frame_id: Option<String>,
    pub(super) response: Response,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Response {
    #[serde(default)]
    pub(super) url: String,
    pub(super) status: i64,
    #[serde(default)]
    pub(super) mime_type: String,
    #[serde(default)]
    pub(super) headers: GuardHeaders,
}

/// Headers of the guard's own responses, see [`platen_egress::proxy`].
#[derive(Default, Deserialize)]
pub(super) struct GuardHeaders {
    #[serde(rename = "x-platen-refused")]
    pub(super) refused: Option<String>,
    #[serde(rename = "x-platen-failed")]
    pub(super) failed: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoadingFinished {
    pub(super) request_id: String,
    pub(super) timestamp: f64,
    pub(super) encoded_data_length: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoadingFailed {
    pub(super) request_id: String,
    pub(super) timestamp: f64,
    pub(super) error_text: String,
    pub(super) blocked_reason: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct FrameNavigated {
    pub(super) frame: Frame,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Frame {
    pub(super) id: String,
    pub(super) parent_id: Option<String>,
    pub(super) url: String,
    /// Target of the failed navigation, if the frame displays the browser's error page.
    pub(super) unreachable_url: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FrameRequestedNavigation {
    pub(super) frame_id: String,
    pub(super) url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FrameScheduledNavigation {
    pub(super) frame_id: String,
    pub(super) url: String,
    /// Delay in seconds.
    pub(super) delay: f64,
}
