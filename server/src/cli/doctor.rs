//! `platen doctor`: every dependency, each with its remedy.

use crate::{cli::failure::Failure, config::Config};

pub(super) async fn execute(_config: &Config) -> Result<(), Failure> {
    Err(Failure::silent())
}
