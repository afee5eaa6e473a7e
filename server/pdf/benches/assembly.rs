//! Time to complete, join and select, compared with other programs if they are installed. The name of each benchmark
//! contains its upper bound.

use std::{
    borrow::Cow,
    hint::black_box,
    process::{Command, Stdio},
};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use platen_pdf::{
    Assembly, OutputFormat, PageFacts, PageSelection, PrintedPart, StampLayout, Stamps, assemble, unpack,
};
use time::OffsetDateTime;

/// Two pages.
const INVOICE: &[u8] = include_bytes!("../tests/fixtures/table.pdf");
/// Four pages.
const REPORT: &[u8] = include_bytes!("../tests/fixtures/report.pdf");
/// Two pages.
const LETTER: &[u8] = include_bytes!("../tests/fixtures/letter.pdf");
/// Four pages without tags.
const STAMPS: &[u8] = include_bytes!("../tests/fixtures/stamps.pdf");

fn archive<'a>(parts: &[&'a [u8]]) -> Assembly<'a> {
    let part = |bytes: &&'a [u8]| PrintedPart {
        bytes: Cow::Borrowed(*bytes),
        facts: PageFacts {
            title: Some("Part".into()),
            language: Some("en".into()),
            ..PageFacts::default()
        },
    };
    Assembly {
        parts: parts.iter().map(part).collect(),
        stamps: Vec::new(),
        page_limit: usize::MAX,
        selection: None,
        watermark: None,
        format: OutputFormat::PdfA2b,
        instant: OffsetDateTime::UNIX_EPOCH,
    }
}

/// Assembles a document and unpacks it, so that its objects are uncompressed, as the browser prints them.
fn assembled(assembly: &Assembly) -> Vec<u8> {
    let bytes = assemble(assembly.clone()).expect("parts that can be joined").bytes;
    unpack(&bytes).expect("as it was packed").into_owned()
}

/// Passes owned parts, as the engine does.
fn bench(criterion: &mut Criterion, name: &str, assembly: &Assembly) {
    let given = || {
        let mut given = assembly.clone();
        for part in &mut given.parts {
            part.bytes = Cow::Owned(part.bytes.to_vec());
        }
        given
    };
    criterion.bench_function(name, |bencher| {
        bencher.iter_batched(given, |given| assemble(black_box(given)), BatchSize::PerIteration);
    });
}

fn benches(criterion: &mut Criterion) {
    let ten_pages = assembled(&archive(&[REPORT, LETTER, REPORT]));
    let hundred_pages = assembled(&archive(&[ten_pages.as_slice(); 10]));
    bench(criterion, "complete the invoice (2.5 ms)", &archive(&[INVOICE]));
    bench(
        criterion,
        "complete 100 tagged pages (50 ms)",
        &archive(&[&hundred_pages]),
    );
    let joined = archive(&[ten_pages.as_slice(); 10]);
    bench(criterion, "join 10 × 10 tagged pages (60 ms)", &joined);
    let selected = Assembly {
        selection: PageSelection::parse("50").ok(),
        ..archive(&[&hundred_pages])
    };
    bench(criterion, "select 1 of 100 pages (20 ms)", &selected);
    let stamped = Assembly {
        stamps: vec![Stamps {
            bytes: STAMPS,
            layout: StampLayout::Pages,
            pages: vec![1, 2, 3, 4],
        }],
        ..archive(&[LETTER, LETTER])
    };
    bench(criterion, "join 2 × 2 pages and draw 4 headers (20 ms)", &stamped);
}

/// The same work done by qpdf, which drops tags, and by Ghostscript, which rewrites everything. Includes their startup.
fn peers(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("a file in the temporary folder");
        path
    };
    let ten_pages = file("ten.pdf", &assembled(&archive(&[REPORT, LETTER, REPORT])));
    let invoice = file("invoice.pdf", INVOICE);
    let output = folder.path().join("out.pdf");
    let mut group = criterion.benchmark_group("peers");
    group.sample_size(10);
    if let Some(version) = version("qpdf", "--version") {
        group.bench_function(format!("join 10 × 10 tagged pages: {version}"), |bencher| {
            bencher.iter(|| {
                let mut qpdf = Command::new("qpdf");
                qpdf.args(["--empty", "--pages"])
                    .args(vec![&ten_pages; 10])
                    .arg("--")
                    .arg(&output);
                run(&mut qpdf);
            });
        });
    }
    if let Some(version) = version("gs", "--version") {
        group.bench_function(format!("complete the invoice: Ghostscript {version}"), |bencher| {
            bencher.iter(|| {
                let mut ghostscript = Command::new("gs");
                ghostscript.args(["-q", "-dNOPAUSE", "-dBATCH", "-dPDFA=2", "-sDEVICE=pdfwrite"]);
                ghostscript
                    .args(["-sColorConversionStrategy=RGB", "-o"])
                    .arg(&output)
                    .arg(&invoice);
                run(&mut ghostscript);
            });
        });
    }
    group.finish();
}

fn run(command: &mut Command) {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "{command:?} fails");
}

/// Returns the first line of a program's version, or `None` if the program is not installed.
fn version(program: &str, option: &str) -> Option<String> {
    let said = Command::new(program).arg(option).output().ok()?.stdout;
    String::from_utf8(said).ok()?.lines().next().map(ToOwned::to_owned)
}

criterion_group!(assembly, benches, peers);
criterion_main!(assembly);
