//! Overhead of a worker process: a small invoice filled in this process and by a warm worker, and by the latter with
//! catalogues, and as one text and as 50 partials.
//!
//! `cargo bench -p platen-template`

use std::{
    num::NonZeroUsize,
    time::{Duration, Instant},
};

use minijinja::value::Serde;
use platen_template::{
    language::{self, Undefined},
    partials::MOST_PARTIALS,
    pool::{ChildCommand, Pool},
    sources::{Catalogue, Sources, Text},
};
use serde_json::{Map, Value, json};
use uuid::Uuid;

const ROUNDS: usize = 2000;

const TEMPLATE: &str = "<h1>Invoice {{ number }}</h1><p>{{ customer.name }}, {{ date|date('long', locale='de') }}</p><table>\
    {% for line in lines %}<tr><td>{{ line.text }}<td>{{ line.count|number }}<td>{{ line.price|currency('EUR', locale='de') }}\
    {% endfor %}</table>{{ lines|sum(attribute='price')|currency('EUR', locale='de') }}";

fn context() -> Map<String, Value> {
    let lines: Vec<Value> = (0..10)
        .map(|number| json!({"text": format!("Line {number}"), "count": number, "price": 19.9}))
        .collect();
    let context = json!({"number": 4711, "date": "2026-11-21", "customer": {"name": "Ada & Co"}, "lines": lines});
    context.as_object().cloned().unwrap_or_default()
}

#[tokio::main]
async fn main() {
    let context = context();
    let command = ChildCommand {
        program: env!("CARGO_BIN_EXE_platen-template-child").into(),
        arguments: Vec::new(),
    };
    let from = Instant::now();
    let pool = Pool::start(command, NonZeroUsize::MIN).await.expect("a child starts");
    println!("start of a child      {:?}", from.elapsed());

    let mut plain = Vec::with_capacity(ROUNDS);
    let mut pooled = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let from = Instant::now();
        let value = minijinja::Value::from(Serde(&context));
        language::render(TEMPLATE, value, Undefined::Refuse).expect("it renders");
        plain.push(from.elapsed());

        let from = Instant::now();
        pool.render(Uuid::nil(), TEMPLATE, &context, Undefined::Refuse)
            .await
            .expect("it renders");
        pooled.push(from.elapsed());
    }
    report("in this process", &mut plain);
    report("by a warm child", &mut pooled);

    let texts = (0..1000).map(|number| {
        let text = format!("Text {number} with the name {{name}}");
        (format!("group.text-{number}").into(), Text::Plain(text.into()))
    });
    let catalogue = Catalogue {
        language: "de".into(),
        texts: texts.collect(),
    };
    let template = format!("{}{TEMPLATE}", "{{ t('group.text-700', name='Ada') }}".repeat(20));
    let sources = Sources::from(template.as_str()).with_catalogues([catalogue]);
    let mut translated = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let sources = sources.clone();
        let from = Instant::now();
        pool.render(Uuid::nil(), sources, &context, Undefined::Refuse)
            .await
            .expect("it renders");
        translated.push(from.elapsed());
    }
    report("with 1,000 texts", &mut translated);

    let part = TEMPLATE.repeat(2);
    let names: Vec<String> = (0..MOST_PARTIALS).map(|number| format!("part-{number}")).collect();
    let tags: Vec<String> = names.iter().map(|name| format!("{{% include '{name}' %}}")).collect();
    let tags = tags.concat();
    let sources = Sources::new(&tags, names.iter().map(|name| (name, &part)));
    let text = part.repeat(MOST_PARTIALS);
    let (mut as_text, mut as_partials) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS / 10 {
        for (sources, times) in [
            (text.as_str().into(), &mut as_text),
            (sources.clone(), &mut as_partials),
        ] {
            let from = Instant::now();
            pool.render(Uuid::nil(), sources, &context, Undefined::Refuse)
                .await
                .expect("it renders");
            times.push(from.elapsed());
        }
    }
    report("one long text", &mut as_text);
    report("50 partials", &mut as_partials);
}

fn report(name: &str, times: &mut [Duration]) {
    times.sort();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    println!("{name:<20}  p50 {:?}  p95 {:?}  p99 {:?}", at(50), at(95), at(99));
}
