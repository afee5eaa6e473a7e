//! Checks the worker processes that fill templates.

use std::{io, num::NonZeroUsize};

use platen_template::{language::Undefined, pool};
use serde_json::Map;
use uuid::Uuid;

use crate::{boot::templates, cli::doctor::Finding};

pub(super) async fn look() -> Finding {
    match fill().await {
        Ok(()) => Finding::fine("Templates", "are filled in sandboxed worker processes"),
        Err(error) => Finding::broken(
            "Templates",
            format!("no worker process could fill a template: {error}"),
            "the kernel must allow seccomp filters and resource limits; a container's own filter may forbid them",
        ),
    }
}

async fn fill() -> Result<(), pool::Error> {
    let pool = templates::start_some(NonZeroUsize::MIN).await;
    let pool = pool.map_err(pool::Error::Process)?;
    let nothing = Map::new();
    let rendered = pool.render(Uuid::nil(), "{{ 6 * 7 }}", &nothing, Undefined::Refuse);
    match rendered.await?.text.as_str() {
        "42" => Ok(()),
        other => Err(pool::Error::Process(io::Error::other(format!("6 × 7 is {other}")))),
    }
}
