use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    time::{Duration, Instant},
};

use platen_template::{
    diagnostic::DiagnosticKind,
    language::Undefined,
    pool::{LONGEST_INPUT, Pool},
    sources::{Catalogue, Sources, Text},
};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::support::{ADA, BOB, child, kind, pool, render, serves};

/// Runs until a time limit ends it: each of its few steps takes long.
const ENDLESS: &str =
    "{% set s = 'x' * 10000000 %}{% for i in range(100000) %}{% if 'y' ~ i in s %}{% endif %}{% endfor %}";

#[tokio::test]
async fn all_that_a_child_does_comes_back() {
    let pool = pool(1).await;
    let context = json!({"name": "<Ada>", "fax": 1});
    let context = context.as_object().expect("an object");
    let rendered = pool
        .render(ADA, "{{ name }}{{ missing }}", context, Undefined::Warn)
        .await
        .expect("it renders");
    assert_eq!(rendered.text, "&lt;Ada&gt;");
    assert_eq!(rendered.warnings.len(), 1);
    assert_eq!(pool.unused(ADA, "{{ name }}", context).await.expect("names"), ["fax"]);
    let schema = pool.schema(ADA, "{{ name }}").await.expect("a schema");
    assert_eq!(schema["required"], json!(["name"]));
    let keys = pool.translation_keys(ADA, "{{ t('total') }}").await.expect("keys");
    assert_eq!(keys[0].key, "total");
    let deep = format!("{{{{ a{} }}}}", ".a".repeat(300));
    assert!(pool.schema(ADA, deep.as_str()).await.is_ok());
    assert!(pool.check(ADA, "{{ name }}").await.is_ok());
    let mut sources = Sources::from("{% include 'greeting' %}");
    let missing = pool.missing_partials(ADA, sources.clone(), None).await.expect("names");
    assert_eq!(missing[0].handle, "greeting");
    sources.partials.insert("greeting".into(), "Dear {{ name }}".into());
    let rendered = pool.render(ADA, sources, context, Undefined::Refuse).await;
    assert_eq!(rendered.expect("it renders").text, "Dear &lt;Ada&gt;");
    assert_eq!(kind(pool.check(ADA, "{{ name").await), DiagnosticKind::Syntax);
    let texts = [
        ("a".into(), Text::Plain("{n} Stück".into())),
        (
            "b".into(),
            Text::Plural(BTreeMap::from([("other".into(), "{count} Stück".into())])),
        ),
    ];
    let catalogue = Catalogue {
        language: "de".into(),
        texts: texts.into(),
    };
    let sources = Sources::from("{{ t('a', n=1) }}, {{ t('b', count=1.5) }} {{ t('c') }}").with_catalogues([catalogue]);
    let rendered = pool
        .render(ADA, sources, context, Undefined::Warn)
        .await
        .expect("it renders");
    assert_eq!(
        (rendered.text.as_str(), rendered.warnings.len()),
        ("1 Stück, 1,5 Stück c", 1)
    );
}

#[tokio::test]
async fn nothing_of_one_account_is_left_for_the_next() {
    let pool = pool(1).await;
    let context = json!({"secret": "s3cret"});
    let context = context.as_object().expect("an object");
    let template = "{% set kept = secret %}{% macro m() %}{{ secret }}{% endmacro %}{{ kept }}{{ m() }}";
    assert!(pool.render(ADA, template, context, Undefined::Refuse).await.is_ok());
    let asked = pool
        .render(
            BOB,
            "{{ kept }}{{ secret }}{{ m is defined }}",
            &Map::new(),
            Undefined::Warn,
        )
        .await
        .expect("it renders");
    assert_eq!(asked.text, "False");
}

#[tokio::test]
async fn an_account_that_floods_the_pool_holds_up_only_itself() {
    let pool = pool(2).await;
    let flood: Vec<_> = (0..20)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move { render(&pool, ADA, ENDLESS).await })
        })
        .collect();
    for account in 2..30 {
        let from = Instant::now();
        assert!(serves(&pool, Uuid::from_u128(account)).await);
        assert!(from.elapsed() < Duration::from_secs(2), "{:?}", from.elapsed());
    }
    assert!(!flood[19].is_finished(), "the flood was over too soon to tell");
    flood.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_a_clean_pool() {
    let pool = pool(1).await;
    for _ in 0..3 {
        let gone = tokio::time::timeout(Duration::from_millis(50), render(&pool, ADA, ENDLESS)).await;
        assert!(gone.is_err());
        assert!(serves(&pool, ADA).await);
    }
}

#[tokio::test]
async fn many_calls_at_once_are_all_answered() {
    let pool = pool(2).await;
    let calls: Vec<_> = (0..200_u128)
        .map(|number| {
            let pool = pool.clone();
            tokio::spawn(async move { serves(&pool, Uuid::from_u128(number % 7)).await })
        })
        .collect();
    for call in calls {
        assert!(call.await.expect("no panic"));
    }
}

#[tokio::test]
async fn input_beyond_the_limit_is_refused() {
    let pool = pool(1).await;
    let context = Map::from_iter([("x".to_owned(), Value::from("x".repeat(LONGEST_INPUT)))]);
    let refused = pool.render(ADA, "{{ x }}", &context, Undefined::Refuse).await;
    assert_eq!(kind(refused), DiagnosticKind::Input);
    let long = Text::Plain("x".repeat(LONGEST_INPUT).into());
    let catalogue = Catalogue {
        language: "de".into(),
        texts: BTreeMap::from([("x".into(), long)]),
    };
    let sources = Sources::from("x").with_catalogues([catalogue]);
    let refused = pool.render(ADA, sources, &Map::new(), Undefined::Refuse).await;
    assert_eq!(kind(refused), DiagnosticKind::Input);
    let deep = (0..1000).fold(Value::Null, |inner, _| Value::from(vec![inner]));
    let context = Map::from_iter([("x".to_owned(), deep)]);
    let refused = pool.render(ADA, "{{ x }}", &context, Undefined::Refuse).await;
    assert_eq!(kind(refused), DiagnosticKind::Input);
}

#[tokio::test]
async fn a_program_that_is_no_child_is_an_error_at_start() {
    let size = NonZeroUsize::MIN;
    assert!(Pool::start(child(Some("try")), size).await.is_err());
    assert!(Pool::start(child(Some("panic")), size).await.is_err());
    let mut missing = child(None);
    missing.program = "/nowhere".into();
    assert!(Pool::start(missing, size).await.is_err());
}
