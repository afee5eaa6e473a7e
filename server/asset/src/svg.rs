//! SVG may contain scripts and entities. Browsers run neither in pictures, but files may be opened elsewhere.

use roxmltree::{Document, Node, ParsingOptions};

const NAMESPACE: &str = "http://www.w3.org/2000/svg";
/// Maximum number of elements, texts and comments.
const MOST_NODES: u32 = 1_000_000;
/// Maximum length of a name in an error, in characters.
const LONGEST_NAME: usize = 60;
/// Elements that run scripts, or show documents that may.
const ACTIVE_ELEMENTS: [&str; 4] = ["script", "iframe", "object", "embed"];
/// Attributes with addresses, or with those to which an animation sets one.
const ADDRESSES: [&str; 7] = ["href", "src", "action", "to", "from", "by", "values"];
const SCRIPT_SCHEME: &str = "javascript:";

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
    if has_external_entity(text) {
        return Err("SVG must not contain external entities".to_owned());
    }
    for node in document.descendants() {
        if let Some(problem) = script_in(node) {
            let line = document.text_pos_at(node.range().start).row;
            return Err(format!(
                "SVG must not contain scripts; line {line} contains {problem}. Remove it, or export the drawing as plain SVG"
            ));
        }
    }
    Ok(())
}

/// Returns whether a document type declares an entity whose text is elsewhere.
fn has_external_entity(text: &str) -> bool {
    text.split("<!ENTITY").skip(1).any(|declaration| {
        let declaration = declaration.split('>').next().unwrap_or_default();
        let outside_quotes = declaration.split(['"', '\'']).next().unwrap_or_default();
        outside_quotes
            .split_whitespace()
            .any(|word| matches!(word, "SYSTEM" | "PUBLIC"))
    })
}

/// Returns what makes a node a script, or embeds a document that may contain some.
fn script_in(node: Node<'_, '_>) -> Option<String> {
    if node
        .pi()
        .is_some_and(|instruction| instruction.target == "xml-stylesheet")
    {
        return Some("the processing instruction xml-stylesheet".to_owned());
    }
    let name = node.tag_name().name().to_ascii_lowercase();
    if ACTIVE_ELEMENTS.contains(&name.as_str()) {
        return Some(format!("the element {name}"));
    }
    let mut attributes = node.attributes();
    let attribute = attributes.find(|attribute| {
        let name = attribute.name().to_ascii_lowercase();
        let mut addresses = attribute.value().split(';');
        (attribute.namespace().is_none() && name.starts_with("on"))
            || (ADDRESSES.contains(&name.as_str()) && addresses.any(is_script_address))
    })?;
    Some(format!("the attribute {}", shortened(attribute.name())))
}

/// Returns whether a value is the address of a script. Parsers of URLs ignore white space and control characters in schemes.
fn is_script_address(value: &str) -> bool {
    let mut characters = value.chars().filter(|c| !c.is_whitespace() && !c.is_control());
    SCRIPT_SCHEME
        .chars()
        .all(|expected| characters.next().is_some_and(|c| c.eq_ignore_ascii_case(&expected)))
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
            <svg xmlns="http://www.w3.org/2000/svg" xmlns:x="&ns;"><style>a { fill: red }</style><path d="M0 0"/>
            <g xmlns:e="urn:example" e:onboarding="1" aria-label="JavaScript: basics"/></svg>"#;
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
            (svg("<a href='java&#9;script:x()'/>"), "the attribute href"),
            (
                svg("<set attributeName='href' to='javascript:x()'/>"),
                "the attribute to",
            ),
            (
                svg("<foreignObject><iframe xmlns='http://www.w3.org/1999/xhtml'/></foreignObject>"),
                "the element iframe",
            ),
            (
                svg("<animate attributeName='href' values='a;javascript:x()'/>"),
                "the attribute values",
            ),
            (format!("<?xml-stylesheet href='a.xsl'?>{}", svg("")), "xml-stylesheet"),
            (external.replace("&x;", ""), "must not contain external entities"),
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
