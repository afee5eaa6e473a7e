//! Sizes, margins and page selections.

use super::*;

#[test]
fn margins() {
    let all =
        |value: &str| format!(r#""margin": {{"top": {value}, "right": {value}, "bottom": {value}, "left": {value}}}"#);
    assert_problems(&with(&all("0")), &[]);
    assert_problems(&with(&all("10.5")), &[]);
    assert_problems(
        &with(&all("-0.1")),
        &["/margin/top", "/margin/right", "/margin/bottom", "/margin/left"],
    );
    assert_problems(
        &with(&all("null")),
        &["/margin/top", "/margin/right", "/margin/bottom", "/margin/left"],
    );
    assert_problems(&with(&all("105")), &["/margin"]);
    assert_problems(&with(&all("1e300")), &["/margin"]);
    let rows: [(&str, &[&str]); 10] = [
        ("null", &["/margin"]),
        ("10", &["/margin"]),
        (
            "{}",
            &["/margin/top", "/margin/right", "/margin/bottom", "/margin/left"],
        ),
        (r#"{"top": 1, "left": 1, "bottom": 1}"#, &["/margin/right"]),
        (
            r#"{"top": 1, "left": 1, "bottom": 1, "right": 1, "unit": "pt"}"#,
            &["/margin/unit"],
        ),
        (
            r#"{"top": 1, "left": 1, "bottom": 1, "right": 1, "unit": null}"#,
            &["/margin/unit"],
        ),
        (
            r#"{"top": "1", "left": 1, "bottom": 1, "right": 1, "x": 1}"#,
            &["/margin/top", "/margin/x"],
        ),
        (r#"{"top": 1, "left": 1, "bottom": 1, "right": 1, "unit": "cm"}"#, &[]),
        (
            r#"{"top": 6, "left": 0, "bottom": 6, "right": 0, "unit": "in"}"#,
            &["/margin"],
        ),
        (
            r#"{"top": 1, "top": 2, "left": 1, "bottom": 1, "right": 1}"#,
            &["/margin/top"],
        ),
    ];
    for (margin, pointers) in rows {
        assert_problems(&with(&format!("\"margin\": {margin}")), pointers);
    }
}

#[test]
fn sizes() {
    for name in [
        "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10", "letter", "legal", "tabloid", "ledger",
    ] {
        assert_problems(&with(&format!("\"size\": \"{name}\"")), &[]);
    }
    let rows: [(&str, &[&str]); 18] = [
        ("null", &["/size"]),
        ("\"A4\"", &["/size"]),
        ("\"a11\"", &["/size"]),
        ("\"\"", &["/size"]),
        ("4", &["/size"]),
        ("[]", &["/size"]),
        ("{}", &["/size/width", "/size/height"]),
        (r#"{"width": 100}"#, &["/size/height"]),
        (r#"{"width": 100, "height": "100"}"#, &["/size/height"]),
        (r#"{"width": 100, "height": 100, "depth": 1}"#, &["/size/depth"]),
        (r#"{"width": 100, "height": 100, "unit": "pt"}"#, &["/size/unit"]),
        (r#"{"width": 100, "height": 100}"#, &[]),
        (r#"{"width": 3, "height": 5080}"#, &[]),
        (r#"{"width": 2.99, "height": 5081}"#, &["/size/width", "/size/height"]),
        (r#"{"width": 200, "height": 200.1, "unit": "in"}"#, &["/size/height"]),
        (r#"{"width": 11, "height": 12, "unit": "px"}"#, &["/size/width"]),
        (r#"{"width": -5, "height": 0}"#, &["/size/width", "/size/height"]),
        (r#"{"width": 1e18, "height": 100}"#, &["/size/width"]),
    ];
    for (size, pointers) in rows {
        assert_problems(&with(&format!("\"size\": {size}")), pointers);
    }
    let margin = r#""margin": {"top": 0, "right": 60, "bottom": 0, "left": 60}"#;
    let small = r#""size": {"width": 100, "height": 200}"#;
    assert_problems(&with(&format!("{small}, {margin}")), &["/margin"]);
    assert_problems(
        &with(&format!("{small}, {margin}, \"orientation\": \"landscape\"")),
        &[],
    );
}

#[test]
fn page_lists() {
    assert_problems(&with(r#""pages": """#), &[]);
    for (sound, selected) in [
        ("1", "1"),
        ("1,2", "1-2"),
        ("1, 3-5", "1, 3-5"),
        ("1,\\t2", "1-2"),
        ("2-2", "2"),
        ("10,1", "1, 10"),
    ] {
        let request = request(&format!("\"pages\": \"{sound}\""));
        assert_eq!(
            request.selection.map(|selection| selection.to_string()),
            Some(selected.to_owned())
        );
    }
    for wrong in [
        "0",
        "1,0",
        "3-2",
        "0-4",
        "1-",
        "-1",
        "1--2",
        "a",
        "1 ",
        " 1",
        "1 ,2",
        ",1",
        "1,",
        "1,,2",
        "1;2",
        "1 - 2",
        " ",
        "1.5",
        "٣",
        "99999999999999999999",
    ] {
        assert_problems(&with(&format!("\"pages\": \"{wrong}\"")), &["/pages"]);
    }
    assert_problems(&with(r#""pages": null"#), &["/pages"]);
    assert_problems(&with(r#""pages": 1"#), &["/pages"]);
}
