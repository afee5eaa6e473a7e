//! Structure elements that are merged with their only kid when they are written. Chromium wraps the text of each paragraph, heading
//! and cell in an element `NonStruct`. That is a grouping element, which may not have content, while paragraphs, headings and cells
//! may (ISO 32000-1, 14.8.4.1 to 14.8.4.3). In a long table, the wrappers are nearly half of all objects.

use memchr::{memchr_iter, memmem::Finder};

use crate::PdfError;
use crate::concurrency::concurrently;
use crate::document::Document;
use crate::file::parse_digits;
use crate::object::ObjectNumber;
use crate::part::Part;
use crate::write::{write_number, write_reference};

/// The beginning of a structure element after its number, up to its type.
const ELEMENT: &[u8] = b" 0 obj\n<</Type /StructElem\n/S /";
const END: &[u8] = b">>\nendobj";
/// Types of elements that may have content (ISO 32000-1, 14.8.4.3 and 14.8.4.4).
const TYPES_WITH_CONTENT: [&[u8]; 14] = [
    b"P", b"H", b"H1", b"H2", b"H3", b"H4", b"H5", b"H6", b"Lbl", b"LBody", b"TH", b"TD", b"Span", b"Code",
];
/// The last attributes of a cell that spans one row and one column, which are defaults (ISO 32000-1, 14.8.5.7).
const DEFAULT_SPANS: &[u8] = b"<</O /Table\n/RowSpan 1>> <</O /Table\n/ColSpan 1>>]";
/// Number of wrappers from which half of them are read on another thread.
const MANY_WRAPPERS: usize = 2_048;
/// Most digits of a number in a wrapper.
const MOST_DIGITS: usize = 9;

/// Returns whether an object, from its number to `endobj`, is an element as Chromium writes it that has nothing but content. All its
/// values are within the limits of PDF/A.
pub(crate) fn is_wrapper(object: &[u8]) -> bool {
    Wrapper::read(object).is_some()
}

/// An element with the content of its only kid.
#[derive(Debug)]
pub(crate) struct MergedElement<'a> {
    /// The document-wide number of the element.
    pub(crate) number: ObjectNumber,
    /// That of the kid, which is not written.
    pub(crate) kid: ObjectNumber,
    holder: Holder<'a>,
    wrapper: Wrapper<'a>,
}

impl<'a> MergedElement<'a> {
    /// Returns the elements that are merged with one of the `wrappers`, in the order of their numbers. Both must be as Chromium has
    /// written them.
    pub(crate) fn list(document: &Document<'a>, wrappers: &[ObjectNumber]) -> Vec<Self> {
        let finders = Finders::default();
        let read = |kids: &[ObjectNumber]| -> Vec<Self> {
            let mut elements = Vec::with_capacity(kids.len());
            elements.extend(kids.iter().filter_map(|kid| Self::read(document, *kid, &finders)));
            elements
        };
        let (first, second) = wrappers.split_at(wrappers.len() / 2);
        let mut merged = if wrappers.len() < MANY_WRAPPERS {
            read(wrappers)
        } else {
            let (mut second, mut first) = concurrently(|| read(second), || read(first));
            first.append(&mut second);
            first
        };
        merged.sort_unstable_by_key(|element| element.number);
        merged.dedup_by_key(|element| element.number);
        merged
    }

    /// Reads the element that is merged with a kid; `None` if there is none.
    fn read(document: &Document<'a>, kid: ObjectNumber, finders: &Finders) -> Option<Self> {
        let wrapper = Wrapper::read(document.original_bytes(kid)?)?;
        let number = document.part_of(kid)?.document_number(wrapper.parent);
        // Objects that files share may be those of another one.
        (document.part_index(number) == document.part_index(kid)).then_some(())?;
        let holder = Holder::read(document.original_bytes(number)?, wrapper.number, finders)?;
        Some(Self {
            number,
            kid,
            holder,
            wrapper,
        })
    }

    /// Writes the element, which is in `part`, from its number to the line end after `endobj`. `number_of` returns the number to write
    /// for a document-wide one, or 0 if there is no such object.
    pub(crate) fn write(
        &self,
        part: &Part,
        output: &mut Vec<u8>,
        number_of: &impl Fn(ObjectNumber) -> ObjectNumber,
    ) -> Result<(), PdfError> {
        let Self {
            number,
            holder,
            wrapper,
            ..
        } = self;
        write_number(output, number_of(*number));
        output.extend_from_slice(ELEMENT);
        output.extend_from_slice(holder.structure_type);
        for (key, reference) in [("\n/P ", holder.parent), ("\n/Pg ", wrapper.page)] {
            output.extend_from_slice(key.as_bytes());
            write_reference(output, number_of(part.document_number(reference)));
        }
        output.extend_from_slice(b"\n/K ");
        for text in [wrapper.kids, holder.others, holder.end] {
            // Most texts mention nothing that has another number or name.
            if part.renames_identifiers() || has_reference(text) {
                let rest = part.translate_text(text, 0, output, number_of)?;
                output.extend_from_slice(rest);
            } else {
                output.extend_from_slice(text);
            }
        }
        output.push(b'\n');
        Ok(())
    }
}

