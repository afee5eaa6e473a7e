//! Dialogs that create and delete templates.

use leptos::prelude::*;
use platen_domain::template::identity::TemplateKind;

use crate::{
    model::{rejection::Field, template::Beginning},
    outcome::{ButtonForm, DialogForm, FormField, Outcome},
    pages::templates::{
        HANDLE_HINT,
        api::{CreateTemplate, DeleteTemplate},
    },
    ui::{
        button::{CloseButton, Rank, SubmitButton},
        dialog::{Dialog, Weight},
        field::TextField,
        radio::{Radio, RadioCard},
    },
};

/// Returns the `id` of the dialog that deletes a template.
pub(super) fn delete_dialog_id(id: &str) -> String {
    format!("delete-{id}")
}

/// The dialog that creates a template.
#[component]
pub fn CreateDialog() -> impl IntoView {
    let outcome = Outcome::of::<CreateTemplate>();
    let beginnings = Beginning::OFFERED.into_iter().map(|(beginning, value, name, note)| {
        let picture = format!("/img/starter-{value}.webp");
        let checked = beginning == Beginning::default();
        view! { <RadioCard name="beginning" value=value label=name hint=note picture checked /> }
    });
    view! {
        <DialogForm outcome id="create" title="New template" weight=Weight::Wide action="Create template">
            <div class="fields fields--narrow">
                <FormField
                    outcome=outcome
                    field=Field::TemplateName
                    label="Name"
                    optional=true
                    focus=true
                />
                <KindField outcome kind=TemplateKind::Document />
                <FormField
                    outcome=outcome
                    field=Field::TemplateHandle
                    label="Handle"
                    hint=HANDLE_HINT
                    optional=true
                />
            </div>
            <fieldset class="fieldset starters">
                <legend class="fieldset__legend">"Starter"</legend>
                <div class="radio-cards">{beginnings.collect_view()}</div>
            </fieldset>
        </DialogForm>
    }
}

/// The choice of a template's kind.
#[component]
pub fn KindField(
    /// Result of the last submission.
    outcome: Outcome,
    /// The kind that is selected initially.
    kind: TemplateKind,
) -> impl IntoView {
    let name = Field::TemplateKind.into_str();
    let chosen = outcome.typed_or(Field::TemplateKind, kind.into_str());
    let kinds = [
        (TemplateKind::Document, "Document", "Rendered to PDF"),
        (
            TemplateKind::Partial,
            "Partial",
            "Included by other templates, such as a footer. Begins with a few lines",
        ),
    ];
    let kinds = kinds.map(|(offered, label, hint)| {
        view! { <Radio name value=offered.into_str() label hint checked=offered.into_str() == chosen /> }
    });
    view! {
        <fieldset class="fieldset">
            <legend class="fieldset__legend">"Kind"</legend>
            {kinds.into_iter().collect_view()}
        </fieldset>
    }
}

/// The dialog that deletes a template.
#[component]
pub fn DeleteDialog(
    /// Id of the template.
    id: String,
    /// Name of the template.
    name: String,
    /// Distinguishes the template from others of the same name.
    hint: Option<String>,
) -> impl IntoView {
    let dialog = delete_dialog_id(&id);
    let outcome = Outcome::of::<DeleteTemplate>();
    view! {
        <Dialog id=dialog.clone() title=format!("Delete “{name}”") weight=Weight::Danger>
            <ButtonForm outcome>
                <input type="hidden" name="id" value=id.clone() />
                <div class="dialog__body">
                    {hint.map(|hint| view! { <p>"Several templates have this name. This is the one " {hint} "."</p> })}
                    <p>"Renders that use it will fail with 422. This cannot be undone."</p>
                    <TextField
                        name=Field::Confirmation.into_str()
                        id=format!("confirmation-{id}")
                        label="Type the name to confirm"
                        focus=true
                    />
                </div>
                <div class="dialog__foot">
                    <CloseButton dialog=dialog>"Cancel"</CloseButton>
                    <SubmitButton rank=Rank::Destroy>"Delete template"</SubmitButton>
                </div>
            </ButtonForm>
        </Dialog>
    }
}
