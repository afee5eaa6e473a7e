use std::time::Duration;

use time::macros::datetime;

use super::*;

fn fields(title: &str) -> Fields {
    Fields {
        title: cut(title, TITLE_LENGTH),
        url: String::new(),
        date: datetime!(2026-11-21 08:05 UTC),
        numbers: None,
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_mins(1)
}

fn fill_header(template: &str) -> (String, Option<Warning>) {
    fill(RunningTemplate::Header, template, &fields("A < B"), soon()).unwrap()
}

/// Fills `header` for parts with these titles.
fn fill_for(header: &str, titles: &[&str]) -> Result<Filled, FillError> {
    let wanted = HeaderFooter {
        header: header.to_owned(),
        footer: String::new(),
    };
    let parts: Vec<Fields> = titles.iter().map(|title| fields(title)).collect();
    fill_all(&wanted, &parts, soon())
}

#[test]
fn a_title_is_filled_in_cut() {
    let (header, _) = fill(
        RunningTemplate::Header,
        "<b class=title></b>",
        &fields(&"ä".repeat(50_000)),
        soon(),
    )
    .unwrap();
    assert_eq!(header.matches('ä').count(), TITLE_LENGTH);
}

#[test]
fn templates_that_grow_too_large_are_refused() {
    let one = "<b class=title></b>";
    let title = "x".repeat(TITLE_LENGTH);
    let size = |error: Result<Filled, FillError>| match error {
        Err(FillError::Problem(RenderProblem::HeaderFooterTooLarge { limit, size, .. })) => (limit, size > limit),
        other => panic!("{other:?}"),
    };
    assert_eq!(size(fill_for(&one.repeat(50_000), &[&title])), (FILLED_LIMIT, true));
    let titles: Vec<String> = (0..50).map(|part| format!("{part}{title}")).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    assert_eq!(size(fill_for(&one.repeat(1_000), &titles)), (ALL_PARTS_LIMIT, true));
    // Equal templates are stored once.
    let filled = fill_for(&one.repeat(1_000), &[title.as_str(); 50]).unwrap();
    assert_eq!(filled.templates.len(), 50);
    assert_eq!(check_pages(&filled.templates, &[1; 50]), Ok(()));
    assert!(check_pages(&filled.templates, &[3; 50]).is_err());
}

#[test]
fn filling_ends_at_the_deadline() {
    let wanted = HeaderFooter {
        header: "<b></b>".to_owned(),
        footer: String::new(),
    };
    let late = fill_all(&wanted, &[fields("x")], Instant::now());
    assert_eq!(late.unwrap_err(), FillError::Late);
}

#[test]
fn classes_are_filled_with_text() {
    let (header, warning) = fill_header("<b class='x title'>old</b><i class=date></i><u class=pageNumber></u>");
    assert!(header.contains("<b class=\"x platen-title\">A &lt; B</b>"), "{header}");
    assert!(
        header.contains("<i class=\"platen-date\">2026-11-21 08:05 UTC</i>"),
        "{header}"
    );
    assert!(header.contains("<u class=pageNumber></u>"));
    assert_eq!(warning, None);
}

#[test]
fn templates_without_text_are_recognized() {
    for (template, expected) in [
        ("", false),
        ("<span> </span>", false),
        ("<style>p { color: red }</style><img src=data:,>", false),
        (
            "<STYLE>p::after { content: '<b>' }</STYLE><!-- <b>Invoice</b> -->",
            false,
        ),
        ("<style>.pageNumber { color: red }</style><img src=data:,>", false),
        ("<b>Invoice</b>", true),
        ("Invoice", true),
        ("<b class=title></b>", true),
        ("<b class=pageNumber></b>", true),
    ] {
        let (header, _) = fill_header(template);
        let footer = NOTHING.to_owned();
        assert_eq!(have_text(&Templates { header, footer }), expected, "{template}");
    }
}

#[test]
fn templates_that_may_hide_text_are_recognized() {
    use RunningText::{DependsOnMargins, Drawn, MayBeHidden};
    for (template, expected) in [
        ("", Drawn),
        (
            "<b style='font-size: 0.8em; opacity: 0.5; color: #102030'>Invoice</b>",
            Drawn,
        ),
        (
            "<STYLE>p { color: red }</STYLE><p><img src=data:,> <svg><path/></svg> <b class=pageNumber></b>",
            Drawn,
        ),
        (
            "<b style='text-transform: uppercase; border: none'>A &#8211; B<img src='data:image/png;base64,iVrgbhsl/maskclip=='></b>",
            Drawn,
        ),
        ("<b class=pageNumber style='display: none'></b>", MayBeHidden),
        ("<b style='display&#58; none'>Draft</b>", MayBeHidden),
        ("<b style='filter: opacity(0%)'>Draft</b>", MayBeHidden),
        ("<style>b::after { content: 'Draft' }</style><b></b>", MayBeHidden),
        ("<img src='data:image/svg+xml;base64,PHN2Zz4='>", MayBeHidden),
        ("<style>b { VISIBILITY:hidden }</style><b>Invoice</b>", MayBeHidden),
        ("<b hidden>Invoice</b>", MayBeHidden),
        ("<svg><title>Logo</title></svg>", MayBeHidden),
        ("<b class='a text'>Invoice</b>", DependsOnMargins),
        ("<b style='opacity: 0.0'>Invoice</b>", MayBeHidden),
        ("<b style='color: #1020'>Invoice</b>", MayBeHidden),
        ("<b style='color: rgba(0, 0, 0, 0)'>Invoice</b>", MayBeHidden),
        ("<dialog>Draft</dialog>", MayBeHidden),
        ("<b popover>Draft</b>", MayBeHidden),
        ("<b style='margin-left: -99em'>Draft</b>", MayBeHidden),
    ] {
        assert_eq!(running_text_of(template), expected, "{template}");
    }
}

#[test]
fn rules_for_the_classes_still_apply() {
    let (header, _) = fill_header("<style>.date{color:red}.x.title{top:0}</style><i class=date></i>");
    assert!(
        header.contains(".platen-date{color:red}.x.platen-title{top:0}"),
        "{header}"
    );
}

#[test]
fn scripts_and_remote_assets_are_taken_out() {
    let (header, warning) = fill_header("<script>x()</script><img src='http://x/y.png'><a href='http://x'>y</a>");
    assert!(!header.contains("x()") && !header.contains("y.png"), "{header}");
    assert!(header.contains("<a href='http://x'>y</a>"));
    assert_eq!(warning.map(|warning| warning.code), Some("header_footer_asset_refused"));
}

#[test]
fn style_sheets_keep_only_what_the_template_holds() {
    for (rules, kept) in [
        ("@Import 'http://x/y.css'; p { color: red }", " p { color: red }"),
        (
            "p { background: URL( \"http://x\" ) } b { }",
            "p { background: url() } b { }",
        ),
        (
            "@font-face { src: url(http://x), url(",
            "@font-face { src: url(), url()",
        ),
        (
            "p { background: url('data:image/png;base64,x') }",
            "p { background: url('data:image/png;base64,x') }",
        ),
        ("p { fill: url(#x) } @import url(http://x);", "p { fill: url(#x) } "),
    ] {
        let (header, warning) = fill_header(&format!("<style>{rules}</style>"));
        assert!(header.contains(&format!("<style>{kept}</style>")), "{header}");
        assert_eq!(warning.is_some(), rules != kept, "{rules}");
    }
    assert_eq!(
        fill_header("<b style='background: url( \"data:image/png;base64,x\" )'>x</b>").1,
        None
    );
}

#[test]
fn an_empty_template_brings_no_default() {
    assert_eq!(fill_header("  ").0, "<span></span>");
}
