use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use platen_template::{
    diagnostic::DiagnosticKind,
    language::Undefined,
    pool::{Error, Pool},
};
use serde_json::{Map, Value};

use crate::support::{ADA, BOB, pool, serves};

/// Longest time that a hostile template may delay its own caller: the pool's wall-clock limit, in case a busy machine
/// keeps the template from its processor time, and the end of the worker.
const PATIENCE: Duration = Duration::from_secs(6);

/// Fills a template while another account is served, and returns how it ended.
async fn ending(pool: &Pool, template: &str, context: &Map<String, Value>) -> String {
    // Two at once: the worker that the last template ended has been replaced.
    assert_eq!(tokio::join!(serves(pool, ADA), serves(pool, BOB)), (true, true));
    let hostile = async {
        let from = Instant::now();
        let ended = pool.render(ADA, template, context, Undefined::Warn).await;
        (ended, from.elapsed())
    };
    let ((ended, took), served) = tokio::join!(hostile, async {
        let mut served = true;
        for _ in 0..3 {
            served &= serves(pool, BOB).await;
        }
        served
    });
    let shown: String = template.chars().take(60).collect();
    assert!(served, "{shown}: another account was not served");
    assert!(took < PATIENCE, "{shown}: took {took:?}");
    match ended {
        Ok(_) => "ok".to_owned(),
        Err(Error::Template(diagnostic)) => format!("{:?}", diagnostic.kind).to_lowercase(),
        Err(error @ Error::Process(_)) => panic!("{shown}: {error:?}"),
    }
}

/// Returns whether a template ended as one of the expected words. A slow or busy machine may run out of time before it
/// runs out of memory.
fn is_expected(ended: &str, expected: &str) -> bool {
    expected
        .split(' ')
        .any(|word| word == ended || (word == "memory" && ended == "time"))
}

/// Templates and the words for how they may end; which of several depends on the limit that is exceeded first.
const TEMPLATES: [(&str, &str); 34] = [
    // Steps.
    (
        "{% for a in range(99999) %}{% for b in range(99999) %}{{ a }}{% endfor %}{% endfor %}",
        "time",
    ),
    (
        "{% set ns = namespace(i=0) %}{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}",
        "operation",
    ),
    (
        "{% macro m(n) %}{{ m(n + 1) }}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
        "operation",
    ),
    (
        "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}",
        "operation",
    ),
    ("{% block a %}{{ self.a() }}{% endblock %}", "operation"),
    // Much output from little input.
    ("{{ range(10000000000) }}", "operation"),
    ("{{ range(100000)|list|string|length }}", "ok"),
    ("{{ 'a' * 1000000000 }}", "operation memory output"),
    ("{{ [1] * 1000000000 }}", "operation memory"),
    ("{{ 10 ** 100000000 }}", "operation"),
    ("{{ (9 ** 9) ** 9 ** 9 }}", "operation"),
    ("{{ '%1000000000d'|format(1) }}", "memory operation"),
    ("{{ '%.1000000000f'|format(1.5) }}", "memory operation"),
    ("{{ ('a\n' * 100000)|indent(1000000) }}", "memory operation"),
    (
        "{{ ('a' * 10000)|replace('a', 'a' * 10000)|replace('a', 'a' * 10000)|replace('a', 'b' * 10000) }}",
        "memory operation",
    ),
    ("{{ range(99999)|join('x' * 100000) }}", "memory operation"),
    ("{{ [1]|batch(1000000000, 'x') }}", "memory operation"),
    ("{{ [1]|slice(1000000000) }}", "memory operation"),
    (
        "{% set ns = namespace(s='x') %}{% for i in range(40) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s }}",
        "memory",
    ),
    (
        "{% set ns = namespace(s=[1]) %}{% for i in range(40) %}{% set ns.s = ns.s + ns.s %}{% endfor %}{{ ns.s|length }}",
        "memory operation ok",
    ),
    (
        "{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}",
        "output memory",
    ),
    (
        "{% set ns = namespace(s=[]) %}{% for i in range(99999) %}{% set ns.s = [ns.s] %}{% endfor %}{{ ns.s }}",
        "memory operation",
    ),
    (
        "{% set ns = namespace(s=[]) %}{% for i in range(99999) %}{% set ns.s = [ns.s] %}{% endfor %}{{ ns.s == ns.s }}{{ ns.s|tojson }}",
        "memory operation",
    ),
    ("{% for i in range(99999) %}{{ 'x' * 1000 }}{% endfor %}", "output"),
    (
        "{% set x %}{% for i in range(99999) %}{{ 'x' * 10000 }}{% endfor %}{% endset %}",
        "memory",
    ),
    ("{{ ('<' * 20000000)|escape|escape|escape }}", "memory output"),
    ("{{ ('x,' * 10000000).split(',')|length }}", "memory ok"),
    // Platen's own function and filters.
    (
        "{% for i in range(99999) %}{{ t('x' * 1000 ~ i) }}{% endfor %}",
        "output",
    ),
    ("{{ ('[' * 100000)|markdown|length }}", "ok memory"),
    ("{{ ('> ' * 50000 ~ 'a')|markdown|length }}", "ok memory"),
    ("{{ ('<b>' * 20000)|markdown|length }}", "ok memory"),
    ("{{ ('9' * 10000000)|number }}", "operation"),
    (
        "{% for i in range(99999) %}{{ 'x' * 2000 ~ i|qrcode(level='H') }}{{ i|date('full') }}{% endfor %}",
        "time output operation",
    ),
    ("{{ 0|date('d' * 1000000) }}", "operation"),
];

