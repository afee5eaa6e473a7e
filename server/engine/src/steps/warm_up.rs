//! Prepares a new page, so that its first render is not slower than the next ones.

use super::{
    StepError, evaluate, load,
    print::{self, PrintedBytes, Printing, Transfer},
};
use crate::{
    job::{MediaType, PrintSettings},
    session::Session,
};

/// Uses what most documents need. The first document of a renderer process takes twice as long as the second, because
/// fonts are opened, and code for layout, tags and printing is loaded.
const SAMPLE: &str = "<!doctype html><html lang=en><title>Sample</title><style>@page { margin: 1cm } \
    body { font: 10pt sans-serif } .serif { font-family: serif } .mono { font-family: monospace } \
    table { border-collapse: collapse } td { border: 1px solid #888; padding: 2pt } \
    div { display: flex; break-before: page; background: linear-gradient(red, blue) }</style>\
    <h1>Sample</h1><p>Text, <b>bold</b>, <i>italic</i>, <a href='#last'>link</a><p class=serif>Serif<p class=mono>1.00\
    <table><thead><tr><th>Name<th>Sum<tbody><tr><td>First<td>1.00</table><ul><li>Item</ul>\
    <div><svg width=9 height=9><circle r=4 /></svg></div><h2 id=last>Last</h2>";
/// Maximum size of the printed sample, in bytes.
const PRINTED_LIMIT: usize = 1 << 20;

/// Prints a sample. The page must be reset afterwards.
pub(crate) async fn warm_up(session: &mut Session) -> Result<(), StepError> {
    session.begin(0, MediaType::Print, session.kind.has_frames()).await?;
    let put = load::put_content(session, SAMPLE).await?;
    let report = evaluate::report_once_loaded(session).await?;
    put.await?;
    report.await?;
    let settings = PrintSettings {
        paper_width: 8.27,
        paper_height: 11.69,
        margins: [0.0; 4],
        scale: 1.0,
        backgrounds: true,
        prefer_css_page_size: true,
        header_footer: None,
    };
    let printing = Printing::document(&settings, None, Transfer::AtOnce);
    print::print(session, &printing, &PrintedBytes::new(PRINTED_LIMIT)).await?;
    Ok(())
}
