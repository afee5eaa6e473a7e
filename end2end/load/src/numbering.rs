//! The cost of headers and footers that are numbered across several parts.

use std::{sync::Arc, time::Instant};

use serde::Serialize;

use crate::{
    error::LoadError,
    pages::Load,
    platen::client::{Client, Order},
    statistics::median,
};

/// A document of several parts, and the number of renders.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    parts: usize,
    pages_each: usize,
    renders: usize,
}

/// Medians of alternating renders, in milliseconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct NumberingCost {
    pub(crate) name: &'static str,
    /// Without header and footer.
    pub(crate) plain_ms: f64,
    /// With header and footer.
    pub(crate) numbered_ms: f64,
}

impl NumberingCost {
    /// Returns the cost of header and footer.
    pub(crate) fn added_ms(&self) -> f64 {
        self.numbered_ms - self.plain_ms
    }
}

/// A letter with an enclosure.
pub(crate) const TWO_PARTS: Case = Case {
    name: "2 parts of 2 pages",
    parts: 2,
    pages_each: 2,
    renders: 15,
};
/// The maximum of one request.
pub(crate) const FIFTY_PARTS: Case = Case {
    name: "50 parts of 1,000 pages",
    parts: 50,
    pages_each: 20,
    renders: 3,
};

/// Renders the case alternately without and with header and footer.
pub(crate) async fn measure(client: &Client, case: &Case) -> Result<NumberingCost, LoadError> {
    let load = Arc::new(Load {
        name: case.name,
        html: part(case.pages_each),
        page_count: case.parts * case.pages_each,
        font: None,
    });
    let orders = [false, true].map(|numbered| Order::of_parts(&load, case.parts, numbered));
    let mut took_ms = [Vec::new(), Vec::new()];
    // The first renders warm up the session.
    for turn in 0..=case.renders {
        for (order, took_ms) in orders.iter().zip(&mut took_ms) {
            let sent = Instant::now();
            order.check(&client.render(order).await?)?;
            if turn > 0 {
                took_ms.push(sent.elapsed().as_secs_f64() * 1e3);
            }
        }
    }
    let [plain_ms, numbered_ms] = took_ms.map(|took_ms| median(&took_ms).unwrap_or_default());
    Ok(NumberingCost {
        name: case.name,
        plain_ms,
        numbered_ms,
    })
}

fn part(pages: usize) -> String {
    let page = "<h2>Delivery note</h2><p>Twelve larch posts, planed on four sides, and what belongs to them.</p>";
    let style = "<style>h2 + p { break-after: page } h2:last-of-type + p { break-after: auto }</style>";
    format!("<!doctype html><title>Note</title>{style}{}", page.repeat(pages))
}
