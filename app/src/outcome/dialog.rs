//! Dialogs with a form.

use leptos::prelude::*;

use crate::{
    csrf::CsrfField,
    outcome::{
        Outcome,
        form::{OutcomeErrors, SubjectField},
    },
    ui::{
        button::{CloseButton, Rank, SubmitButton},
        dialog::{Dialog, Weight},
    },
};

/// A dialog with a form. If the form was rejected, the dialog is open and shows the error.
#[component]
pub fn DialogForm(
    /// Result of the last submission.
    outcome: Outcome,
    /// `id` of the dialog, which its open button references.
    #[prop(into)]
    id: String,
    #[prop(into)] title: String,
    #[prop(optional)] weight: Weight,
    /// Label of the submit button.
    action: &'static str,
    /// The fields.
    children: Children,
) -> impl IntoView {
    let rank = match weight {
        Weight::Plain | Weight::Wide | Weight::Drawer => Rank::Primary,
        Weight::Danger => Rank::Destroy,
    };
    view! {
        <Dialog id=id.clone() title=title weight=weight open=outcome.error().is_some()>
            <form method="post" action=outcome.url>
                <CsrfField />
                <SubjectField outcome />
                <div class="dialog__body">
                    <OutcomeErrors outcome />
                    {children()}
                </div>
                <div class="dialog__foot">
                    <CloseButton dialog=id focus=matches!(weight, Weight::Danger)>
                        "Cancel"
                    </CloseButton>
                    <SubmitButton rank=rank>{action}</SubmitButton>
                </div>
            </form>
        </Dialog>
    }
}
