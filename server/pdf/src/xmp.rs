//! XMP packets (ISO 16684-1) as Platen writes them: one property per line, from the schemas predefined by PDF/A.

use std::fmt::Write as _;

use crate::check::standards::Conformance;

const START: &str = "<?xpacket begin=\"\u{FEFF}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>
<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">
<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">
<rdf:Description rdf:about=\"\" xmlns:pdfaid=\"http://www.aiim.org/pdfa/ns/id/\" \
xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" \
xmlns:pdf=\"http://ns.adobe.com/pdf/1.3/\" xmlns:xmpMM=\"http://ns.adobe.com/xap/1.0/mm/\">
";
/// The declaration of PDF/UA-1 (ISO 14289-1, 5), and the description of its schema, which PDF/A requires of schemas that
/// it doesn't define (ISO 19005-2, 6.6.2.3.2).
const ACCESSIBLE: &str = "</rdf:Description>
<rdf:Description rdf:about=\"\" xmlns:pdfuaid=\"http://www.aiim.org/pdfua/ns/id/\">
<pdfuaid:part>1</pdfuaid:part>
</rdf:Description>
<rdf:Description rdf:about=\"\" xmlns:pdfaExtension=\"http://www.aiim.org/pdfa/ns/extension/\" \
xmlns:pdfaSchema=\"http://www.aiim.org/pdfa/ns/schema#\" \
xmlns:pdfaProperty=\"http://www.aiim.org/pdfa/ns/property#\">
<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType=\"Resource\">
<pdfaSchema:schema>PDF/UA identification schema</pdfaSchema:schema>
<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/</pdfaSchema:namespaceURI>
<pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>
<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType=\"Resource\">
<pdfaProperty:name>part</pdfaProperty:name>
<pdfaProperty:valueType>Integer</pdfaProperty:valueType>
<pdfaProperty:category>internal</pdfaProperty:category>
<pdfaProperty:description>Part of ISO 14289 that the file conforms to</pdfaProperty:description>
</rdf:li></rdf:Seq></pdfaSchema:property>
</rdf:li></rdf:Bag></pdfaExtension:schemas>
";
const END: &str = "</rdf:Description>
</rdf:RDF>
</x:xmpmeta>
";
const TRAILER: &str = "<?xpacket end=\"r\"?>";

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

/// A packet that was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    /// In the order of the packet.
    pub(crate) properties: Vec<(&'static str, String)>,
    /// Whether it declares PDF/UA-1.
    pub(crate) is_accessible: bool,
}

impl Packet {
    /// Returns the level of PDF/A that it declares.
    pub(crate) fn level(&self) -> Option<Conformance> {
        let text = |name| self.properties.iter().find(|(found, _)| *found == name);
        let [part, level] = ["pdfaid:part", "pdfaid:conformance"].map(|name| text(name).map(|(_, text)| text.as_str()));
        match (part?, level?) {
            ("2", "B") => Some(Conformance::PdfA2b),
            ("2", "U") => Some(Conformance::PdfA2u),
            ("2", "A") => Some(Conformance::PdfA2a),
            _ => None,
        }
    }
}

/// Writes the properties for which `text` returns a value, in the order of [`PROPERTIES`], and the declaration of
/// PDF/UA-1 if `is_accessible`.
pub(crate) fn write_packet(is_accessible: bool, text: impl Fn(&str) -> Option<String>) -> String {
    let mut packet = START.to_owned();
    for (name, before, after) in PROPERTIES {
        if let Some(text) = text(name) {
            let text = escape(&text);
            // Writing to a string does not fail.
            let _ = writeln!(packet, "<{name}>{before}{text}{after}</{name}>");
        }
    }
    if is_accessible {
        packet.push_str(ACCESSIBLE);
    }
    packet + END + TRAILER
}

/// Extends a packet to `length` bytes by spaces before its end (ISO 16684-1, 7.3.2), so that a longer packet can take
/// its place later. A longer packet remains as it is.
pub(crate) fn pad_packet(packet: &str, length: usize) -> String {
    let content = packet.strip_suffix(TRAILER).unwrap_or(packet);
    let padding = " ".repeat(length.saturating_sub(packet.len()));
    [content, &padding, TRAILER].concat()
}

/// Reads a packet; returns `None` if it is not as Platen writes it.
pub(crate) fn read_packet(packet: &[u8]) -> Option<Packet> {
    let packet = std::str::from_utf8(packet).ok()?.strip_prefix(START)?;
    let lines = packet.strip_suffix(TRAILER)?.trim_end_matches(' ').strip_suffix(END)?;
    let accessible = lines.strip_suffix(ACCESSIBLE);
    Some(Packet {
        properties: accessible
            .unwrap_or(lines)
            .split_terminator('\n')
            .map(read_property)
            .collect::<Option<_>>()?,
        is_accessible: accessible.is_some(),
    })
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
        let properties = [
            ("dc:title", "a < b &amp; c".to_owned()),
            ("pdf:Producer", "Größe".to_owned()),
        ];
        for is_accessible in [false, true] {
            let packet = write_packet(is_accessible, text);
            let expected = Packet {
                properties: properties.to_vec(),
                is_accessible,
            };
            assert_eq!(read_packet(packet.as_bytes()).as_ref(), Some(&expected));
            let padded = pad_packet(&packet, packet.len() + 30);
            assert_eq!(padded.len(), packet.len() + 30);
            assert_eq!(read_packet(padded.as_bytes()), Some(expected));
        }
        let packet = write_packet(true, text);
        for (from, to) in [
            ("&lt;", "<"),
            ("&lt;", "&"),
            ("&lt;", "&quot;"),
            ("&lt;", "<b/>"),
            ("pdf:Producer>", "pdf:Trapped>"),
            ("\u{FEFF}", ""),
            ("x-default", "en"),
            ("</rdf:Description>", "<dc:format/></rdf:Description>"),
            ("pdfuaid:part>1", "pdfuaid:part>2"),
            ("pdfaProperty:name>part", "pdfaProperty:name>amd"),
            ("</x:xmpmeta>\n", "</x:xmpmeta>\n<!-- -->"),
        ] {
            assert_eq!(read_packet(packet.replace(from, to).as_bytes()), None, "{from} → {to}");
        }
    }
}
