//! A pool of the worker processes that this package builds for its tests.

use std::num::NonZeroUsize;

use platen_template::{
    diagnostic::DiagnosticKind,
    language::{Rendered, Undefined},
    pool::{ChildCommand, Error, Pool},
};
use serde_json::{Map, Value};
use uuid::Uuid;

pub(crate) const ADA: Uuid = Uuid::from_u128(1);
pub(crate) const BOB: Uuid = Uuid::from_u128(2);

pub(crate) fn child(argument: Option<&str>) -> ChildCommand {
    ChildCommand {
        program: env!("CARGO_BIN_EXE_platen-template-child").into(),
        arguments: argument.map(Into::into).into_iter().collect(),
    }
}

pub(crate) async fn pool(size: usize) -> Pool {
    let size = NonZeroUsize::new(size).expect("a pool has a child");
    Pool::start(child(None), size).await.expect("children start")
}

pub(crate) async fn render(pool: &Pool, account: Uuid, template: &str) -> Result<Rendered, Error> {
    pool.render(account, template, &Map::new(), Undefined::Refuse).await
}

/// Fills a simple template, as another account would meanwhile.
pub(crate) async fn serves(pool: &Pool, account: Uuid) -> bool {
    let context = Map::from_iter([("n".to_owned(), Value::from(2))]);
    pool.render(account, "{{ n * 21 }}", &context, Undefined::Refuse)
        .await
        .is_ok_and(|rendered| rendered.text == "42")
}

/// Returns the kind of a template error.
pub(crate) fn kind<T: std::fmt::Debug>(result: Result<T, Error>) -> DiagnosticKind {
    match result {
        Err(Error::Template(diagnostic)) => diagnostic.kind,
        other => panic!("not a template's fault: {other:?}"),
    }
}
