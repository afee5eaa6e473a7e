//! `platen inspect`: shows the contents of a PDF, and the standards that it conforms to by Platen's own examination.

mod accessibility;

use std::{
    collections::BTreeMap,
    fmt::{Display, Write as _},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::Args;
use platen_pdf::{
    PdfError,
    check::{
        Examination,
        contrast::LowContrast,
        levels::{Element, Finding},
        standards::Conformance,
    },
    inspect::{Font, Image, Inspection, inspect, structure::read_structure},
};
use serde_json::{Value, json};

use crate::cli::failure::Failure;

const POINTS_PER_MILLIMETRE: f64 = 72.0 / 25.4;
/// Number of violations in the text output; JSON contains all of them.
const SHOWN_VIOLATIONS: usize = 10;
/// The highest standards, together.
const HIGHEST: [Conformance; 2] = [Conformance::PdfA2a, Conformance::PdfUa1];

#[derive(Args)]
pub(super) struct Arguments {
    /// PDF to inspect.
    file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Print an accessibility report: levels of conformance, violations with their remedies, and the tags.
    #[arg(long, conflicts_with = "json")]
    accessibility: bool,
}

/// Prints the contents of the file. A file that is not a PDF is the caller's error.
pub(super) fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let file = &arguments.file;
    let failure = |reason: &dyn Display| Failure::by_caller(&format!("{}: {reason}", file.display()));
    let bytes = std::fs::read(file).map_err(|error| failure(&error))?;
    if !bytes.starts_with(b"%PDF-") {
        return Err(failure(&"not a PDF"));
    }
    let inspection = inspect(&bytes);
    let text = if arguments.accessibility {
        let inspection = inspection.as_ref().map_err(|error| failure(error))?;
        let structure = read_structure(&bytes).map_err(|error| failure(&error))?;
        accessibility::as_text(inspection, &structure)
    } else if arguments.json {
        format!("{:#}\n", as_json(bytes.len(), &inspection))
    } else {
        as_text(file, bytes.len(), &inspection)
    };
    match io::stdout().write_all(text.as_bytes()) {
        // A reader such as `head` has closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

fn as_text(file: &Path, length: usize, inspection: &Result<Inspection, PdfError>) -> String {
    let mut text = format!("{}: {} kB\n", file.display(), length.div_ceil(1000));
    match inspection {
        Ok(inspection) => add_all(&mut text, inspection),
        Err(error) => {
            let reason = format!("unreadable, because its structure isn't what Platen writes: {error}");
            add(&mut text, "Contents", [reason]);
        }
    }
    text
}

fn add_all(text: &mut String, inspection: &Inspection) {
    let mut row = |subject: &str, facts: Vec<String>| add(text, subject, facts);
    row("Version", vec![inspection.version.clone()]);
    row("Title", inspection.title.iter().cloned().collect());
    row("Language", inspection.language.iter().cloned().collect());
    let sizes = inspection.page_sizes.iter().map(|(width, height)| {
        let (across, down) = (millimetres(*width), millimetres(*height));
        format!("{across:.0} × {down:.0} mm ({width:.0} × {height:.0} pt)")
    });
    row("Pages", grouped(sizes));
    row("Fonts", grouped(inspection.fonts.iter().map(describe_font)));
    row("Images", grouped(inspection.images.iter().map(describe_image)));
    let tags = inspection.tags.iter().map(|(tag, count)| format!("{tag} {count}"));
    let tags: Vec<String> = tags.collect();
    if !tags.is_empty() {
        row("Tags", vec![tags.join(", ")]);
    }
    let outline = inspection.outline;
    if outline.count > 0 {
        row(
            "Outline",
            vec![format!("{} entries on {} levels", outline.count, outline.depth)],
        );
    }
    let links = inspection.links;
    if links.internal + links.external > 0 {
        let destinations = format!("{} into the document, {} out of it", links.internal, links.external);
        row("Links", vec![destinations]);
    }
    row(
        "Declared",
        inspection.declared.iter().map(ToString::to_string).collect(),
    );
    row("Conforms", conformance(inspection));
}

fn conformance(inspection: &Inspection) -> Vec<String> {
    match &inspection.verdict {
        Ok(examination) => {
            let mut lines = vec![format!("to {}", Conformance::list(&examination.earned))];
            let missing: Vec<Conformance> = missing(examination);
            if !missing.is_empty() {
                lines.push(format!("not to {}:", Conformance::list(&missing)));
                let findings = examination.findings.iter();
                let preventing: Vec<_> = findings.filter(|finding| !finding.rule.prevents.is_empty()).collect();
                add_shown(&mut lines, &preventing);
            }
            lines
        }
        Err(violations) => {
            let mut lines = vec!["not shown to conform to what it declares, or to PDF/A-2b:".to_owned()];
            add_shown(&mut lines, violations);
            lines
        }
    }
}

fn missing(examination: &Examination) -> Vec<Conformance> {
    let missing = HIGHEST.iter().filter(|standard| !examination.earned.contains(standard));
    missing.copied().collect()
}

/// Adds the first ones of a list, and the number of the others.
fn add_shown(lines: &mut Vec<String>, violations: &[impl Display]) {
    lines.extend(violations.iter().take(SHOWN_VIOLATIONS).map(ToString::to_string));
    let more = violations.len().saturating_sub(SHOWN_VIOLATIONS);
    if more > 0 {
        lines.push(format!("{more} more"));
    }
}

/// Adds one line per fact, the first one with the subject; nothing without facts.
fn add(text: &mut String, subject: &str, facts: impl IntoIterator<Item = String>) {
    for (index, fact) in facts.into_iter().enumerate() {
        let subject = if index == 0 { subject } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {subject:9} {fact}");
    }
}

/// Returns each text once, with its count if it occurs several times.
fn grouped(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for text in texts {
        let place = *places.entry(text.clone()).or_insert(counts.len());
        match counts.get_mut(place) {
            Some((_, count)) => *count += 1,
            None => counts.push((text, 1)),
        }
    }
    let shown = counts.into_iter().map(|(text, count)| match count {
        1 => text,
        several => format!("{several} × {text}"),
    });
    shown.collect()
}

fn describe_font(font: &Font) -> String {
    let name = if font.name.is_empty() {
        "without a name"
    } else {
        &font.name
    };
    let embedded = match (font.is_embedded, font.is_subset) {
        (false, _) => "not embedded",
        (true, true) => "embedded, some glyphs",
        (true, false) => "embedded",
    };
    format!("{name}, {}, {embedded}", font.kind)
}

fn describe_image(image: &Image) -> String {
    let filter = if image.filter.is_empty() {
        "not compressed"
    } else {
        &image.filter
    };
    let mask = if image.has_mask { ", with a mask" } else { "" };
    format!(
        "{} × {} px, {}, {filter}{mask}",
        image.width, image.height, image.colours
    )
}

fn millimetres(points: f64) -> f64 {
    points / POINTS_PER_MILLIMETRE
}

fn as_json(length: usize, inspection: &Result<Inspection, PdfError>) -> Value {
    let inspection = match inspection {
        Ok(inspection) => inspection,
        Err(error) => return json!({"bytes": length, "is_readable": false, "reason": error.to_string()}),
    };
    let page = |(width, height): &(f64, f64)| {
        json!({
            "width_pt": width, "height_pt": height,
            "width_mm": millimetres(*width), "height_mm": millimetres(*height),
        })
    };
    let font = |font: &Font| {
        json!({
            "name": font.name, "kind": font.kind,
            "is_embedded": font.is_embedded, "is_subset": font.is_subset,
        })
    };
    let image = |image: &Image| {
        json!({
            "width": image.width, "height": image.height,
            "colours": image.colours, "filter": image.filter, "has_mask": image.has_mask,
        })
    };
    let examination = inspection.verdict.as_ref().ok();
    let findings = examination
        .map(|examination| examination.findings.as_slice())
        .unwrap_or_default();
    let low_contrast = examination.map(|examination| examination.low_contrast.as_slice());
    let violations = inspection.verdict.as_ref().err().map(Vec::as_slice).unwrap_or_default();
    let violations = violations
        .iter()
        .map(|violation| json!({"clause": violation.clause, "object": violation.object, "message": violation.message}));
    json!({
        "bytes": length,
        "is_readable": true,
        "version": inspection.version,
        "title": inspection.title,
        "language": inspection.language,
        "pages": inspection.page_sizes.iter().map(page).collect::<Vec<_>>(),
        "fonts": inspection.fonts.iter().map(font).collect::<Vec<_>>(),
        "images": inspection.images.iter().map(image).collect::<Vec<_>>(),
        "tags": inspection.tags,
        "outline": {"count": inspection.outline.count, "depth": inspection.outline.depth},
        "links": {"internal": inspection.links.internal, "external": inspection.links.external},
        "declared": inspection.declared,
        "conformance": examination.map(|examination| Conformance::list(&examination.earned)),
        "violations": violations.collect::<Vec<_>>(),
        "findings": findings.iter().map(finding).collect::<Vec<_>>(),
        "low_contrast": low_contrast.unwrap_or_default().iter().map(faint_text).collect::<Vec<_>>(),
    })
}

fn faint_text(contrast: &LowContrast) -> Value {
    json!({
        "page": contrast.page,
        "element": contrast.element.as_ref().map(element),
        "text": contrast.text,
        "rectangle": contrast.rectangle,
        "colour": contrast.colour,
        "background": contrast.background,
        "ratio": contrast.ratio,
        "required": contrast.required,
    })
}

fn element(element: &Element) -> Value {
    json!({"object": element.object, "type": element.kind})
}

fn finding(finding: &Finding) -> Value {
    let prevents = finding.rule.prevents.iter();
    let prevents = prevents.map(|(standard, clause)| json!({"standard": standard.name(), "clause": clause}));
    json!({
        "prevents": prevents.collect::<Vec<_>>(),
        "condition": finding.rule.condition,
        "criterion": finding.rule.criterion,
        "message": finding.rule.message,
        "page": finding.page,
        "element": finding.element.as_ref().map(element),
        "object": finding.object,
        "text": finding.text,
        "rectangle": finding.rectangle,
    })
}