#[tokio::test]
async fn each_hostile_template_ends_by_its_own_limit_and_affects_no_other() {
    let pool = pool(2).await;
    let nothing = Map::new();
    let mut wrong = String::new();
    for (template, expected) in TEMPLATES {
        let from = Instant::now();
        let ended = ending(&pool, template, &nothing).await;
        println!("{:>6} ms  {ended:<10} {template}", from.elapsed().as_millis());
        if !is_expected(&ended, expected) {
            let _ = writeln!(wrong, "{ended}, not {expected}: {template}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[tokio::test]
async fn texts_that_are_hostile_by_size_or_depth_end_as_well() {
    let pool = pool(2).await;
    let nothing = Map::new();
    let many = 100_000;
    for (template, expected) in [
        (format!("{{{{ {}1{} }}}}", "(".repeat(many), ")".repeat(many)), "syntax"),
        (format!("{{{{ {}1{} }}}}", "[".repeat(many), "]".repeat(many)), "syntax"),
        (format!("{{{{ {}1 }}}}", "-".repeat(many)), "syntax memory"),
        (format!("{{{{ {}true }}}}", "not ".repeat(many)), "syntax memory"),
        (format!("{{{{ 1{} }}}}", "|abs".repeat(many)), "ok syntax memory"),
        (format!("{{{{ 1{} }}}}", "+1".repeat(many)), "ok syntax memory"),
        (
            format!("{{{{ a{} }}}}", ".a".repeat(many)),
            "ok syntax memory operation",
        ),
        (
            format!("{{{{ a{} }}}}", "[0]".repeat(many)),
            "ok syntax memory operation",
        ),
        (
            format!("{{{{ 1{} }}}}", " if 1 else 1".repeat(many)),
            "ok syntax memory",
        ),
        ("{% if 1 %}".repeat(many), "syntax"),
        (
            format!("{}{}", "{% if 1 %}".repeat(many), "{% endif %}".repeat(many)),
            "syntax",
        ),
        ("{% for a in [1] %}".repeat(many), "syntax"),
        (format!("{{{{ {} }}}}", "9".repeat(1_000_000)), "syntax ok"),
        (format!("{{{{ '{}'|length }}}}", "x".repeat(2_000_000)), "ok"),
        ("{{ missing }}".repeat(many), "ok time"),
        ("{{".repeat(1_000_000), "syntax"),
        ("\u{0}\u{1}{% \u{202e}".to_owned(), "syntax"),
    ] {
        let ended = ending(&pool, &template, &nothing).await;
        let shown: String = template.chars().take(30).collect();
        assert!(is_expected(&ended, expected), "{ended}, not {expected}: {shown}");
    }
}

#[tokio::test]
async fn contexts_that_are_hostile_by_size_or_depth_end_as_well() {
    let pool = pool(2).await;
    let numbers = Value::from(vec![1; 300_000]);
    let text = Value::from("x".repeat(3_000_000));
    let mut deep = Value::Null;
    for _ in 0..100 {
        deep = Value::from(vec![deep]);
    }
    for (value, template, expected) in [
        (&numbers, "{{ x|length }}", "ok memory"),
        (&numbers, "{{ x|sort|unique|list|length }}{{ x|sum }}", "ok memory"),
        (&text, "{% for i in range(6) %}{{ x }}{% endfor %}", "output"),
        (&text, "{{ x|upper|replace('X', '<b>' * 50)|escape }}", "memory output"),
        (
            &text,
            "{% set a = x ~ x ~ x ~ x ~ x ~ x ~ x ~ x ~ x ~ x %}{{ (a ~ a ~ a ~ a ~ a ~ a ~ a)|length }}",
            "memory",
        ),
        (&deep, "{{ x }}{{ x|tojson }}", "ok"),
    ] {
        let context = Map::from_iter([("x".to_owned(), value.clone())]);
        let ended = ending(&pool, template, &context).await;
        assert!(is_expected(&ended, expected), "{ended}, not {expected}: {template}");
    }
}

#[test]
fn the_kinds_that_limits_have_are_the_words_that_clients_see() {
    let words: Vec<String> = [DiagnosticKind::Memory, DiagnosticKind::Time, DiagnosticKind::Output]
        .iter()
        .map(|kind| serde_json::to_string(kind).expect("it is a word"))
        .collect();
    assert_eq!(words, [r#""memory""#, r#""time""#, r#""output""#]);
}
