//! The service behind the binary `platen`.
