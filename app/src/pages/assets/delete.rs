//! The dialog that deletes an asset.

use leptos::prelude::*;
use platen_domain::{
    asset::{Asset, AssetUsers},
    ids::AssetId,
};

use crate::{
    outcome::{ButtonForm, Outcome},
    pages::assets::api::DeleteAsset,
    ui::{
        button::{CloseButton, Rank, SubmitButton},
        dialog::{Dialog, Weight},
    },
};

/// Returns the `id` of the dialog.
pub(super) fn delete_dialog(asset: AssetId) -> String {
    format!("delete-{asset}")
}

/// The dialog.
#[component]
pub fn DeleteDialog(
    asset: Asset,
    /// The templates that use it.
    users: AssetUsers,
) -> impl IntoView {
    let dialog = delete_dialog(asset.id);
    let outcome = Outcome::of::<DeleteAsset>();
    let used_by = if users.listed.is_empty() {
        "No published template names it; requests, style sheets and addresses that are built from data may.".to_owned()
    } else {
        format!("Used by {}.", users.names())
    };
    view! {
        <Dialog id=dialog.clone() title=format!("Delete “{}”", asset.name) weight=Weight::Danger>
            <ButtonForm outcome>
                <input type="hidden" name="id" value=asset.id.to_string() />
                <div class="dialog__body">
                    <p>
                        {used_by}
                        " Documents that need it are printed without it, with a warning; those of strict templates fail. This cannot be undone."
                    </p>
                </div>
                <div class="dialog__foot">
                    <CloseButton dialog=dialog>"Cancel"</CloseButton>
                    <SubmitButton rank=Rank::Destroy>"Delete asset"</SubmitButton>
                </div>
            </ButtonForm>
        </Dialog>
    }
}
