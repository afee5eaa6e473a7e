//! The latest renders of an account at a glance, shared by several pages.

use leptos::prelude::*;

use crate::{
    model::overview::Glance,
    ui::control_strip::{ControlStrip, Patch},
};

/// Maximum number of renders that are shown.
const LATEST: usize = 60;

/// Section with a control strip of the latest renders.
#[component]
pub fn Latest(
    /// Oldest first.
    latest: Vec<Glance>,
    /// Content beside the heading.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let patches = patches(&latest);
    view! {
        <section class="section">
            <div class="section__head">
                <h2>{format!("Latest {LATEST}")}</h2>
                {children.map(|children| children())}
            </div>
            <div class="section__body">
                <ControlStrip
                    label=told_of(&patches)
                    places=LATEST
                    patches
                    legend=["under 100 ms", "to 300 ms", "to 1 s", "over 1 s"]
                />
            </div>
        </section>
    }
}

fn patches(latest: &[Glance]) -> Vec<Patch> {
    let patch = |glance: &Glance| match *glance {
        Glance::Unfinished => Patch::Queued,
        Glance::Failed => Patch::Failed,
        Glance::Succeeded { milliseconds } => Patch::Density(match milliseconds {
            ..100.0 => 1,
            ..300.0 => 2,
            ..1000.0 => 3,
            _ => 4,
        }),
    };
    latest.iter().map(patch).collect()
}

/// Describes the strip in words, as its accessible label.
fn told_of(patches: &[Patch]) -> String {
    let count = |wanted: &dyn Fn(&Patch) -> bool| patches.iter().filter(|patch| wanted(patch)).count();
    let succeeded = count(&|patch| matches!(patch, Patch::Density(_)));
    let failed = count(&|patch| *patch == Patch::Failed);
    let quick = count(&|patch| *patch == Patch::Density(1));
    let slow = count(&|patch| *patch == Patch::Density(4));
    format!(
        "Last {} renders: {succeeded} succeeded, {failed} failed. {quick} took under 100 milliseconds, {slow} over a second.",
        patches.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strip_is_told_in_words() {
        let latest = [
            Glance::Succeeded { milliseconds: 40.0 },
            Glance::Succeeded { milliseconds: 100.0 },
            Glance::Succeeded { milliseconds: 4000.0 },
            Glance::Failed,
            Glance::Unfinished,
        ];
        let patches = patches(&latest);
        assert_eq!(
            patches,
            [
                Patch::Density(1),
                Patch::Density(2),
                Patch::Density(4),
                Patch::Failed,
                Patch::Queued
            ]
        );
        assert_eq!(
            told_of(&patches),
            "Last 5 renders: 3 succeeded, 1 failed. 1 took under 100 milliseconds, 1 over a second."
        );
    }
}