/// An element that has nothing but content. All numbers of objects are those of the file.
#[derive(Debug)]
struct Wrapper<'o> {
    number: ObjectNumber,
    parent: ObjectNumber,
    page: ObjectNumber,
    /// The value of `/K`.
    kids: &'o [u8],
}

impl<'o> Wrapper<'o> {
    fn read(object: &'o [u8]) -> Option<Self> {
        let (number, rest) = digits(object)?;
        let (parent, rest) = reference(rest.strip_prefix(ELEMENT)?.strip_prefix(b"NonStruct\n/P ")?)?;
        let (page, rest) = reference(rest.strip_prefix(b"\n/Pg ")?)?;
        let kids = rest.strip_prefix(b"\n/K ")?.strip_suffix(END)?;
        check_kids(kids)?;
        Some(Self {
            number,
            parent,
            page,
            kids,
        })
    }
}

/// Search strings, prepared once for all elements.
struct Finders {
    spans: Finder<'static>,
    page: Finder<'static>,
}

impl Default for Finders {
    fn default() -> Self {
        Self {
            spans: Finder::new(DEFAULT_SPANS),
            page: Finder::new(b"/Pg "),
        }
    }
}

/// An element that may have content, and has one kid.
#[derive(Debug)]
struct Holder<'o> {
    structure_type: &'o [u8],
    /// Its parent's number in its file.
    parent: ObjectNumber,
    /// The entries after `/K`, without spans that are defaults, and the rest of the object.
    others: &'o [u8],
    end: &'o [u8],
}

impl<'o> Holder<'o> {
    /// Reads the element. `kid` is the number of its kid in the file. Returns `None` if it is any other element.
    fn read(object: &'o [u8], kid: ObjectNumber, finders: &Finders) -> Option<Self> {
        let (_, rest) = digits(object)?;
        let rest = rest.strip_prefix(ELEMENT)?;
        let (structure_type, rest) = TYPES_WITH_CONTENT
            .iter()
            .find_map(|name| Some((*name, rest.strip_prefix(*name)?.strip_prefix(b"\n/P ")?)))?;
        let (parent, rest) = reference(rest)?;
        let (found, rest) = reference(rest.strip_prefix(b"\n/K ")?)?;
        // The page of the content is added.
        let is_mergeable =
            found == kid && (rest == END || rest.starts_with(b"\n/")) && finders.page.find(rest).is_none();
        is_mergeable.then_some(())?;
        let (others, end) = without_default_spans(rest, &finders.spans).unwrap_or((rest, b""));
        Some(Self {
            structure_type,
            parent,
            others,
            end,
        })
    }
}

/// Returns the text before and after spans that are defaults; `None` if there are none.
fn without_default_spans<'o>(text: &'o [u8], spans: &Finder) -> Option<(&'o [u8], &'o [u8])> {
    let last = text
        .strip_suffix(END)
        .and_then(|entries| entries.strip_suffix(DEFAULT_SPANS));
    let at = last.map(<[u8]>::len).or_else(|| spans.find(text));
    let (before, found) = text.split_at(at?);
    let after = &found[DEFAULT_SPANS.len()..];
    // With other attributes, the array remains.
    let others = before
        .strip_suffix(b" ")
        .map(|others| (others, &found[DEFAULT_SPANS.len() - 1..]));
    others.or_else(|| Some((before.strip_suffix(b"\n/A [")?, after)))
}

/// Checks the value of `/K`: marked-content identifiers, marked-content references (ISO 32000-1, 14.7.4.2), or both.
fn check_kids(kids: &[u8]) -> Option<()> {
    let Some(kids) = kids.strip_prefix(b"[") else {
        let (_, rest) = digits(kids)?;
        return rest.is_empty().then_some(());
    };
    let mut rest = kids.strip_suffix(b"]")?;
    loop {
        rest = if let Some(page) = rest.strip_prefix(b"<</Type /MCR\n/Pg ") {
            let (_, rest) = reference(page)?;
            let (_, rest) = digits(rest.strip_prefix(b"\n/MCID ")?)?;
            rest.strip_prefix(b">>")?
        } else {
            digits(rest)?.1
        };
        if rest.is_empty() {
            return Some(());
        }
        rest = rest.strip_prefix(b" ")?;
    }
}

