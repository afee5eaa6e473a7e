//! Comparisons of texts, side by side.

use leptos::prelude::*;
use platen_domain::diff::{Block, Changes, Line};

use crate::ui::diff::{HiddenLines, LineText, folded};

/// The changes of a text, in a table with the older lines on the left and the newer ones on the right.
#[component]
pub fn SplitDiff(
    changes: Changes,
    #[prop(into)] caption: String,
    /// Heading of the older text.
    #[prop(into)]
    older: String,
    /// Heading of the newer text.
    #[prop(into)]
    newer: String,
) -> impl IntoView {
    let rows = changes.blocks.into_iter().flat_map(rows).collect_view();
    view! {
        <table class="split-diff">
            <caption class="visually-hidden">{caption}</caption>
            <colgroup>
                <col class="split-diff__numbers" />
                <col />
                <col class="split-diff__numbers" />
                <col />
            </colgroup>
            <thead>
                <tr>
                    <th class="split-diff__heading" colspan="2" scope="col">
                        {older}
                    </th>
                    <th class="split-diff__heading" colspan="2" scope="col">
                        {newer}
                    </th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
        <HiddenLines count=changes.hidden />
    }
}

fn rows(block: Block) -> Vec<AnyView> {
    match block {
        Block::Same { older, newer, lines } => {
            let numbered = lines.into_iter().enumerate();
            let rows = numbered.map(|(index, line)| {
                view! {
                    <tr>
                        <td class="diff__number">{older + index}</td>
                        <td class="split-diff__text">
                            <LineText line=line.clone() />
                        </td>
                        <td class="diff__number">{newer + index}</td>
                        <td class="split-diff__text">
                            <LineText line />
                        </td>
                    </tr>
                }
                .into_any()
            });
            rows.collect()
        }
        Block::Folded(count) => {
            let row = view! {
                <tr>
                    <td class="split-diff__skip" colspan="4">
                        {folded(count)}
                    </td>
                </tr>
            };
            vec![row.into_any()]
        }
        Block::Changed {
            older,
            removed,
            newer,
            added,
        } => {
            let count = removed.len().max(added.len());
            let (mut removed, mut added) = (removed.into_iter(), added.into_iter());
            let rows = (0..count).map(|index| {
                let removed = removed.next().map(|line| (older + index, line));
                let added = added.next().map(|line| (newer + index, line));
                view! {
                    <tr>
                        <Removed line=removed />
                        <Added line=added />
                    </tr>
                }
                .into_any()
            });
            rows.collect()
        }
    }
}

/// The cells of a removed line, or of a place where the older text has none.
#[component]
fn Removed(line: Option<(usize, Line)>) -> impl IntoView {
    let Some((number, line)) = line else {
        return view! { <td class="split-diff__nothing" colspan="2"></td> }.into_any();
    };
    view! {
        <td class="diff__number split-diff__removed">{number}</td>
        <td class="split-diff__text split-diff__removed">
            <del>
                <LineText line />
            </del>
        </td>
    }
    .into_any()
}

/// The cells of an added line, or of a place where the newer text has none.
#[component]
fn Added(line: Option<(usize, Line)>) -> impl IntoView {
    let Some((number, line)) = line else {
        return view! { <td class="split-diff__nothing" colspan="2"></td> }.into_any();
    };
    view! {
        <td class="diff__number split-diff__added">{number}</td>
        <td class="split-diff__text split-diff__added">
            <ins>
                <LineText line />
            </ins>
        </td>
    }
    .into_any()
}
