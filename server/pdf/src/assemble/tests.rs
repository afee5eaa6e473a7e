//! What assembly makes of several parts, looked at through the object layer, on documents that Chromium printed.

mod documents;
mod joined;
mod selected;
mod stamped;
mod watermarked;
