//! Where text that belongs to no element is read.

use super::*;
use crate::object::Stream;

const LINKS: &[u8] = include_bytes!("../../../tests/fixtures/links.pdf");

/// A document of one page with a structure tree.
struct Page {
    document: Document<'static>,
    number: ObjectNumber,
    root: ObjectNumber,
    owners: Vec<ObjectNumber>,
    form: ObjectNumber,
}

impl Page {
    /// Adds a page with this content and structure, in the notation of [`Self::outline`]. `/X1` is a form with this
    /// content.
    fn new(structure: &str, content: &str, form: &str) -> Self {
        let mut document = Document::open(&[LINKS]).expect("valid");
        let stream = |content: &str| Stream::plain(Dictionary::default(), content.as_bytes().to_vec());
        let contents = document.add(Object::Stream(stream(content)));
        let mut form = stream(form);
        form.dictionary.set("Subtype", Object::name("Form"));
        let form = document.add(Object::Stream(form));
        let objects = Dictionary::new([("X1", Object::Reference(form))]);
        let resources = Dictionary::new([("XObject", Object::Dictionary(objects))]);
        let number = document.add(Object::Dictionary(Dictionary::new([
            ("Contents", Object::Reference(contents)),
            ("Resources", Object::Dictionary(resources)),
            ("StructParents", Object::Integer(0)),
        ])));
        let root = document.add(Object::Null);
        let mut page = Self {
            document,
            number,
            root,
            owners: Vec::new(),
            form,
        };
        let (element, _) = page.add(structure, root);
        let owners = page.owners.iter().map(|owner| Object::Reference(*owner)).collect();
        let parents = Dictionary::new([(
            "Nums",
            [Object::Integer(0), Object::Array(owners)].into_iter().collect(),
        )]);
        let tree = Dictionary::new([
            ("K", Object::Reference(element)),
            ("ParentTree", Object::Dictionary(parents)),
        ]);
        page.document.set(root, Object::Dictionary(tree));
        let set_tree = |catalog: &mut Dictionary| catalog.set("StructTreeRoot", Object::Reference(root));
        page.document.change_catalog(set_tree).expect("a catalog");
        page
    }

    /// Adds the element with which a structure begins, and returns its number and the rest. Content is numbered in
    /// the order of the structure.
    fn add<'s>(&mut self, structure: &'s str, parent: ObjectNumber) -> (ObjectNumber, &'s str) {
        let (kind, mut rest) = structure.split_once('(').expect("an element");
        let number = self.document.add(Object::Null);
        let mut kids = Vec::new();
        loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix(')') {
                rest = after;
                break;
            }
            let digits = rest.find(|character: char| !character.is_ascii_digit());
            if let Some(length) = digits.filter(|length| *length > 0) {
                let identifier: usize = rest[..length].parse().expect("a number");
                self.owners.resize(self.owners.len().max(identifier + 1), number);
                self.owners[identifier] = number;
                kids.push(Object::count(identifier));
                rest = &rest[length..];
            } else {
                let (element, after) = self.add(rest, number);
                kids.push(Object::Reference(element));
                rest = after;
            }
        }
        let element = Dictionary::new([
            ("S", Object::Name(kind.as_bytes().to_vec().into())),
            ("P", Object::Reference(parent)),
            ("Pg", Object::Reference(self.number)),
            ("K", Object::Array(kids)),
        ]);
        self.document.set(number, Object::Dictionary(element));
        (number, rest)
    }

    fn tag(&mut self, streams: &[(ObjectNumber, ObjectNumber)]) {
        let mut structure = StructureTree::of(&self.document).expect("valid").expect("a tree");
        let streams = streams.iter().copied().collect();
        tag_loose_text(&mut self.document, &mut structure, &[self.number], &streams).expect("valid");
        structure.finish(&mut self.document).expect("valid");
    }

    /// Returns the structure with content by its identifier, in braces that of the form. Checks the parent tree.
    fn outline(&self) -> String {
        let tree = self.document.get_dictionary(self.root, "a tree").expect("a tree");
        self.outline_of(tree.reference("K").expect("an element"))
    }

    fn outline_of(&self, number: ObjectNumber) -> String {
        let element = self.document.get_dictionary(number, "an element").expect("an element");
        let Some(Object::Name(kind)) = element.get("S") else {
            panic!("{element:?}")
        };
        let kids = element.items("K").iter().map(|kid| match kid {
            Object::Reference(element) => self.outline_of(*element),
            Object::Dictionary(reference) => {
                let identifier = reference.get("MCID").and_then(Object::as_integer).expect("content");
                assert_eq!(reference.reference("Stm"), Some(self.form));
                assert_eq!(self.owner(self.form, identifier), number);
                format!("{{{identifier}}}")
            }
            content => {
                let identifier = content.as_integer().expect("content");
                assert_eq!(self.owner(self.number, identifier), number);
                identifier.to_string()
            }
        });
        let kids: Vec<String> = kids.collect();
        format!("{}({})", String::from_utf8_lossy(kind), kids.join(" "))
    }

    /// Returns the element of content according to the parent tree.
    fn owner(&self, stream: ObjectNumber, identifier: i64) -> ObjectNumber {
        let stream = self.document.get_dictionary(stream, "a page or form").expect("one");
        let key = stream.get("StructParents").and_then(Object::as_integer).expect("a key");
        let mut structure = StructureTree::of(&self.document).expect("valid").expect("a tree");
        let owners = structure.owners(&self.document, key).expect("valid");
        owners[identifier as usize].as_reference().expect("an element")
    }
}

