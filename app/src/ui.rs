//! Generic parts: nothing in here knows what Platen does. Each has its partner in `style/components/`.

pub mod badge;
pub mod button;
pub mod check;
pub mod code;
pub mod field;
pub mod form_errors;
pub mod gauge;
pub mod icon;
pub mod moment;
pub mod notice;
pub mod number;
