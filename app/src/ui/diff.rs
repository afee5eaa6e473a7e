//! Comparisons of texts, with the lines of both in one column.

use leptos::prelude::*;
use platen_domain::{
    diff::{Block, Changes, Line},
    number::counted,
};

/// The changes of a text. Long comparisons scroll.
#[component]
pub fn UnifiedDiff(
    changes: Changes,
    /// Accessible name.
    #[prop(into)]
    label: String,
    /// Whether it is at most as high as a dialog has room for.
    #[prop(optional)]
    short: bool,
) -> impl IntoView {
    let lines = changes.blocks.into_iter().flat_map(lines).collect_view();
    view! {
        <pre class=if short { "diff diff--short" } else { "diff" } tabindex="0" role="group" aria-label=label>
            {lines}
        </pre>
        <HiddenLines count=changes.hidden />
    }
}

/// Says how many changed lines aren't shown, if there are any.
#[component]
pub(super) fn HiddenLines(count: usize) -> impl IntoView {
    (count > 0).then(|| {
        let lines = counted(count, "more changed line", "more changed lines");
        view! { <p class="small quiet">{lines} " are not shown."</p> }
    })
}

/// Returns the text for unchanged lines that aren't shown.
pub(super) fn folded(count: usize) -> String {
    format!("… {}", counted(count, "unchanged line", "unchanged lines"))
}

/// A line with its changed words. It says how many characters are left out.
#[component]
pub(super) fn LineText(line: Line) -> impl IntoView {
    let segments = line.segments.into_iter().map(|segment| {
        if segment.changed {
            view! { <mark class="diff__word">{segment.text}</mark> }.into_any()
        } else {
            segment.text.into_any()
        }
    });
    view! {
        <LeftOut count=line.before />
        {segments.collect_view()}
        <LeftOut count=line.after />
    }
}

#[component]
fn LeftOut(count: usize) -> impl IntoView {
    (count > 0).then(|| {
        let characters = counted(count, "character", "characters");
        view! { <span class="diff__left-out">{format!("… {characters} …")}</span> }
    })
}

fn lines(block: Block) -> Vec<AnyView> {
    match block {
        Block::Same { older, newer, lines } => {
            let numbered = lines.into_iter().enumerate();
            let lines = numbered.map(|(index, line)| {
                let text = view! {
                    <span>
                        <LineText line />
                    </span>
                };
                let numbers = (Some(older + index), Some(newer + index));
                view! { <Row class="diff__line" numbers sign=" " text=text.into_any() /> }.into_any()
            });
            lines.collect()
        }
        Block::Folded(count) => {
            let text = view! { <span>{folded(count)}</span> }.into_any();
            vec![view! { <Row class="diff__line diff__line--skip" numbers=(None, None) sign=" " text /> }.into_any()]
        }
        Block::Changed {
            older,
            removed,
            newer,
            added,
        } => {
            let removed = removed.into_iter().enumerate().map(|(index, line)| {
                let text = view! {
                    <del>
                        <LineText line />
                    </del>
                };
                let (class, numbers) = ("diff__line diff__line--removed", (Some(older + index), None));
                view! { <Row class numbers sign="−" text=text.into_any() /> }.into_any()
            });
            let added = added.into_iter().enumerate().map(|(index, line)| {
                let text = view! {
                    <ins>
                        <LineText line />
                    </ins>
                };
                let (class, numbers) = ("diff__line diff__line--added", (None, Some(newer + index)));
                view! { <Row class numbers sign="+" text=text.into_any() /> }.into_any()
            });
            removed.chain(added).collect()
        }
    }
}

#[component]
fn Row(
    class: &'static str,
    /// Numbers of the line in the older and in the newer text.
    numbers: (Option<usize>, Option<usize>),
    sign: &'static str,
    text: AnyView,
) -> impl IntoView {
    view! {
        <span class=class>
            <span class="diff__number">{numbers.0}</span>
            <span class="diff__number">{numbers.1}</span>
            <span class="diff__sign">{sign}</span>
            {text}
        </span>
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use std::time::{Duration, Instant};

    use platen_domain::diff::{Diff, compare::compare};

    use super::*;

    #[test]
    fn texts_are_escaped_and_changed_words_marked() {
        let deadline = Instant::now() + Duration::from_secs(5);
        let Diff::Changes(changes) = compare("<b>one</b>", "<b>two</b>", 10, deadline) else {
            panic!("they differ");
        };
        let html = Owner::new().with(|| view! { <UnifiedDiff changes label="Changes" /> }.to_html());
        let html = html.replace("<!>", "");
        assert!(
            html.contains("&lt;b&gt;<mark class=\"diff__word\">two</mark>&lt;/b&gt;</ins>"),
            "{html}"
        );
        assert!(!html.contains("<b>"), "{html}");
    }
}
