//! Why a render failed, and what to do.

use leptos::prelude::*;
use platen_domain::render::{
    detail::{Failure, Phase, RenderDetail},
    history::RenderMode,
};

use crate::{
    pages::templates,
    ui::icon::{Glyph, Icon},
};

/// Title and advice for a failure.
#[derive(Debug, PartialEq, Eq)]
struct Explanation {
    title: String,
    advice: &'static str,
    /// Whether the page's network requests may explain the failure.
    network: bool,
}

/// The error message, the attributed part, and the next step.
#[component]
pub fn FailureNotice(
    /// The failure as it was reported to the client.
    failure: Failure,
    /// The failed render.
    render: RenderDetail,
) -> impl IntoView {
    let Explanation { title, advice, network } = explain(&failure, render.accessibility.is_ok());
    let network = network && !render.requests.is_empty();
    let part = failure.pointer.as_deref().and_then(part_of);
    let template = template(&render, part, &failure.message);
    let part = part.and_then(|part| {
        let source = render.sources.get(part)?.clone();
        Some(view! {
            "Part " {part + 1} ", " <code class="break">{source}</code> ", caused the failure. "
        })
    });
    let place = failure.pointer.filter(|pointer| !pointer.is_empty()).map(|pointer| {
        let told = match render.mode {
            RenderMode::Sync => "Rejected with 422 at ",
            RenderMode::Async => "Location in the request: ",
        };
        view! { {told} <code>{pointer}</code> ". " }
    });
    view! {
        <div class="notice notice--bad" role="alert">
            <Icon glyph=Glyph::Problem />
            <div>
                <p class="notice__title break">{title}</p>
                <p>{part} {place} {advice} " No credits were charged."</p>
            </div>
            <div class="notice__actions">
                {template.map(|(address, words)| view! { <a href=address>{words}</a> })}
                {network.then(|| view! { <a href="#network">"View network requests"</a> })}
                <a href="/docs">"API reference"</a>
            </div>
        </div>
    }
}

/// `has_report`: whether the page lists violations of a demanded level of conformance.
fn explain(failure: &Failure, has_report: bool) -> Explanation {
    if let Some(phase) = failure.phase {
        return out_of_time(phase);
    }
    let (advice, network) = match failure.pointer.as_deref() {
        Some(pointer) if pointer.starts_with("/parts/") => ("Correct the part, then send the request again.", true),
        Some(pointer) if pointer.starts_with("/evaluate_js") => (
            "The expression runs in every part. Test it in a browser console, or catch its errors.",
            true,
        ),
        Some(pointer) if pointer.starts_with("/wait_for") => (
            "A script on the page must set the attribute. Check the console messages and network requests for the cause.",
            true,
        ),
        Some("/conformance") if has_report => ("The section Accessibility lists what to change.", false),
        Some("/conformance") => ("The response to a synchronous render lists what to change.", false),
        Some(pointer) if pointer.starts_with("/callback") => ("Use a public address.", false),
        Some(_) => ("Correct the request, then send it again.", false),
        None if failure.message == "Internal error." => (
            "The error is logged. Send the request again. If it fails again, contact the operator of this service and quote the render id.",
            false,
        ),
        None => ("", false),
    };
    let title = if failure.message == "Internal error." {
        "Internal error".to_owned()
    } else {
        failure.message.trim_end_matches('.').to_owned()
    };
    Explanation { title, advice, network }
}

fn out_of_time(phase: Phase) -> Explanation {
    let (title, advice, network) = match phase {
        Phase::Queue => (
            "Timed out while waiting for a slot",
            "All slots were in use. Send fewer concurrent requests, or render asynchronously.",
            false,
        ),
        Phase::Load => (
            "Timed out while loading the page",
            "A resource of the page did not load in time.",
            true,
        ),
        Phase::Evaluate => (
            "Timed out while evaluating the script",
            "The promise of `evaluate_js` was not settled. Make sure that it resolves.",
            true,
        ),
        Phase::Wait => (
            "Timed out while waiting for the page",
            "The element or attribute in `wait_for` did not appear.",
            true,
        ),
        Phase::Print => (
            "Timed out while printing",
            "The document is long or complex. Render it asynchronously, which allows more time, or split it into several requests.",
            false,
        ),
        Phase::Post | Phase::Upload | Phase::Callback => (
            "Timed out while completing the document",
            "The document is long or complex. Render it asynchronously, which allows more time, or split it into several requests.",
            false,
        ),
    };
    Explanation {
        title: title.to_owned(),
        advice,
        network,
    }
}

/// Returns the address of the failed part's template, and the words of the link, unless it has been deleted. If the
/// message names a line, the editor opens there.
fn template(render: &RenderDetail, part: Option<usize>, message: &str) -> Option<(String, String)> {
    let mut templates = render.templates.iter();
    let template = templates.find(|template| Some(template.part) == part && template.exists)?;
    let editor = format!("{}/{}", templates::PATH, template.id);
    Some(match line_of(message) {
        Some(line) => (
            format!("{editor}#line-{line}"),
            format!("Open the template at line {line}"),
        ),
        None => (editor, "Open the template".to_owned()),
    })
}

/// Returns the line that the message of a template error names.
fn line_of(message: &str) -> Option<u32> {
    let (line, _) = message.strip_prefix("Line ")?.split_once(", column ")?;
    line.parse().ok()
}

/// Returns the index of the part that a JSON pointer refers to, from 0, or `None` if it refers to none.
fn part_of(pointer: &str) -> Option<usize> {
    let rest = pointer.strip_prefix("/parts/")?;
    rest.split('/').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(message: &str, pointer: Option<&str>, phase: Option<Phase>) -> Failure {
        Failure {
            message: message.to_owned(),
            pointer: pointer.map(ToOwned::to_owned),
            phase,
        }
    }

    #[test]
    fn a_failure_is_explained_by_what_is_to_blame() {
        let unreachable = failure("The address answered with status 404.", Some("/parts/1"), None);
        let part = explain(&unreachable, false);
        assert_eq!(part.title, "The address answered with status 404");
        assert!(part.network);
        let late = explain(&failure("Not finished within 60 s.", None, Some(Phase::Queue)), false);
        assert_eq!(
            (late.title.as_str(), late.network),
            ("Timed out while waiting for a slot", false)
        );
        let ours = explain(&failure("Internal error.", None, None), false);
        assert_eq!(ours.title, "Internal error");
        assert!(ours.advice.contains("quote the render id"));
        let unmet = failure("The document doesn't reach PDF/UA-1.", Some("/conformance"), None);
        assert!(explain(&unmet, true).advice.contains("section Accessibility"));
        assert!(explain(&unmet, false).advice.contains("synchronous render"));
    }

    #[test]
    fn messages_name_lines_of_templates() {
        assert_eq!(line_of("Line 28, column 160: invalid operation"), Some(28));
        for message in ["Line 28", "The host has no address.", "Line x, column 1: y"] {
            assert_eq!(line_of(message), None, "{message}");
        }
    }

    #[test]
    fn pointers_name_parts() {
        assert_eq!(part_of("/parts/3/content/template_id"), Some(3));
        assert_eq!(part_of("/parts/0"), Some(0));
        assert_eq!(part_of("/wait_for"), None);
    }
}
