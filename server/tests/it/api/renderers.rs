//! `/api/v1/renderers`

mod pdf;
