//! The frame around the content of pages.

pub mod brand;
pub mod card;
pub mod if_may;
pub mod loaded;
pub mod page_head;
pub mod public;
pub mod section;
pub mod shell;
pub mod theme_button;
