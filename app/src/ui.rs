//! Generic parts: nothing in here knows what Platen does. Each has its partner in `style/components/`.

pub mod badge;
pub mod button;
pub mod code;
pub mod icon;
pub mod notice;
pub mod number;
