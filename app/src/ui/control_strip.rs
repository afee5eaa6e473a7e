//! A row of patches, like the color bar at the edge of a printed sheet. Each patch is one item, and its density the
//! duration.

use leptos::prelude::*;

use crate::ui::{chart::Key, gauge::percent};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patch {
    /// From 1, fast, to 4, slow.
    Density(u8),
    Failed,
    /// Not finished yet.
    Queued,
}

/// The strip of patches.
#[component]
pub fn ControlStrip(
    /// Accessible name.
    label: String,
    /// Number of patches that fill the strip.
    places: usize,
    /// From left to right.
    patches: Vec<Patch>,
    /// Meaning of the densities, from 1.
    legend: [&'static str; 4],
) -> impl IntoView {
    let width = 1.0 / places as f64;
    let patches = patches.into_iter().enumerate().map(|(index, patch)| {
        let (x, width) = (percent(width * index as f64), percent(width));
        let kind = match patch {
            Patch::Density(density) => density.to_string(),
            Patch::Failed => "failed".to_owned(),
            Patch::Queued => "queued".to_owned(),
        };
        let class = format!("control-strip__patch control-strip__patch--{kind}");
        let cross = (patch == Patch::Failed).then(|| {
            view! {
                <svg x=x.clone() width=width.clone() height="22" viewBox="0 0 10 22">
                    <path class="control-strip__cross" d="m2 8 6 6M8 8l-6 6" />
                </svg>
            }
        });
        view! {
            <rect class=class x=x.clone() width=width.clone() height="22" />
            {cross}
        }
    });
    let kinds = ["1", "2", "3", "4", "failed", "queued"].into_iter();
    let key = kinds.zip(legend.into_iter().chain(["failed", "unfinished"]));
    let key = key.map(|(kind, meaning)| {
        view! { <Key class=format!("control-strip__patch control-strip__patch--{kind}") name=meaning /> }
    });
    view! {
        <div class="control-strip">
            <svg class="control-strip__patches" role="img" aria-label=label>
                {patches.collect_view()}
            </svg>
            <div class="control-strip__key">{key.collect_view()}</div>
        </div>
    }
}
