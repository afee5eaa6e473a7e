//! The note on a version of a template.

use leptos::prelude::*;
use platen_domain::editor::LONGEST_NOTE;

use crate::{
    model::rejection::Field,
    ui::{
        field::{FieldFrame, described_by},
        text_area::as_content,
    },
};

/// A field for the note on a version, focused when its dialog opens. It has several lines so that the Enter key doesn't
/// submit the form; the line breaks become spaces.
#[component]
pub fn NoteField(
    #[prop(into)] id: String,
    /// Initial value.
    #[prop(optional, into)]
    value: String,
    /// Validation error.
    #[prop(optional_no_strip)]
    problem: Option<&'static str>,
) -> impl IntoView {
    view! {
        <FieldFrame id=id.clone() label="Note" problem=problem optional=true>
            <textarea
                class="input input--area"
                id=id.clone()
                name=Field::VersionNote.into_str()
                autocomplete="off"
                placeholder="What changed?"
                maxlength=LONGEST_NOTE
                autofocus
                aria-invalid=problem.map(|_| "true")
                aria-describedby=described_by(&id, None, problem)
                inner_html=as_content(&value)
            ></textarea>
        </FieldFrame>
    }
}
