//! Assembly of several parts, checked at the object level, for documents that Chromium printed.

mod documents;
mod joined;
mod selected;
mod stamped;
mod watermarked;
