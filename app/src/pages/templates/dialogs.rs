//! What is asked before a template is made or deleted.

use leptos::{prelude::*, server_fn::ServerFn};

use crate::{
    csrf::CsrfField,
    model::{rejection::Field, template::Beginning},
    outcome::{Outcome, field::FormField, form::OutcomeErrors},
    pages::templates::api::{CreateTemplate, DeleteTemplate},
    ui::icon::{Glyph, Icon},
};

/// The dialog that deletes a template.
pub(super) fn delete_dialog_id(id: &str) -> String {
    format!("delete-{id}")
}

#[component]
fn Head(dialog: String, title: String) -> impl IntoView {
    view! {
        <div class="dialog__head">
            <h2 class="dialog__title" id=format!("{dialog}-title")>
                {title}
            </h2>
            <button
                class="button button--quiet button--icon button--small"
                type="button"
                command="close"
                commandfor=dialog
                aria-label="Close"
            >
                <Icon glyph=Glyph::Close />
            </button>
        </div>
    }
}

/// Makes a template.
#[component]
pub fn CreateDialog() -> impl IntoView {
    let outcome = Outcome::of::<CreateTemplate>();
    let beginnings = Beginning::OFFERED
        .into_iter()
        .enumerate()
        .map(|(index, (value, name, note))| {
            view! {
                <label class="check">
                    <input class="check__box" type="radio" name="beginning" value=value checked=index == 0 />
                    <span class="check__label">{name}</span>
                    <span class="check__hint">{note}</span>
                </label>
            }
        });
    view! {
        <dialog class="dialog" id="create" aria-labelledby="create-title" open=outcome.error().is_some()>
            <Head dialog="create".to_owned() title="New template".to_owned() />
            <form method="post" action=CreateTemplate::url()>
                <CsrfField />
                <div class="dialog__body">
                    <OutcomeErrors outcome />
                    <FormField outcome=outcome field=Field::TemplateName label="Name" />
                    <fieldset class="stack stack--tight">
                        <legend class="field__label">"Begin with"</legend>
                        {beginnings.collect_view()}
                    </fieldset>
                </div>
                <div class="dialog__foot">
                    <button class="button" type="button" command="close" commandfor="create">
                        "Cancel"
                    </button>
                    <button class="button button--primary" type="submit">
                        "Create template"
                    </button>
                </div>
            </form>
        </dialog>
    }
}

/// Deletes a template.
#[component]
pub fn DeleteDialog(
    /// Which one.
    id: String,
    /// What it is called.
    name: String,
) -> impl IntoView {
    let dialog = delete_dialog_id(&id);
    let of_button = dialog.clone();
    let field = format!("confirmation-{id}");
    view! {
        <dialog class="dialog dialog--danger" id=dialog.clone() aria-labelledby=format!("{dialog}-title")>
            <Head dialog=dialog.clone() title=format!("Delete “{name}”") />
            <form method="post" action=DeleteTemplate::url()>
                <CsrfField />
                <input type="hidden" name="id" value=id />
                <div class="dialog__body">
                    <p>"Renders that name it will answer 422 from now on. This cannot be undone."</p>
                    <div class="field">
                        <label class="field__label" for=field.clone()>
                            "Type the name to confirm"
                        </label>
                        <input
                            class="input"
                            id=field
                            type="text"
                            name=Field::Confirmation.name()
                            autocomplete="off"
                            required
                        />
                    </div>
                </div>
                <div class="dialog__foot">
                    <button class="button" type="button" command="close" commandfor=of_button>
                        "Cancel"
                    </button>
                    <button class="button button--destroy" type="submit">
                        "Delete template"
                    </button>
                </div>
            </form>
        </dialog>
    }
}
