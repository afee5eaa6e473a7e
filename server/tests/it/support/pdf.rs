//! Inspects PDFs with third-party programs.

use std::{
    io::Write,
    process::{Command, Output},
};

use serde_json::Value;
use tempfile::NamedTempFile;

/// An image of a page: width, height, and three bytes (red, green, blue) per pixel, row by row.
pub(crate) struct Picture {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<u8>,
}

impl Picture {
    /// Returns the colour of a pixel, counted from the upper left.
    pub(crate) fn colour(&self, x: usize, y: usize) -> [u8; 3] {
        let start = (y * self.width + x) * 3;
        self.pixels[start..start + 3].try_into().expect("three bytes")
    }
}

/// Returns the text of all pages, with a form feed after each.
pub(crate) fn text(pdf: &[u8]) -> String {
    String::from_utf8(tool("pdftotext", &["-layout"], pdf, &["-"]).stdout).expect("UTF-8")
}

/// Returns the words with their positions as XHTML, in points from the upper left.
pub(crate) fn words(pdf: &[u8]) -> String {
    String::from_utf8(tool("pdftotext", &["-bbox"], pdf, &["-"]).stdout).expect("UTF-8")
}

/// Returns the number of pages.
pub(crate) fn page_count(pdf: &[u8]) -> usize {
    let output = tool("qpdf", &["--show-npages"], pdf, &[]);
    String::from_utf8(output.stdout)
        .expect("text")
        .trim()
        .parse()
        .expect("a number")
}

/// Returns every object in the form of `qpdf --json`; also fails on a damaged file.
pub(crate) fn objects(pdf: &[u8]) -> Value {
    serde_json::from_slice(&tool("qpdf", &["--json"], pdf, &[]).stdout).expect("JSON")
}

/// Returns the output of `pdfinfo`, including boxes.
pub(crate) fn info(pdf: &[u8]) -> String {
    String::from_utf8(tool("pdfinfo", &["-box"], pdf, &[]).stdout).expect("text")
}

/// Returns the output of `pdffonts`: a line for each font.
pub(crate) fn fonts(pdf: &[u8]) -> String {
    String::from_utf8(tool("pdffonts", &[], pdf, &[]).stdout).expect("text")
}

/// Renders a page (counted from one) at 72 dpi.
pub(crate) fn picture(pdf: &[u8], page: usize) -> Picture {
    let page = page.to_string();
    let ppm = tool("pdftoppm", &["-r", "72", "-f", &page, "-l", &page], pdf, &[]).stdout;
    // "P6\nWIDTH HEIGHT\n255\n", followed by the pixels.
    let header_end = ppm
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .nth(2)
        .expect("a header")
        .0;
    let header = std::str::from_utf8(&ppm[..header_end]).expect("text");
    let mut numbers = header
        .split_whitespace()
        .skip(1)
        .map(|number| number.parse().expect("a number"));
    Picture {
        width: numbers.next().expect("width"),
        height: numbers.next().expect("height"),
        pixels: ppm[header_end + 1..].to_vec(),
    }
}

#[track_caller]
fn tool(program: &str, before: &[&str], pdf: &[u8], after: &[&str]) -> Output {
    let mut file = NamedTempFile::new().expect("a temporary file");
    file.write_all(pdf).expect("a temporary file");
    let output = Command::new(program)
        .args(before)
        .arg(file.path())
        .args(after)
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}; deploy/setup.sh --test installs it"));
    assert!(
        output.status.success(),
        "{program}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}
