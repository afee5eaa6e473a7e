//! Generic parts: nothing in here knows what Platen does. Each has its partner in `style/components/`.

pub mod badge;
pub mod button;
pub mod chart;
pub mod check;
pub mod code;
#[cfg(feature = "ssr")]
pub mod code_field;
pub mod control_strip;
pub mod dialog;
pub mod field;
pub mod figure;
pub mod filters;
pub mod form_errors;
pub mod gauge;
pub mod icon;
pub mod live_part;
pub mod menu;
pub mod moment;
pub mod notice;
pub mod number;
pub mod pager;
pub mod radio;
pub mod segmented;
pub mod select;
pub mod tabs;
pub mod text_area;
