//! Publishing a version from the list.

use leptos::prelude::*;
use platen_domain::template::VersionSummary;

use crate::{
    islands::workbench::note::NoteField,
    model::rejection::Field,
    outcome::{DialogForm, Outcome},
    pages::template::versions::api::PublishVersion,
};

/// Returns the `id` of the dialog that publishes a version.
pub fn publish_dialog_id(number: i32) -> String {
    format!("publish-{number}")
}

/// Asks for confirmation, because publishing changes renders at once.
#[component]
pub fn PublishDialog(
    /// Id of the template.
    id: String,
    /// The version to publish.
    version: VersionSummary,
    /// Number of the published version.
    published: i32,
    /// Name of the published version, if it is listed.
    published_name: Option<String>,
    /// Number of the newest version.
    newest: i32,
    /// The renders that use published versions, as the beginning of a sentence.
    audience: String,
) -> impl IntoView {
    let number = version.number;
    let outcome = Outcome::about::<PublishVersion>(&number.to_string());
    let is_earlier = number < published;
    let what = if is_earlier {
        format!("This replaces version {published}: version {number} is saved as a new version and published.")
    } else {
        format!("This replaces version {published}, which is published now.")
    };
    let drafts = (is_earlier && newest > published)
        .then(|| view! { <p>"Newer drafts stay in the list, but the editor opens the new version."</p> });
    let name = version.name;
    let renamed = published_name
        .is_some_and(|published| published != name)
        .then(|| view! { <p class="break">"This also renames the template to " <b>{name}</b> "."</p> });
    let first_note = if is_earlier {
        format!("Version {number} again")
    } else {
        version.note.unwrap_or_default()
    };
    view! {
        <DialogForm
            outcome=outcome
            id=publish_dialog_id(number)
            title=format!("Publish version {number}")
            action="Publish"
        >
            <input type="hidden" name="id" value=id />
            <input type="hidden" name="seen" value=published />
            <p>{what}</p>
            <p>
                {audience} " use it from now on. Queued and running renders keep the version that was published when they were accepted."
            </p>
            {drafts}
            {renamed}
            <NoteField
                id=outcome.id(Field::VersionNote)
                value=outcome.typed_or(Field::VersionNote, &first_note)
                problem=outcome.problem(Field::VersionNote)
            />
        </DialogForm>
    }
}
