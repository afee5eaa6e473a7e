//! The list of assets.

use leptos::prelude::*;
use platen_domain::{asset::Asset, ids::AssetId, number::storage_size};

use crate::{
    outcome::{ButtonForm, Outcome},
    pages::assets::{PATH, api::DeleteAsset},
    ui::{
        button::{CloseButton, Rank, SubmitButton},
        copy_button::CopyButton,
        dialog::{Dialog, Weight},
        icon::Glyph,
        menu::{OpenItem, RowMenu},
        moment::Moment,
        table::{Column, Table},
    },
};

const COLUMNS: &[Column] = &[
    Column::tight("Picture").with_hidden_head(),
    Column::text("Name"),
    Column::tight("Copy address").with_hidden_head(),
    Column::text("Type").from_medium(),
    Column::figure("Size").from_medium(),
    Column::text("Changed").from_wide(),
    Column::ACTIONS,
];

/// Maximum size of a picture that is shown, in bytes: the page shows 50.
const LARGEST_PICTURE: i32 = 1 << 20;

/// Table of assets.
#[component]
pub fn AssetTable(
    /// In display order.
    assets: Vec<Asset>,
) -> impl IntoView {
    let rows = assets.into_iter().map(|asset| view! { <Row asset /> });
    view! { <Table caption="Assets" columns=COLUMNS rows /> }
}

#[component]
fn Row(asset: Asset) -> impl IntoView {
    let kind = asset.content_type.split(';').next().unwrap_or_default().to_owned();
    let size = storage_size(asset.bytes.into());
    let picture = (kind.starts_with("image/") && asset.bytes <= LARGEST_PICTURE).then(|| {
        view! { <img class="asset-picture" src=format!("{PATH}/{}/picture", asset.id) alt="" loading="lazy" /> }
    });
    let address = format!("asset:{}", asset.name);
    view! {
        <tr>
            <td class="table__tight">{picture}</td>
            <th scope="row">
                <code>{asset.name.clone()}</code>
                <span class="table__sub table__narrow">{kind.clone()} ", " {size.clone()}</span>
            </th>
            <td class="table__tight">
                <CopyButton label=format!("Copy {address}") text=address />
            </td>
            <td class="table__medium">{kind}</td>
            <td class="table__figure table__medium">{size}</td>
            <td class="table__wide">
                <Moment at=asset.updated_at />
            </td>
            <td class="table__actions">
                <RowMenu id=format!("menu-{}", asset.id) of=asset.name>
                    <OpenItem dialog=delete_dialog(asset.id) danger=true icon=Glyph::Remove>
                        "Delete"
                    </OpenItem>
                </RowMenu>
            </td>
        </tr>
    }
}

fn delete_dialog(asset: AssetId) -> String {
    format!("delete-{asset}")
}

/// The dialog that deletes an asset.
#[component]
pub fn DeleteDialog(asset: Asset) -> impl IntoView {
    let dialog = delete_dialog(asset.id);
    let outcome = Outcome::of::<DeleteAsset>();
    view! {
        <Dialog id=dialog.clone() title=format!("Delete “{}”", asset.name) weight=Weight::Danger>
            <ButtonForm outcome>
                <input type="hidden" name="id" value=asset.id.to_string() />
                <div class="dialog__body">
                    <p>
                        "Templates and requests that name it are printed without it, with a warning. This cannot be undone."
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
