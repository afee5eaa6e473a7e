//! The list of assets.

use leptos::prelude::*;
use platen_domain::{
    asset::{Asset, AssetUsers},
    ids::AssetId,
    number::{counted, size},
};

use crate::{
    pages::{
        assets::{PATH, delete::delete_dialog},
        query::{address, literal},
    },
    ui::{
        copy_button::CopyButton,
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
    Column::text("Used by").from_medium(),
    Column::text("Changed").from_wide(),
    Column::ACTIONS,
];

/// Maximum size of a picture that is shown, in bytes: the page shows 50.
const LARGEST_PICTURE: i32 = 1 << 20;

/// Table of assets.
#[component]
pub fn AssetTable(
    /// With the templates that use them, in display order.
    assets: Vec<(Asset, AssetUsers)>,
) -> impl IntoView {
    let rows = assets
        .into_iter()
        .map(|(asset, users)| view! { <Row asset users=summary(&users) /> });
    view! { <Table caption="Assets" columns=COLUMNS rows /> }
}

/// Describes how many templates use an asset.
fn summary(users: &AssetUsers) -> String {
    if users.listed.is_empty() {
        return String::new();
    }
    let count = counted(users.listed.len(), "template", "templates");
    if users.has_more {
        format!("More than {count}")
    } else {
        count
    }
}

#[component]
fn Row(
    asset: Asset,
    /// How many templates use it.
    users: String,
) -> impl IntoView {
    let kind = media_type(&asset).to_owned();
    let size = size(asset.bytes.into());
    let picture = (is_picture(&asset) && asset.bytes <= LARGEST_PICTURE).then(|| {
        view! { <img class="asset-picture" src=picture(asset.id) alt="" loading="lazy" /> }
    });
    let address = format!("asset:{}", asset.name);
    let tags = asset.tags.clone();
    view! {
        <tr>
            <td class="table__tight">{picture}</td>
            <th scope="row">
                <a href=format!("{PATH}/{}", asset.id)>
                    <code>{asset.name.clone()}</code>
                </a>
                <span class="table__sub table__narrow">{kind.clone()} ", " {size.clone()}</span>
                <Tags tags />
            </th>
            <td class="table__tight">
                <CopyButton label=format!("Copy {address}") text=address />
            </td>
            <td class="table__medium">{kind}</td>
            <td class="table__figure table__medium">{size}</td>
            <td class="table__medium">{users}</td>
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

/// The tags of an asset, which lead to the assets that have them.
#[component]
pub fn Tags(tags: Vec<String>) -> impl IntoView {
    let tags = tags.into_iter().map(|tag| {
        let href = address(PATH, [("tag", Some(literal(&tag)))]);
        view! {
            <a class="tag" href=href>
                {tag}
            </a>
            " "
        }
    });
    tags.collect_view()
}

/// Returns the media type of an asset without parameters.
pub(super) fn media_type(asset: &Asset) -> &str {
    asset.content_type.split(';').next().unwrap_or_default()
}

/// Returns whether browsers can show an asset as a picture.
pub(super) fn is_picture(asset: &Asset) -> bool {
    asset.content_type.starts_with("image/")
}

/// Returns the address of a picture.
pub(super) fn picture(asset: AssetId) -> String {
    format!("{PATH}/{asset}/picture")
}
