//! Dialogs that hold a form.

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

/// A dialog with a form. It is open when the page is shown because the form was refused, and then says why.
#[component]
pub fn DialogForm(
    /// What became of the form the last time.
    outcome: Outcome,
    /// `id` of the dialog, by which a button opens it.
    #[prop(into)]
    id: String,
    /// What it asks.
    #[prop(into)]
    title: String,
    /// See [`Weight`].
    #[prop(optional)]
    weight: Weight,
    /// What the button that sends the form says.
    action: &'static str,
    /// Fields.
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
