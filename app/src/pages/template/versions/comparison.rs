//! The comparison of a version with the newest.

use leptos::prelude::*;
use platen_domain::{
    diff::{Changes, Diff},
    number::counted,
    template::VersionSummary,
};

use crate::{
    layout::page::Section,
    model::{template::comparison_path, template_versions::Comparison},
    outcome::{ButtonForm, Outcome},
    pages::template::{
        pages::SetList,
        versions::{api::RestoreTemplate, publish::publish_dialog_id},
    },
    ui::{
        button::{OpenButton, SubmitButton},
        diff::UnifiedDiff,
        icon::Glyph,
        split_diff::SplitDiff,
    },
};

/// How the two texts are arranged. Narrow screens always show them in one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// In one column.
    Unified,
    /// Side by side.
    Split,
}

impl Arrangement {
    /// The value for [`Self::Split`] in the query.
    const SPLIT: &str = "split";

    /// Reads the value of the query.
    pub fn of(value: Option<&str>) -> Self {
        match value {
            Some(Self::SPLIT) => Self::Split,
            _ => Self::Unified,
        }
    }
}

/// What has changed since an earlier version.
#[component]
pub fn Compared(
    /// Id of the template.
    id: String,
    compared: Comparison,
    newest: VersionSummary,
    /// Names of the sets of sample data.
    sets: Vec<String>,
    arrangement: Arrangement,
) -> impl IntoView {
    let Comparison { older, html, data } = compared;
    let lists_pages = id.clone();
    let (number, current) = (older.number, newest.number);
    let restored = Outcome::of::<RestoreTemplate>();
    let renamed = (older.name != newest.name).then(|| {
        view! {
            <p class="small break">
                {format!("Name in version {number}: ")} <b>{older.name}</b>
            </p>
        }
    });
    let publish = (!older.published).then(|| {
        view! { <OpenButton dialog=publish_dialog_id(number)>{format!("Publish {number}")}</OpenButton> }
    });
    let beside = view! { <Choice id=id.clone() number arrangement /> }.into_any();
    view! {
        <Section heading=format!("Version {number} compared with {current}") beside body="section__body stack stack--tight">
            <p class="small quiet">
                {format!("Restoring saves version {number} again as a draft. Nothing is lost.")}
            </p>
            <div class="cluster">
                <ButtonForm outcome=restored>
                    <input type="hidden" name="id" value=id />
                    <input type="hidden" name="number" value=number />
                    <SubmitButton icon=Glyph::Clock>
                        "Restore "
                        {number}
                    </SubmitButton>
                </ButtonForm>
                {publish}
            </div>
            {renamed} <Difference title="HTML" diff=html arrangement versions=(number, current) />
            <Difference title="Sample data" diff=data arrangement versions=(number, current) />
            <h3>"Pages"</h3>
            <SetList id=lists_pages older=number newer=current sets />
        </Section>
    }
}

/// Links to both arrangements, on screens that are wide enough.
#[component]
fn Choice(id: String, number: i32, arrangement: Arrangement) -> impl IntoView {
    let unified = comparison_path(&id, number);
    let split = format!("{unified}&view={}", Arrangement::SPLIT);
    let options = [
        (unified, "Unified", Arrangement::Unified),
        (split, "Side by side", Arrangement::Split),
    ];
    let options = options.map(|(address, label, of_link)| {
        view! {
            <a
                class="segmented__option"
                href=address
                aria-current=(of_link == arrangement).then_some("true")
            >
                {label}
            </a>
        }
    });
    view! {
        <nav class="segmented segmented--small comparison__choice" aria-label="Arrangement">
            {options.into_iter().collect_view()}
        </nav>
    }
}

#[component]
fn Difference(
    title: &'static str,
    diff: Diff,
    arrangement: Arrangement,
    /// Numbers of the older and the newer version.
    versions: (i32, i32),
) -> impl IntoView {
    let changes = match diff {
        Diff::Equal => return view! { <p class="small quiet">{title} " is the same."</p> }.into_any(),
        Diff::LineBreaks => {
            return view! { <p class="small quiet">"Only line breaks differ: " {title} "."</p> }.into_any();
        }
        Diff::Changes(changes) => changes,
    };
    let removed = counted(changes.removed, "line", "lines");
    let added = counted(changes.added, "line", "lines");
    view! {
        <h3>{title}</h3>
        <p class="small quiet">{format!("{removed} removed, {added} added")}</p>
        {match arrangement {
            Arrangement::Unified => {
                view! { <UnifiedDiff changes label=format!("Changes of {title}") /> }.into_any()
            }
            Arrangement::Split => view! { <BothArrangements title changes versions /> }.into_any(),
        }}
    }
    .into_any()
}

/// Both arrangements, of which the screen's width decides.
#[component]
fn BothArrangements(title: &'static str, changes: Changes, versions: (i32, i32)) -> impl IntoView {
    let (older, newer) = versions;
    view! {
        <div class="comparison__wide">
            <SplitDiff
                changes=changes.clone()
                caption=format!("Changes of {title}")
                older=format!("Version {older}")
                newer=format!("Version {newer}")
            />
        </div>
        <div class="comparison__narrow">
            <UnifiedDiff changes label=format!("Changes of {title}") />
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_arrangements_are_the_default() {
        for (value, expected) in [
            (None, Arrangement::Unified),
            (Some("split"), Arrangement::Split),
            (Some("x"), Arrangement::Unified),
        ] {
            assert_eq!(Arrangement::of(value), expected, "{value:?}");
        }
    }
}
