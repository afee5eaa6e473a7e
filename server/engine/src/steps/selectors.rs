//! Finds CSS selectors of elements that violate rules of accessibility, in the page that was printed.

use std::time::Duration;

use chromiumoxide_cdp::cdp::browser_protocol::{emulation::SetEmulatedMediaParams, page::CreateIsolatedWorldParams};
use platen_pdf::check::levels::{Element, Finding};
use serde::Serialize;
use serde_json::json;

use super::evaluate::Evaluate;
use crate::{devtools::DevToolsError, job::MediaType, session::Session};

/// Function of a list of [`Sought`] that returns a list of selectors.
const FIND: &str = include_str!("selectors.js");
/// Name of the isolated world in which it runs.
const WORLD: &str = "platen";
/// Time after which the browser ends the function. It takes 1 to 50 ms.
const FIND_LIMIT: Duration = Duration::from_millis(400);
/// Maximum number of elements, as many as reports list.
const SOUGHT_LIMIT: usize = 200;
/// Maximum length of a selector in characters, enforced here too.
const SELECTOR_LIMIT: usize = 200;

/// An element of the structure tree.
#[derive(Serialize)]
struct Sought<'a> {
    kind: &'a str,
    preceding: u32,
    count: u32,
    text: &'a str,
}

/// Adds selectors to the elements of findings in a part, which is the session's page. An element whose HTML element is
/// not certain gets none: if the document has only some of the page's elements, their numbers say nothing. The page can't
/// interfere, and nothing but the selectors is returned.
pub(crate) async fn add_selectors(
    session: &Session,
    findings: &mut [Finding],
    part: usize,
    is_complete: bool,
) -> Result<(), DevToolsError> {
    let found = findings.iter_mut().filter_map(|finding| {
        let text = finding.text.as_deref().unwrap_or_default();
        let element = finding.element.as_mut()?;
        (element.part == Some(part)).then_some((element, text))
    });
    let found: Vec<(&mut Element, &str)> = found.take(SOUGHT_LIMIT).collect();
    if found.is_empty() {
        return Ok(());
    }
    let sought = found.iter().map(|(element, text)| Sought {
        kind: &element.kind,
        preceding: element.preceding,
        count: if is_complete { element.count } else { 0 },
        text,
    });
    let sought = json!(sought.collect::<Vec<_>>());
    // Style sheets may hide elements from the screen or from print.
    let is_print = session.media() == MediaType::Print;
    if is_print {
        drop(session.start(&emulate("print")).await?);
    }
    let mut world = CreateIsolatedWorldParams::new(session.frame.clone());
    world.world_name = Some(WORLD.to_owned());
    let world = session.execute(&world).await?.execution_context_id;
    let find = Evaluate::new(format!("{FIND}({sought})")).within(world, FIND_LIMIT);
    let answer = session.start(&find).await?;
    if is_print {
        drop(session.start(&emulate("")).await?);
    }
    let selectors = answer.await?.result.value.unwrap_or_default();
    let selectors: Vec<Option<String>> = serde_json::from_value(selectors).unwrap_or_default();
    for ((element, _), selector) in found.into_iter().zip(selectors) {
        element.selector = selector.filter(|selector| selector.chars().count() <= SELECTOR_LIMIT);
    }
    Ok(())
}

fn emulate(media: &str) -> SetEmulatedMediaParams {
    SetEmulatedMediaParams::builder().media(media).build()
}
