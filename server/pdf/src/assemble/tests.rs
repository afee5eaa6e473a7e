//! Assembly of several parts, checked at the object level, for documents that Chromium printed.

pub(crate) mod documents;
mod joined;
mod selected;
mod stamped;
mod watermarked;