/// Tags the text of a page, and returns its structure.
fn tagged(structure: &str, content: &[String]) -> String {
    let mut page = Page::new(structure, &content.concat(), "");
    page.tag(&[(page.number, page.number)]);
    page.outline()
}

fn text(left: usize, height: usize) -> String {
    format!("BT /F1 10 Tf 1 0 0 1 {left} {height} Tm (?) Tj ET ")
}

fn content(identifier: usize, left: usize, height: usize) -> String {
    format!("/P <</MCID {identifier} >>BDC {}EMC ", text(left, height))
}

/// Content of an element that is a rectangle, 100 points wide and 30 high.
fn rectangle(identifier: usize, left: usize, bottom: usize) -> String {
    format!("/P <</MCID {identifier} >>BDC {left} {bottom} 100 30 re S EMC ")
}

#[test]
fn text_is_read_between_what_is_above_and_below() {
    let page = [
        content(0, 5, 90),
        text(5, 70),
        text(30, 70),
        text(5, 50),
        content(1, 5, 30),
    ];
    assert_eq!(tagged("Document(P(0) P(1))", &page), "Document(P(0) P(2 3) P(4) P(1))");
    assert_eq!(tagged("Document(P(0 1))", &page), "Document(P(0 Span(2 3) Span(4) 1))");
    assert_eq!(
        tagged("Document(Part(P(0)) Part(P(1)))", &page),
        "Document(Part(P(0) P(2 3) P(4)) Part(P(1)))"
    );
}

#[test]
fn text_in_a_box_is_part_of_it() {
    let page = [rectangle(0, 5, 50), text(10, 60), content(1, 5, 20)];
    for (structure, expected) in [
        ("Document(NonStruct(0) P(1))", "Document(NonStruct(0 P(2)) P(1))"),
        ("Document(Form(0) P(1))", "Document(Form(0 Span(2)) P(1))"),
        ("Table(TR(TD(0) TD(1)))", "Table(TR(TD(0 P(2)) TD(1)))"),
        // The alternative text of a picture is read instead of what it contains.
        ("Document(Figure(0) P(1))", "Document(Figure(0) P(2) P(1))"),
        // It is doubtful which item it is in.
        ("L(0 LI(LBody(1)))", "L(0 LI(LBody(1)))"),
    ] {
        assert_eq!(tagged(structure, &page), expected);
    }
}

