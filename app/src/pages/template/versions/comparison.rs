//! The comparison of two versions: their pages, HTML, sample data and translations.

use leptos::prelude::*;
use platen_domain::{
    diff::{Changes, Diff},
    number::counted,
};

use crate::{
    layout::page::Section,
    model::template_versions::Comparison,
    outcome::{ButtonForm, Outcome},
    pages::template::{
        pages::SetList,
        versions::{api::RestoreTemplate, called, publish::publish_dialog_id},
    },
    ui::{
        button::{OpenButton, SubmitButton},
        diff::UnifiedDiff,
        icon::Glyph,
        segmented::SegmentedBar,
        split_diff::SplitDiff,
    },
};

/// What differs between two versions.
#[component]
pub fn Compared(
    /// Id of the template.
    id: String,
    compared: Comparison,
    /// Number of the newest version.
    newest: i32,
    /// Names of the sets of sample data, at least one.
    sets: Vec<String>,
) -> impl IntoView {
    let Comparison {
        older,
        newer,
        html,
        data,
        translations,
    } = compared;
    let id_of_sets = id.clone();
    let versions = (older.number, newer.number);
    let number = older.number;
    let restored = Outcome::of::<RestoreTemplate>();
    let renamed = (older.name != newer.name).then(|| {
        view! {
            <p class="small break">
                {format!("Name in version {number}: ")} <b>{older.name}</b>
            </p>
        }
    });
    let publish = (!older.published).then(|| {
        view! { <OpenButton dialog=publish_dialog_id(number)>{format!("Publish {number}")}</OpenButton> }
    });
    let heading = format!(
        "{} compared with {}",
        called(number, newest),
        called(newer.number, newest).to_lowercase()
    );
    let differs = [&html, &data, &translations]
        .into_iter()
        .any(|diff| *diff != Diff::Equal);
    // Most templates have none.
    let translations =
        (translations != Diff::Equal).then(|| view! { <Difference title="Translations" diff=translations versions /> });
    let others = other_sets(&sets);
    let beside = view! { <Arrangement /> }.into_any();
    view! {
        <Section heading beside body="section__body stack stack--tight">
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
            {renamed} <h3>"Pages"</h3> <SetList id=id_of_sets versions sets first_open=differs />
            <Difference title="HTML" diff=html versions /> <Difference title="Sample data" diff=data versions /> {translations}
            {others.map(|others| view! { <p class="small quiet break">{others}</p> })}
        </Section>
    }
}

/// Returns a sentence about the sets that aren't part of versions: all but the first.
fn other_sets(sets: &[String]) -> Option<String> {
    match sets.get(1..)? {
        [] => None,
        [set] => Some(format!(
            "The set {set} isn’t part of versions. Its present data is used for both."
        )),
        others => Some(format!(
            "These sets aren’t part of versions, and their present data is used for both: {}.",
            others.join(", ")
        )),
    }
}

/// Radio buttons for both arrangements of texts, on screens that are wide enough. The style sheet follows them, so that
/// the page isn't loaded again.
#[component]
fn Arrangement() -> impl IntoView {
    view! {
        <SegmentedBar
            name="arrangement"
            legend="Arrangement"
            options=vec![("unified", "Unified"), ("split", "Side by side")]
            chosen="unified"
            class="segmented segmented--small comparison__choice"
        />
    }
}

#[component]
fn Difference(
    title: &'static str,
    diff: Diff,
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
        <BothArrangements title changes versions />
    }
    .into_any()
}

/// Both arrangements, of which one is shown. Narrow screens always show one column.
#[component]
fn BothArrangements(title: &'static str, changes: Changes, versions: (i32, i32)) -> impl IntoView {
    let (older, newer) = versions;
    view! {
        <div class="comparison__split">
            <SplitDiff
                changes=changes.clone()
                caption=format!("Changes of {title}")
                older=format!("Version {older}")
                newer=format!("Version {newer}")
            />
        </div>
        <div class="comparison__unified">
            <UnifiedDiff changes label=format!("Changes of {title}") />
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_beside_the_first_are_named() {
        let sets = |names: &[&str]| other_sets(&names.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(sets(&["Default"]), None);
        assert_eq!(
            sets(&["Default", "Long"]).as_deref(),
            Some("The set Long isn’t part of versions. Its present data is used for both.")
        );
        assert!(sets(&["Default", "Long", "Short"]).is_some_and(|words| words.ends_with(": Long, Short.")));
    }
}
