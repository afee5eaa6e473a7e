//! Dialogs that create and delete templates.

use leptos::prelude::*;

use crate::{
    model::{rejection::Field, template::Beginning},
    outcome::{ButtonForm, DialogForm, FormField, Outcome},
    pages::templates::api::{CreateTemplate, DeleteTemplate},
    ui::{
        button::{CloseButton, Rank, SubmitButton},
        dialog::{Dialog, Weight},
        field::TextField,
        radio::Radio,
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
    let beginnings = Beginning::OFFERED
        .into_iter()
        .enumerate()
        .map(|(index, (value, name, note))| {
            view! { <Radio name="beginning" value=value label=name hint=note checked=index == 0 /> }
        });
    view! {
        <DialogForm outcome id="create" title="New template" action="Create template">
            <FormField outcome=outcome field=Field::TemplateName label="Name" focus=true />
            <fieldset class="stack stack--tight">
                <legend class="field__label">"Begin with"</legend>
                {beginnings.collect_view()}
            </fieldset>
        </DialogForm>
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
                    <p>"Renders that name it will answer 422 from now on. This cannot be undone."</p>
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