#[test]
fn text_is_read_with_its_line() {
    // Numbers of list items that are painted before everything else.
    let page = [
        text(5, 70),
        text(5, 50),
        content(0, 5, 90),
        content(1, 20, 70),
        content(2, 20, 50),
    ];
    assert_eq!(
        tagged(
            "Document(P(0) L(LI(LBody(NonStruct(1))) LI(LBody(NonStruct(2)))))",
            &page
        ),
        "Document(P(0) L(LI(LBody(Span(3) NonStruct(1))) LI(LBody(Span(4) NonStruct(2)))))"
    );
    // A number at the right edge.
    let page = [text(90, 90), content(0, 5, 90), content(1, 5, 70)];
    assert_eq!(
        tagged("Document(H1(NonStruct(0)) P(1))", &page),
        "Document(H1(NonStruct(0) Span(2)) P(1))"
    );
}

#[test]
fn text_whose_place_is_doubtful_is_left() {
    let float = [text(5, 50), content(0, 5, 90), content(1, 5, 30)];
    let above = [content(0, 5, 50), text(0, 90), content(1, 5, 30)];
    let between_columns = [text(50, 70), content(0, 5, 90), content(1, 5, 70), content(2, 90, 70)];
    let between_cells = [content(0, 5, 90), text(20, 90), content(1, 90, 90)];
    let turned = [
        content(0, 5, 90),
        "BT /F1 10 Tf 0 1 -1 0 5 60 Tm (?) Tj ET ".to_owned(),
        content(1, 5, 30),
    ];
    for (structure, page) in [
        ("Document(P(0) P(1))", &float[..]),
        ("Document(P(0) P(1))", &above),
        ("Document(P(0) P(1) P(2))", &between_columns),
        ("Table(TR(TD(0) TD(1)))", &between_cells),
        ("Document(P(0) P(1))", &turned),
    ] {
        assert_eq!(tagged(structure, page), structure, "{page:?}");
    }
}

#[test]
fn a_stamp_below_the_page_is_read_first() {
    let stamp = "q .7 .7 -.7 .7 0 0 cm BT /F1 10 Tf 1 0 0 1 50 20 Tm (?) Tj ET Q ".to_owned();
    assert_eq!(
        tagged("Document(H1(0) P(1))", &[stamp, content(0, 5, 90), content(1, 5, 70)]),
        "Document(P(2) H1(0) P(1))"
    );
}

#[test]
fn text_in_a_form_is_marked_there() {
    let page = [content(0, 5, 90), "/X1 Do ".to_owned(), content(1, 5, 30)].concat();
    let mut page = Page::new("Document(P(0) P(1))", &page, &[text(5, 60), text(5, 40)].concat());
    page.tag(&[(page.form, page.number)]);
    assert_eq!(page.outline(), "Document(P(0) P({0}) P({1}) P(1))");
    let Object::Stream(form) = page.document.get(page.form).expect("valid") else {
        panic!("no form")
    };
    let mut content = Vec::new();
    StreamReader::default().read(&form, &mut content).expect("readable");
    let content = String::from_utf8(content).expect("ASCII");
    assert!(content.starts_with("/P <</MCID 0 >>BDC\nBT"), "{content}");
}

#[test]
fn texts_and_elements_of_any_number_are_read_once() {
    const COUNT: usize = 20_000;
    let paragraphs: Vec<String> = (0..COUNT).map(|identifier| format!("P({identifier})")).collect();
    let paragraphs = paragraphs.concat();
    let content: String = (0..COUNT)
        .map(|index| content(index, 5, 40 * (COUNT - index)) + &text(5, 40 * (COUNT - index) - 20))
        .collect();
    let mut page = Page::new(&format!("Document({paragraphs})"), &content, "");
    page.tag(&[(page.number, page.number)]);
    let tree = page.document.get_dictionary(page.root, "a tree").expect("a tree");
    let element = tree.reference("K").expect("an element");
    let element = page.document.get_dictionary(element, "an element").expect("an element");
    assert_eq!(element.items("K").len(), 2 * COUNT);
}
