//! One module per page. What it asks of the server stands in its `api.rs`.

pub mod api_keys;
pub mod check_mail;
pub mod confirm_email;
pub mod destinations;
pub mod failure;
pub mod forgot_password;
pub mod invitation;
pub mod landing;
pub mod latest;
pub mod log_in;
pub mod not_found;
pub mod overview;
pub mod playground;
pub mod render;
pub mod renders;
pub mod reset_password;
pub mod settings;
pub mod sign_up;
pub mod team;
pub mod template;
pub mod templates;
pub mod usage;
pub mod verify;
pub mod webhooks;
