//! Why a render failed, and what to do.

use leptos::prelude::*;
use platen_domain::render::{
    detail::{Failure, Phase},
    history::RenderMode,
};

use crate::ui::icon::{Glyph, Icon};

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
    /// Execution of the render.
    mode: RenderMode,
    /// Sources of the parts.
    sources: Vec<String>,
) -> impl IntoView {
    let Explanation { title, advice, network } = explain(&failure);
    let part = failure.pointer.as_deref().and_then(part_of).and_then(|part| {
        let source = sources.get(part)?.clone();
        Some(view! {
            "Part " {part + 1} ", " <code class="break">{source}</code> ", is to blame. "
        })
    });
    let place = failure.pointer.filter(|pointer| !pointer.is_empty()).map(|pointer| {
        let told = match mode {
            RenderMode::Sync => "The request was answered 422 at ",
            RenderMode::Async => "The place in the request is ",
        };
        view! { {told} <code>{pointer}</code> ". " }
    });
    view! {
        <div class="notice notice--bad" role="alert">
            <Icon glyph=Glyph::Problem />
            <div>
                <p class="notice__title break">{title}</p>
                <p>{part} {place} {advice} " Nothing was charged."</p>
            </div>
            <div class="notice__actions">
                {network.then(|| view! { <a href="#network">"See what the page fetched"</a> })}
                <a href="/docs">"API reference"</a>
            </div>
        </div>
    }
}

fn explain(failure: &Failure) -> Explanation {
    if let Some(phase) = failure.phase {
        return out_of_time(phase);
    }
    let (advice, network) = match failure.pointer.as_deref() {
        Some(pointer) if pointer.starts_with("/parts/") => (
            "Correct the part and send the request again; the same request fails again.",
            true,
        ),
        Some(pointer) if pointer.starts_with("/evaluate_js") => (
            "The expression runs in every part. Try it in the console of a browser, or catch what it throws.",
            true,
        ),
        Some(pointer) if pointer.starts_with("/wait_for") => (
            "Something on the page has to set the attribute; what the page said and fetched may tell why it did not.",
            true,
        ),
        Some(pointer) if pointer.starts_with("/callback") => ("Name an address that is public.", false),
        Some(_) => (
            "Correct the request and send it again; the same request fails again.",
            false,
        ),
        None if failure.message == "Internal error." => (
            "Something broke on our side, and we have logged it. Send the request again; if it fails again, write to us and name the render.",
            false,
        ),
        None => ("", false),
    };
    let title = if failure.message == "Internal error." {
        "Something broke on our side".to_owned()
    } else {
        failure.message.trim_end_matches('.').to_owned()
    };
    Explanation { title, advice, network }
}

fn out_of_time(phase: Phase) -> Explanation {
    let (title, advice, network) = match phase {
        Phase::Queue => (
            "Time ran out before its turn came",
            "All slots were taken. Send fewer requests at once, or let them wait by asking asynchronously.",
            false,
        ),
        Phase::Load => (
            "Time ran out while the page was loading",
            "Something that the page needs did not come in time.",
            true,
        ),
        Phase::Evaluate => (
            "Time ran out while the script ran",
            "The promise of `evaluate_js` was not settled. Let it end by itself.",
            true,
        ),
        Phase::Wait => (
            "Time ran out while it waited",
            "What `wait_for` names did not appear.",
            true,
        ),
        Phase::Print => (
            "Time ran out while it was printed",
            "The document is long or heavy. Ask for it asynchronously, which has more time, or in several requests.",
            false,
        ),
        Phase::Post | Phase::Upload | Phase::Callback => (
            "Time ran out while the document was completed",
            "The document is long or heavy. Ask for it asynchronously, which has more time, or in several requests.",
            false,
        ),
    };
    Explanation {
        title: title.to_owned(),
        advice,
        network,
    }
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
        let part = explain(&failure(
            "The address answered with status 404.",
            Some("/parts/1"),
            None,
        ));
        assert_eq!(part.title, "The address answered with status 404");
        assert!(part.network);
        let late = explain(&failure("Not finished within 60 s.", None, Some(Phase::Queue)));
        assert_eq!(
            (late.title.as_str(), late.network),
            ("Time ran out before its turn came", false)
        );
        let ours = explain(&failure("Internal error.", None, None));
        assert_eq!(ours.title, "Something broke on our side");
        assert!(ours.advice.contains("name the render"));
    }

    #[test]
    fn pointers_name_parts() {
        assert_eq!(part_of("/parts/3/content/template_id"), Some(3));
        assert_eq!(part_of("/parts/0"), Some(0));
        assert_eq!(part_of("/wait_for"), None);
    }
}
