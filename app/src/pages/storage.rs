//! Storage that an account uses, with its limits.

use leptos::prelude::*;
use platen_domain::storage::{StorageResource, StorageUse};

use crate::{layout::page::Section, ui::gauge::Gauge};

/// Section with a gauge for each resource.
#[component]
pub fn StorageSection(
    /// In display order.
    uses: Vec<StorageUse>,
) -> impl IntoView {
    let gauges = uses.into_iter().map(|usage| {
        let resource = usage.resource;
        let told = format!("{} of {}", resource.amount(usage.used), resource.amount(usage.limit));
        let note = (resource == StorageResource::RetainedBytes)
            .then_some("Content above the limit isn't stored; renders continue.");
        view! {
            <div class="lane">
                <div class="lane__head">
                    <span class="lane__name">{resource.label()}</span>
                    <span>{told.clone()}</span>
                </div>
                <Gauge label=format!("{}: {told}", resource.label()) used=usage.share() />
                {note.map(|note| view! { <span class="quiet small">{note}</span> })}
            </div>
        }
    });
    view! {
        <Section heading="Storage" note="Test keys included" id="storage">
            <div class="lanes">{gauges.collect_view()}</div>
            <p class="small quiet">
                "At a limit, requests that would store more are rejected with 403 " <code>"forbidden"</code>
                ". The error says how to free storage."
            </p>
        </Section>
    }
}
