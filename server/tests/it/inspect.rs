//! `platen inspect`, on files from Platen and from other producers.

use serde_json::Value;

use crate::support::{
    command::{Answer, platen, run},
    folder,
};

const GRAPHICS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/pdf/tests/fixtures/graphics.pdf");

fn inspect(arguments: &[&str]) -> Answer {
    run(platen(), &[&["inspect"], arguments].concat(), "")
}

#[test]
fn tells_people_what_a_file_holds_and_why_it_does_not_conform() {
    let told = inspect(&[GRAPHICS]).succeeded();
    for expected in [
        "Version   1.4",
        "Pages     216 × 279 mm (612 × 792 pt)",
        "LiberationSerif, TrueType, embedded, some glyphs",
        "64 × 64 px, DeviceGray, DCTDecode",
        "H1 1",
        "2 entries on 2 levels",
        "1 into the document, 1 out of it",
        "6.1.3-1: trailer: expected two identifiers in /ID",
    ] {
        assert!(told.contains(expected), "{expected} in {told}");
    }
}

#[test]
fn tells_programs_the_same() {
    let told: Value = serde_json::from_str(&inspect(&["--json", GRAPHICS]).succeeded()).unwrap();
    assert_eq!(told["links"]["external"], 1);
    assert_eq!(told["pages"][0]["width_pt"], 612.0);
    assert_eq!(told["conformance"], Value::Null);
    assert_eq!(told["violations"][0]["clause"], "6.1.3-1");
}

#[test]
fn says_of_files_of_others_that_it_does_not_read_them() {
    let files = folder::temporary();
    let file = files.path().join("other.pdf");
    std::fs::write(&file, "%PDF-1.5\nstartxref\n0\n%%EOF\n").unwrap();
    let file = file.to_str().unwrap();
    assert!(
        inspect(&[file])
            .succeeded()
            .contains("its structure isn't what Platen writes")
    );
    let told: Value = serde_json::from_str(&inspect(&["--json", file]).succeeded()).unwrap();
    assert_eq!(told["is_readable"], false);
    assert!(inspect(&["/nowhere.pdf"]).refused().contains("/nowhere.pdf"));
    assert!(
        inspect(&[concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")])
            .refused()
            .contains("not a PDF")
    );
}
