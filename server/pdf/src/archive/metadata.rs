//! Document information and XMP, which must agree (ISO 19005-2, 6.6.2).

use time::OffsetDateTime;

use super::warnings::Warnings;
use crate::check::standards::Conformance;
use crate::document::Document;
use crate::object::{Dictionary, Object, Stream};
use crate::text::{MAX_STRING, clean, encode, fit, information_date};
use crate::xmp::write_packet;
use crate::{PageFacts, PdfError};

const CREATOR: &str = "Chromium";
const PRODUCER: &str = "Platen";

/// Metadata of a document, cleaned and cut to the length of a PDF string.
#[derive(Debug, Clone)]
pub(crate) struct Metadata {
    pub(crate) title: Option<String>,
    pub(super) author: Option<String>,
    pub(super) subject: Option<String>,
    pub(super) keywords: Option<String>,
    /// A valid language tag.
    pub(super) language: Option<String>,
    /// Creation and modification date, in UTC and whole seconds.
    pub(super) instant: OffsetDateTime,
    /// The file identifier (ISO 32000-1, 14.4).
    pub(crate) identifier: [u8; 16],
}

impl Metadata {
    pub(crate) fn new(
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
            // Zone and fraction are dropped, because XMP and the document information must denote the same instant.
            instant: OffsetDateTime::from_unix_timestamp(instant.unix_timestamp())
                .unwrap_or(OffsetDateTime::UNIX_EPOCH),
            identifier,
        }
    }

    /// Adds an XMP stream with this packet to the catalog and returns the document information for the trailer.
    pub(super) fn write<'a>(&self, document: &mut Document<'a>, packet: &str) -> Result<Dictionary<'a>, PdfError> {
        let packet = document.add(metadata_stream(packet));
        document.change_catalog(|catalog| catalog.set("Metadata", Object::Reference(packet)))?;
        Ok(self.information())
    }

    /// Returns the document information.
    pub(crate) fn information<'a>(&self) -> Dictionary<'a> {
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
        let date = information_date(self.instant);
        for key in ["CreationDate", "ModDate"] {
            information.set(key, Object::String(date.clone().into_bytes().into()));
        }
        information
    }

    /// Returns an XMP packet that declares the standards; none for plain PDF.
    pub(crate) fn packet(&self, declared: &[Conformance]) -> String {
        let level = declared.iter().find_map(|standard| match standard {
            Conformance::PdfA2b => Some("B"),
            Conformance::PdfA2u => Some("U"),
            Conformance::PdfA2a => Some("A"),
            Conformance::PdfUa1 => None,
        });
        write_packet(declared.contains(&Conformance::PdfUa1), |property| match property {
            "pdfaid:part" => level.map(|_| "2".to_owned()),
            "pdfaid:conformance" => level.map(ToOwned::to_owned),
            "dc:format" => Some("application/pdf".to_owned()),
            "dc:title" => self.title.clone(),
            "dc:creator" => self.author.clone(),
            "dc:description" => self.subject.clone(),
            "dc:language" => self.language.clone(),
            "xmp:CreateDate" | "xmp:ModifyDate" | "xmp:MetadataDate" => Some(packet_date(self.instant)),
            "xmp:CreatorTool" => Some(CREATOR.to_owned()),
            "pdf:Producer" => Some(PRODUCER.to_owned()),
            "pdf:Keywords" => self.keywords.clone(),
            "xmpMM:DocumentID" => Some(format!("uuid:{}", self.uuid())),
            _ => None,
        })
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

/// Returns the stream of an XMP packet. It is not compressed, so that programs that don't read PDF find it (ISO 19005-2,
/// 6.6.2.1).
pub(crate) fn metadata_stream(packet: &str) -> Object<'static> {
    let kind = Dictionary::new([("Type", Object::name("Metadata")), ("Subtype", Object::name("XML"))]);
    Object::Stream(Stream::plain(kind, packet.as_bytes().to_vec()))
}

/// Formats an instant, which must be in UTC, for XMP.
fn packet_date(at: OffsetDateTime) -> String {
    let (date, (hour, minute, second)) = (at.date(), at.to_hms());
    let (year, month, day) = (date.year(), u8::from(date.month()), date.day());
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}
