//! Document information and XMP, which say the same (ISO 19005-2, 6.6.2).

use std::fmt::Write as _;

use time::OffsetDateTime;

use super::warnings::Warnings;
use crate::document::Document;
use crate::object::{Dictionary, Object, Stream};
use crate::text::{MAX_STRING, clean, encode, fit};
use crate::{OutputFormat, PageFacts, PdfError};

const CREATOR: &str = "Chromium";
const PRODUCER: &str = "Platen";

const PACKET_START: &str = "<?xpacket begin=\"\u{FEFF}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>
<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">
<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">
<rdf:Description rdf:about=\"\" xmlns:pdfaid=\"http://www.aiim.org/pdfa/ns/id/\" \
xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" \
xmlns:pdf=\"http://ns.adobe.com/pdf/1.3/\" xmlns:xmpMM=\"http://ns.adobe.com/xap/1.0/mm/\">
";
const PACKET_END: &str = "</rdf:Description>
</rdf:RDF>
</x:xmpmeta>
<?xpacket end=\"r\"?>";

/// What a document says about itself, cleaned and cut to what a string holds.
#[derive(Debug)]
pub(super) struct Metadata {
    pub(super) title: Option<String>,
    pub(super) author: Option<String>,
    pub(super) subject: Option<String>,
    pub(super) keywords: Option<String>,
    /// A valid language tag.
    pub(super) language: Option<String>,
    /// Creation and last change, UTC, whole seconds.
    pub(super) instant: OffsetDateTime,
    /// The file identifier (ISO 32000-1, 14.4).
    pub(super) identifier: [u8; 16],
}

impl Metadata {
    pub(super) fn new(
        facts: &PageFacts,
        language: Option<String>,
        instant: OffsetDateTime,
        identifier: [u8; 16],
        warnings: &mut Warnings,
    ) -> Self {
        let mut fitted = |what: &str, text: Option<&String>| {
            let text = clean(text?)?;
            let fitting = fit(&text);
            if fitting.len() < text.len() {
                let message = format!("The {what} was cut to {MAX_STRING} bytes, the most that a PDF string holds.");
                warnings.add("text_shortened", message);
            }
            Some(fitting.to_owned())
        };
        Self {
            title: fitted("title", facts.title.as_ref()),
            author: fitted("author", facts.author.as_ref()),
            subject: fitted("description", facts.description.as_ref()),
            keywords: fitted("list of keywords", facts.keywords.as_ref()),
            language,
            // Both the zone and the fraction go: XMP and the document information must mean the same instant.
            instant: OffsetDateTime::from_unix_timestamp(instant.unix_timestamp())
                .unwrap_or(OffsetDateTime::UNIX_EPOCH),
            identifier,
        }
    }

    /// Puts the XMP stream under the catalog and gives the document information for the trailer.
    pub(super) fn write<'a>(
        &self,
        document: &mut Document<'a>,
        format: OutputFormat,
    ) -> Result<Dictionary<'a>, PdfError> {
        let root = document.root()?;
        let mut catalog = document.get_dictionary(root, "a catalog expected")?;
        // Not compressed: programs that don't read PDF find it (ISO 19005-2, 6.6.2.1).
        let kind = Dictionary::new([("Type", Object::name("Metadata")), ("Subtype", Object::name("XML"))]);
        let packet = Stream::plain(kind, self.packet(format).into_bytes());
        catalog.set("Metadata", Object::Reference(document.add(Object::Stream(packet))));
        document.set(root, Object::Dictionary(catalog));
        Ok(self.information())
    }

    fn information<'a>(&self) -> Dictionary<'a> {
        let mut information = Dictionary::default();
        let texts = [
            ("Title", self.title.as_deref()),
            ("Author", self.author.as_deref()),
            ("Subject", self.subject.as_deref()),
            ("Keywords", self.keywords.as_deref()),
            ("Creator", Some(CREATOR)),
            ("Producer", Some(PRODUCER)),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                information.set(key, Object::String(encode(text).into()));
            }
        }
        let at = self.instant;
        let (date, (hour, minute, second)) = (at.date(), at.to_hms());
        let date = format!(
            "D:{:04}{:02}{:02}{hour:02}{minute:02}{second:02}+00'00'",
            date.year(),
            u8::from(date.month()),
            date.day()
        );
        for key in ["CreationDate", "ModDate"] {
            information.set(key, Object::String(date.clone().into_bytes().into()));
        }
        information
    }

    fn packet(&self, format: OutputFormat) -> String {
        let mut packet = PACKET_START.to_owned();
        if format == OutputFormat::PdfA2b {
            packet += "<pdfaid:part>2</pdfaid:part>\n<pdfaid:conformance>B</pdfaid:conformance>\n";
        }
        packet += "<dc:format>application/pdf</dc:format>\n";
        let mut add = |name: &str, before: &str, text: Option<&str>, after: &str| {
            if let Some(text) = text {
                let text = escape(text);
                // Writing to a string does not fail.
                let _ = writeln!(packet, "<{name}>{before}{text}{after}</{name}>");
            }
        };
        let (alternative, alternative_end) = ("<rdf:Alt><rdf:li xml:lang=\"x-default\">", "</rdf:li></rdf:Alt>");
        add("dc:title", alternative, self.title.as_deref(), alternative_end);
        add(
            "dc:creator",
            "<rdf:Seq><rdf:li>",
            self.author.as_deref(),
            "</rdf:li></rdf:Seq>",
        );
        add("dc:description", alternative, self.subject.as_deref(), alternative_end);
        add(
            "dc:language",
            "<rdf:Bag><rdf:li>",
            self.language.as_deref(),
            "</rdf:li></rdf:Bag>",
        );
        let at = self.instant;
        let (date, (hour, minute, second)) = (at.date(), at.to_hms());
        let date = format!(
            "{:04}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z",
            date.year(),
            u8::from(date.month()),
            date.day()
        );
        for name in ["xmp:CreateDate", "xmp:ModifyDate", "xmp:MetadataDate"] {
            add(name, "", Some(&date), "");
        }
        add("xmp:CreatorTool", "", Some(CREATOR), "");
        add("pdf:Producer", "", Some(PRODUCER), "");
        add("pdf:Keywords", "", self.keywords.as_deref(), "");
        add("xmpMM:DocumentID", "uuid:", Some(&self.uuid()), "");
        packet + PACKET_END
    }

    fn uuid(&self) -> String {
        let digits = format!("{:032x}", u128::from_be_bytes(self.identifier));
        [
            &digits[..8],
            &digits[8..12],
            &digits[12..16],
            &digits[16..20],
            &digits[20..],
        ]
        .join("-")
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
