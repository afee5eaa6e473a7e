//! `/api/v1/renderers`

pub(in crate::http) mod asynchronous;
pub(in crate::http) mod pdf;