/// Returns whether a text may contain a reference.
fn has_reference(text: &[u8]) -> bool {
    memchr_iter(b'R', text).any(|at| text[..at].ends_with(b" 0 "))
}

/// Splits a reference from the text after it.
fn reference(text: &[u8]) -> Option<(ObjectNumber, &[u8])> {
    let (number, rest) = digits(text)?;
    Some((number, rest.strip_prefix(b" 0 R")?))
}

/// Splits the number at the beginning of a text from the rest.
fn digits(text: &[u8]) -> Option<(u32, &[u8])> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = text.split_at_checked(length).filter(|_| length <= MOST_DIGITS)?;
    Some((u32::try_from(parse_digits(number)?).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{Dictionary, Object};
    use crate::written_file::tests::file;
    use crate::written_file::{MANY_OBJECTS, write_document};

    /// Writes a document with everything merged that can be, and returns its objects.
    fn merged(document: Document) -> Vec<String> {
        let is_element = |number: &ObjectNumber| document.object_bytes(*number).is_some_and(is_wrapper);
        let wrappers: Vec<ObjectNumber> = (1..document.size()).filter(is_element).collect();
        let elements = MergedElement::list(&document, &wrappers);
        let trailer = Dictionary::new([("Root", Object::Reference(document.root().expect("a catalog")))]);
        let written = write_document(document, &elements, trailer).expect("a document that can be written");
        let objects = written
            .objects()
            .map(|object| String::from_utf8_lossy(object).into_owned());
        objects.collect()
    }

    const ROOT: &str = "<</Type /Catalog\n/StructTreeRoot [3 0 R 5 0 R]>>";
    const PAGE: &str = "<</Type /Page>>";
    const PARAGRAPH: &str = "<</Type /StructElem\n/S /P\n/P 1 0 R\n/K 4 0 R>>";
    const TEXT: &str = "<</Type /StructElem\n/S /NonStruct\n/P 3 0 R\n/Pg 2 0 R\n/K 7>>";

    #[test]
    fn wrappers_give_their_content_to_their_parents() {
        let cell = "<</Type /StructElem\n/S /TD\n/P 1 0 R\n/K 6 0 R\n/A [<</O /Table\n/Headers [(a)]>> \
            <</O /Table\n/RowSpan 1>> <</O /Table\n/ColSpan 1>>]\n/ID (b)>>";
        let repeated =
            "<</Type /StructElem\n/S /NonStruct\n/P 5 0 R\n/Pg 2 0 R\n/K [8 <</Type /MCR\n/Pg 2 0 R\n/MCID 9>> 10]>>";
        let wide = "<</Type /StructElem\n/S /TH\n/P 1 0 R\n/K 8 0 R\n/A [<</O /Table\n/RowSpan 1>> <</O /Table\n/ColSpan 2>>]>>";
        let plain = "<</Type /StructElem\n/S /TD\n/P 1 0 R\n/K 10 0 R\n/A [<</O /Table\n/RowSpan 1>> <</O /Table\n/ColSpan 1>>]>>";
        let text = |parent| TEXT.replace("/P 3", &format!("/P {parent}"));
        let (of_wide, of_plain) = (text(7), text(9));
        let objects = [
            ROOT,
            PAGE,
            PARAGRAPH,
            TEXT,
            cell,
            repeated,
            wide,
            &of_wide,
            plain,
            &of_plain,
            "[4 0 R 6 0 R 8 0 R 10 0 R]",
        ];
        let bytes = file(&objects);
        let written = merged(Document::open(&[&bytes]).expect("valid"));
        assert_eq!(
            written,
            [
                "1 0 obj\n<</Type /Catalog\n/StructTreeRoot [3 0 R 4 0 R]>>\nendobj\n",
                "2 0 obj\n<</Type /Page>>\nendobj\n",
                "3 0 obj\n<</Type /StructElem\n/S /P\n/P 1 0 R\n/Pg 2 0 R\n/K 7>>\nendobj\n",
                "4 0 obj\n<</Type /StructElem\n/S /TD\n/P 1 0 R\n/Pg 2 0 R\n/K [8 <</Type /MCR\n/Pg 2 0 R\n/MCID 9>> 10]\n\
                    /A [<</O /Table\n/Headers [(a)]>>]\n/ID (b)>>\nendobj\n",
                "5 0 obj\n<</Type /StructElem\n/S /TH\n/P 1 0 R\n/Pg 2 0 R\n/K 7\n\
                    /A [<</O /Table\n/RowSpan 1>> <</O /Table\n/ColSpan 2>>]>>\nendobj\n",
                "6 0 obj\n<</Type /StructElem\n/S /TD\n/P 1 0 R\n/Pg 2 0 R\n/K 7>>\nendobj\n",
                "7 0 obj\n[3 0 R 4 0 R 5 0 R 6 0 R]\nendobj\n",
            ]
        );
        // Files of a document have numbers and identifiers of their own.
        let mut joined = Document::open(&[&bytes, &bytes]).expect("valid");
        joined.parts_mut()[1].identifier_prefix = "2-".into();
        let second = &merged(joined)[7..];
        assert_eq!(
            second[2],
            "10 0 obj\n<</Type /StructElem\n/S /P\n/P 8 0 R\n/Pg 9 0 R\n/K 7>>\nendobj\n"
        );
        assert!(second[3].contains("/K [8 <</Type /MCR\n/Pg 9 0 R\n/MCID 9>> 10]\n"));
        assert!(second[3].ends_with("/A [<</O /Table\n/Headers [(2-a)]>>]\n/ID (2-b)>>\nendobj\n"));
        assert_eq!(second[6], "14 0 obj\n[10 0 R 11 0 R 12 0 R 13 0 R]\nendobj\n");
    }

    #[test]
    fn elements_are_merged_in_both_halves_of_many_objects() {
        let mut objects = vec![PAGE.to_owned(); 2 * MANY_OBJECTS as usize];
        objects[0] = ROOT.to_owned();
        for number in [3, MANY_OBJECTS, 2 * MANY_OBJECTS - 1] {
            let kid = number + 1;
            objects[number as usize - 1] = PARAGRAPH.replace("/K 4", &format!("/K {kid}"));
            objects[kid as usize - 1] = TEXT.replace("/P 3", &format!("/P {number}"));
        }
        let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
        let bytes = file(&objects);
        let written = merged(Document::open(&[&bytes]).expect("valid"));
        assert_eq!(written.len(), objects.len() - 3);
        for (index, text) in written.iter().enumerate() {
            let number = index + 1;
            let is_merged = [3, MANY_OBJECTS as usize - 1, 2 * MANY_OBJECTS as usize - 3].contains(&number);
            let expected = match number {
                1 => "<</Type /Catalog\n/StructTreeRoot [3 0 R 4 0 R]>>",
                _ if is_merged => "<</Type /StructElem\n/S /P\n/P 1 0 R\n/Pg 2 0 R\n/K 7>>",
                _ => PAGE,
            };
            assert_eq!(*text, format!("{number} 0 obj\n{expected}\nendobj\n"));
        }
    }

    #[test]
    fn other_elements_stay_as_they_are() {
        let unchanged = |paragraph: &str, text: &str| {
            let bytes = file(&[ROOT, PAGE, paragraph, text]);
            merged(Document::open(&[&bytes]).expect("valid")).len() == 4
        };
        assert!(!unchanged(PARAGRAPH, TEXT));
        for (from, to) in [
            ("/S /P\n", "/S /Div\n"),
            ("/S /P\n", "/S /NonStruct\n"),
            ("/S /P\n", "/S /P\n/Lang (de)\n"),
            ("/K 4 0 R", "/K [4 0 R]"),
            ("/K 4 0 R", "/K 5 0 R"),
            ("/K 4 0 R", "/K 4 0 R 5"),
            ("/K 4 0 R", "/K 4 0 R\n/Pg 2 0 R"),
        ] {
            assert!(
                PARAGRAPH.contains(from) && unchanged(&PARAGRAPH.replace(from, to), TEXT),
                "{to:?}"
            );
        }
        for (from, to) in [
            ("NonStruct", "Span"),
            ("/P 3", "/P 9"),
            ("/P 3", "/P 4"),
            ("/K 7", "/K 7 0 R"),
            ("/K 7", "/K [7 8 0 R]"),
            ("/K 7", "/K [7 <</Type /OBJR\n/Obj 2 0 R>>]"),
            ("/K 7", "/K []"),
            ("/K 7", "/K 7\n/ActualText (x)"),
            ("/K 7", "/K 1234567890"),
            ("/Pg 2 0 R\n", ""),
        ] {
            assert!(
                TEXT.contains(from) && unchanged(PARAGRAPH, &TEXT.replace(from, to)),
                "{to:?}"
            );
        }
    }

    #[test]
    fn changed_elements_are_not_merged() {
        let bytes = file(&[ROOT, PAGE, PARAGRAPH, TEXT]);
        for number in [3, 4] {
            let mut document = Document::open(&[&bytes]).expect("valid");
            let element = document.get(number).expect("an element");
            document.set(number, element);
            assert_eq!(merged(document).len(), 4);
            let mut document = Document::open(&[&bytes]).expect("valid");
            document.remove(number);
            assert_eq!(merged(document).len(), 3);
        }
    }
}
