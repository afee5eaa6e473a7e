//! SVG may contain scripts and entities. Browsers run neither in pictures, but files may be opened elsewhere.

use roxmltree::{Document, Node, ParsingOptions};

const NAMESPACE: &str = "http://www.w3.org/2000/svg";
/// Maximum number of elements, texts and comments.
const MOST_NODES: u32 = 1_000_000;
/// Maximum length of a name in an error, in characters.
const LONGEST_NAME: usize = 60;

/// Checks that a file is SVG without scripts and external entities. The parser bounds the expansion of entities.
pub(super) fn check(content: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(content).map_err(|_| "SVG must be UTF-8")?;
    // Drawing programs write a document type, often with entities for namespaces.
    let options = ParsingOptions {
        allow_dtd: true,
        nodes_limit: MOST_NODES,
        ..ParsingOptions::default()
    };
    let document =
        Document::parse_with_options(text, options).map_err(|error| format!("The SVG can't be read: {error}"))?;
    let root = document.root_element();
    if !root.has_tag_name((NAMESPACE, "svg")) {
        return Err(format!(
            "The root of SVG is the element svg of the namespace {NAMESPACE}, not {}",
            shortened(root.tag_name().name())
        ));
    }
    for node in document.descendants().filter(Node::is_element) {
        if let Some(problem) = script_in(node) {
            let line = document.text_pos_at(node.range().start).row;
            return Err(format!("SVG must not contain scripts; line {line} contains {problem}"));
        }
    }
    Ok(())
}

/// Returns the script of an element.
fn script_in(node: Node<'_, '_>) -> Option<String> {
    if node.tag_name().name().eq_ignore_ascii_case("script") {
        return Some("the element script".to_owned());
    }
    let mut attributes = node.attributes();
    let attribute = attributes.find(|attribute| {
        let name = attribute.name().to_ascii_lowercase();
        let value = attribute.value().trim_start().to_ascii_lowercase();
        name.starts_with("on") || (name == "href" && value.starts_with("javascript:"))
    })?;
    Some(format!("the attribute {}", shortened(attribute.name())))
}

fn shortened(name: &str) -> String {
    name.chars().take(LONGEST_NAME).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_of_drawing_programs_are_allowed() {
        let svg = r#"<?xml version="1.0" encoding="utf-8"?>
            <!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd" [
                <!ENTITY ns "http://ns.adobe.com/SaveForWeb/1.0/">
            ]>
            <svg xmlns="http://www.w3.org/2000/svg" xmlns:x="&ns;"><style>a { fill: red }</style><path d="M0 0"/></svg>"#;
        assert_eq!(check(svg.as_bytes()), Ok(()));
    }

    #[test]
    fn scripts_and_entities_are_refused() {
        let bomb = (1..10).fold(r#"<!ENTITY e0 "aaaaaaaaaa">"#.to_owned(), |entities, level| {
            let nested = format!("&e{};", level - 1).repeat(10);
            format!(r#"{entities}<!ENTITY e{level} "{nested}">"#)
        });
        let bomb = format!(r#"<!DOCTYPE svg [{bomb}]><svg xmlns="http://www.w3.org/2000/svg"><text>&e9;</text></svg>"#);
        let external = r#"<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>
            <svg xmlns="http://www.w3.org/2000/svg"><text>&x;</text></svg>"#;
        let svg = |content: &str| format!(r#"<svg xmlns="http://www.w3.org/2000/svg">{content}</svg>"#);
        for (file, reason) in [
            (
                svg("\n<g><script>x()</script></g>"),
                "line 2 contains the element script",
            ),
            (svg(r#"<path onload="x()"/>"#), "the attribute onload"),
            (svg(r#"<a href=" javascript:x()"/>"#), "the attribute href"),
            (external.to_owned(), "unknown entity reference"),
            (bomb, "entity"),
            ("<html/>".to_owned(), "not html"),
            (svg("<g>"), "can't be read"),
        ] {
            let found = check(file.as_bytes()).unwrap_err();
            assert!(found.contains(reason), "{found}");
        }
    }
}
