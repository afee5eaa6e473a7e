//! XMP packets (ISO 16684-1) as Platen writes them: one property per line, from the schemas predefined by PDF/A.

use std::fmt::Write as _;

const START: &str = "<?xpacket begin=\"\u{FEFF}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>
<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">
<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">
<rdf:Description rdf:about=\"\" xmlns:pdfaid=\"http://www.aiim.org/pdfa/ns/id/\" \
xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" \
xmlns:pdf=\"http://ns.adobe.com/pdf/1.3/\" xmlns:xmpMM=\"http://ns.adobe.com/xap/1.0/mm/\">
";
const END: &str = "</rdf:Description>
</rdf:RDF>
</x:xmpmeta>
<?xpacket end=\"r\"?>";

/// Every property that is written, with the markup before and after its text.
const PROPERTIES: [(&str, &str, &str); 14] = [
    ("pdfaid:part", "", ""),
    ("pdfaid:conformance", "", ""),
    ("dc:format", "", ""),
    ("dc:title", ALTERNATIVE, ALTERNATIVE_END),
    ("dc:creator", "<rdf:Seq><rdf:li>", "</rdf:li></rdf:Seq>"),
    ("dc:description", ALTERNATIVE, ALTERNATIVE_END),
    ("dc:language", "<rdf:Bag><rdf:li>", "</rdf:li></rdf:Bag>"),
    ("xmp:CreateDate", "", ""),
    ("xmp:ModifyDate", "", ""),
    ("xmp:MetadataDate", "", ""),
    ("xmp:CreatorTool", "", ""),
    ("pdf:Producer", "", ""),
    ("pdf:Keywords", "", ""),
    ("xmpMM:DocumentID", "", ""),
];
const ALTERNATIVE: &str = "<rdf:Alt><rdf:li xml:lang=\"x-default\">";
const ALTERNATIVE_END: &str = "</rdf:li></rdf:Alt>";

/// Writes the properties for which `text` returns a value, in the order of [`PROPERTIES`].
pub(crate) fn write_packet(text: impl Fn(&str) -> Option<String>) -> String {
    let mut packet = START.to_owned();
    for (name, before, after) in PROPERTIES {
        if let Some(text) = text(name) {
            let text = escape(&text);
            // Writing to a string does not fail.
            let _ = writeln!(packet, "<{name}>{before}{text}{after}</{name}>");
        }
    }
    packet + END
}

/// Returns the properties of a packet, in its order; `None` if the packet is not as Platen writes it.
pub(crate) fn read_packet(packet: &[u8]) -> Option<Vec<(&'static str, String)>> {
    let lines = std::str::from_utf8(packet)
        .ok()?
        .strip_prefix(START)?
        .strip_suffix(END)?;
    lines.split_terminator('\n').map(read_property).collect()
}

fn read_property(line: &str) -> Option<(&'static str, String)> {
    let (name, rest) = line.strip_prefix('<')?.split_once('>')?;
    let (name, before, after) = PROPERTIES.into_iter().find(|(known, ..)| *known == name)?;
    let text = rest.strip_suffix('>')?.strip_suffix(name)?.strip_suffix("</")?;
    let text = text.strip_prefix(before)?.strip_suffix(after)?;
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    // Any other text contains markup.
    (escape(&plain) == text).then_some((name, plain))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let text = |name: &str| match name {
            "dc:title" => Some("a < b &amp; c".to_owned()),
            "pdf:Producer" => Some("Größe".to_owned()),
            _ => None,
        };
        let packet = write_packet(text);
        let expected = [
            ("dc:title", "a < b &amp; c".to_owned()),
            ("pdf:Producer", "Größe".to_owned()),
        ];
        assert_eq!(read_packet(packet.as_bytes()), Some(expected.to_vec()));
        for (from, to) in [
            ("&lt;", "<"),
            ("&lt;", "&"),
            ("&lt;", "&quot;"),
            ("&lt;", "<b/>"),
            ("pdf:Producer>", "pdf:Trapped>"),
            ("\u{FEFF}", ""),
            ("x-default", "en"),
            ("</rdf:Description>", "<dc:format/></rdf:Description>"),
        ] {
            assert_eq!(read_packet(packet.replace(from, to).as_bytes()), None, "{from} → {to}");
        }
    }
}
