//! The latest renders of an account at a glance, shared by several pages.

use leptos::prelude::*;
use platen_domain::render::{history::RenderState, statistics::RenderGlance};

use crate::{
    layout::page::Section,
    ui::control_strip::{ControlStrip, Patch},
};

/// Maximum number of renders that are shown.
const LATEST: usize = 60;

/// Section with a control strip of the latest renders.
#[component]
pub fn Latest(
    /// Oldest first.
    latest: Vec<RenderGlance>,
    /// Content beside the heading.
    #[prop(optional)]
    beside: Option<AnyView>,
) -> impl IntoView {
    let patches = patches(&latest);
    let note = format!("Up to {LATEST}, one square each; darker took longer");
    view! {
        <Section heading="Latest renders" note=note nostrip:beside=beside>
            <ControlStrip
                label=told_of(&patches)
                places=LATEST
                patches
                legend=["under 100 ms", "to 300 ms", "to 1 s", "over 1 s"]
            />
        </Section>
    }
}

fn patches(latest: &[RenderGlance]) -> Vec<Patch> {
    let patch = |glance: &RenderGlance| match glance.milliseconds {
        None => Patch::Queued,
        Some(_) if glance.state != RenderState::Succeeded.into_str() => Patch::Failed,
        Some(milliseconds) => Patch::Density(match milliseconds {
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
    use platen_domain::ids::RenderId;

    use super::*;

    #[test]
    fn the_strip_is_told_in_words() {
        let glance = |state: &str, milliseconds| RenderGlance {
            id: RenderId::generate(),
            state: state.to_owned(),
            milliseconds,
        };
        let latest = [
            glance("succeeded", Some(40.0)),
            glance("succeeded", Some(100.0)),
            glance("succeeded", Some(4000.0)),
            glance("failed", Some(40.0)),
            glance("running", None),
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
