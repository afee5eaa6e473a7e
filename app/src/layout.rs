//! The frame around the content of pages.

pub mod brand;
pub mod card;
pub mod head;
pub mod page;
pub mod public;
pub mod shell;
pub mod theme_button;
