use std::borrow::Cow;

use serde_json::json;

use super::*;

const RENDER: Layout = Layout {
    data: &["parts", "*", "content", "context"],
    data_values: 10,
    list: Some(("parts", 3)),
};

fn read(text: impl AsRef<[u8]>) -> (Option<Value>, Vec<(String, &'static str)>) {
    read_as(text, &Layout::PLAIN)
}

fn read_as(text: impl AsRef<[u8]>, layout: &Layout) -> (Option<Value>, Vec<(String, &'static str)>) {
    let mut problems = Problems::default();
    let value = parse(text.as_ref(), layout, &mut problems).map(|body| body.value);
    let listed = problems.sorted(value.as_ref().unwrap_or(&Value::Null));
    let told = listed.into_iter().map(|problem| match problem.title {
        Cow::Borrowed(title) => (problem.pointer, title),
        Cow::Owned(title) => panic!("unexpected title {title}"),
    });
    (value, told.collect())
}

#[test]
fn a_sound_document_is_read_in_order() {
    let text = r#"{"b": [1, -2, 0.5, null, true, "x\u00e4"], "a": {}}"#;
    let (value, problems) = read(text);
    let value = value.expect("sound");
    assert_eq!(value, json!({"b": [1, -2, 0.5, null, true, "xä"], "a": {}}));
    assert_eq!(
        value.as_object().expect("object").keys().collect::<Vec<_>>(),
        ["b", "a"]
    );
    assert!(problems.is_empty());
}

#[test]
fn what_cannot_be_read_is_one_fault_of_the_whole_body() {
    let nested = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let huge = "9".repeat(400);
    let broken: [&[u8]; 15] = [
        b"",
        b"{",
        b"{}{}",
        b"{\"a\": NaN}",
        b"{\"a\": Infinity}",
        b"{\"a\": 1e999}",
        huge.as_bytes(),
        nested.as_bytes(),
        br#""\ud800""#,
        br#""\udc00\ud800""#,
        b"\"\xff\"",
        b"\xff\xfe{\0}\0",
        b"{'a': 1}",
        b"{\"a\": 1,}",
        b"\"a\nb\"",
    ];
    for text in broken {
        let (value, problems) = read(text);
        assert_eq!(value, None, "{}", String::from_utf8_lossy(text));
        assert_eq!(problems, [(String::new(), "Malformed JSON")]);
    }
}

#[test]
fn members_named_twice_are_faults_where_they_are() {
    let (value, problems) = read(r#"{"a": 1, "b": [{"x/y": 1, "x/y": 2, "x/y": 3}], "a": 2}"#);
    assert_eq!(value, Some(json!({"a": 1, "b": [{"x/y": 1}]})));
    assert_eq!(
        problems,
        [
            ("/a".into(), "Duplicate field"),
            ("/b/0/x~1y".into(), "Duplicate field")
        ]
    );
}

#[test]
fn data_stays_as_it_was_sent() {
    let text = r#"{"parts": [{"content": {"context": { "a":  1.50 }}}, {"content": {"context": [1]}}, "context"], "context": {"b": 1}}"#;
    let mut problems = Problems::default();
    let body = parse(text.as_bytes(), &RENDER, &mut problems).expect("sound");
    assert!(problems.is_empty());
    assert_eq!(
        body.value,
        json!({
            "parts": [{"content": {"context": {}}}, {"content": {"context": []}}, "context"],
            "context": {"b": 1},
        })
    );
    let data = body.data.get("/parts/0/content/context").expect("data");
    assert_eq!(data.get(), r#"{ "a":  1.50 }"#);
    assert_eq!(compact(data).get(), r#"{"a":1.50}"#);
    assert!(body.data.get("/context").is_none());
}

#[test]
fn blanks_go_only_where_they_mean_nothing() {
    let text = "{ \"a \\\\\" : \"\\\" \\n\" ,\n\t\"b\":[ 1 , 2 ]\r\n}";
    let raw = RawValue::from_string(text.to_owned()).expect("JSON");
    assert_eq!(compact(&raw).get(), r#"{"a \\":"\" \n","b":[1,2]}"#);
}

#[test]
fn data_is_held_to_the_rules_of_the_rest() {
    let with = |data: &str| format!(r#"{{"parts": [1, {{"content": {{"context": {data}}}}}]}}"#);
    let layout = Layout {
        data_values: 1000,
        ..RENDER
    };
    for broken in [r#""\ud800""#, "1e999", "{\"a\": NaN}", &"[".repeat(200)] {
        assert_eq!(
            read_as(with(broken), &layout),
            (None, vec![(String::new(), "Malformed JSON")]),
            "{broken}"
        );
    }
    let (_, problems) = read_as(with(r#"{"a": {"b": 1, "\u0062": 2}}"#), &RENDER);
    assert_eq!(problems, [("/parts/1/content/context/a/b".into(), "Duplicate field")]);
}

#[test]
fn what_passes_a_bound_is_one_fault_at_what_passes_it() {
    let numbers = |count: usize| format!("[{}]", vec!["1"; count].join(","));
    let data = |count| format!(r#"{{"parts": [1, {{"content": {{"context": {}}}}}]}}"#, numbers(count));
    let long_name = format!(r#"{{"a": {{"{}": 1}}}}"#, "x".repeat(LONGEST_NAME + 1));
    let sound = [
        numbers(MOST_VALUES - 1),
        data(9),
        r#"{"parts": [1, 2, 3], "a": {"parts": [1, 2, 3, 4]}}"#.to_owned(),
        format!(r#"{{"{}": 1}}"#, "x".repeat(LONGEST_NAME)),
    ];
    for text in sound {
        let (value, problems) = read_as(&text, &RENDER);
        assert!(value.is_some() && problems.is_empty(), "{problems:?}");
    }
    for (text, pointer) in [
        (numbers(MOST_VALUES), ""),
        (data(10), "/parts/1/content/context"),
        (r#"{"parts": [1, 2, 3, 4, nonsense"#.to_owned(), "/parts"),
        (long_name, "/a"),
    ] {
        assert_eq!(read_as(text, &RENDER), (None, vec![(pointer.to_owned(), "Too large")]));
    }
}

#[test]
fn data_of_an_editor_is_read_within_bounds() {
    let read = read_data(r#" {"a": [1, 2], "a": 3} "#, 6).expect("data");
    assert_eq!(read.get(), r#"{"a": [1, 2], "a": 3}"#);
    assert!(matches!(read_data("{", 6), Err(Unreadable::Malformed(_))));
    assert!(matches!(read_data(r#"{"a": [1, 2]}"#, 3), Err(Unreadable::Excess(problem)) if problem.pointer.is_empty()));
}
