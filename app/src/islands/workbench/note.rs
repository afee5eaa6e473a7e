//! The note on a version of a template.

use leptos::prelude::*;
use platen_domain::editor::LONGEST_NOTE;

use crate::{model::rejection::Field, ui::text_area::TextArea};

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
        <TextArea
            name=Field::VersionNote.into_str()
            id
            label="Note"
            value
            problem
            placeholder="What changed?"
            maxlength=LONGEST_NOTE
            optional=true
            focus=true
        />
    }
}
