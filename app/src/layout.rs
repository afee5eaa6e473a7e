//! What stands around the content of pages.

pub mod brand;
pub mod card;
pub mod public;
pub mod theme_button;
