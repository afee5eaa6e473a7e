//! `/dashboard/assets/{id}`: an asset, and the templates that use it.

use leptos::prelude::*;
use platen_domain::{
    asset::{
        AssetUser, AssetUsers, ReplacedContent,
        properties::{AssetProperties, PictureSize},
    },
    ids::AssetId,
    number::size,
    template::identity::TemplateKind,
};

use crate::{
    layout::{
        page::{PageHead, Section, loaded},
        shell::{Shell, rail::Entry},
    },
    model::asset::AssetDetail,
    outcome::{Outcome, OutcomeErrors},
    pages::{
        assets::{
            api::DeleteAsset,
            delete::{DeleteDialog, delete_dialog},
            list::{is_picture, media_type, picture},
        },
        fonts::{PATH as FONTS, coverage, description},
        query::id_in_path,
        templates,
    },
    ui::{
        button::{OpenButton, Rank},
        copy_button::CopyButton,
        icon::Glyph,
        moment::Moment,
        notice::DetailedWarning,
    },
};

/// The page of an asset.
#[component]
pub fn Asset() -> impl IntoView {
    let id = id_in_path(AssetId::parse);
    view! {
        <Shell title="Asset" current=Entry::Assets>
            <OutcomeErrors outcome={Outcome::of::<DeleteAsset>()} />
            {loaded(move |backend| async move { backend.asset(id?).await }, |found| view! { <Content found /> })}
        </Shell>
    }
}

#[component]
fn Content(found: AssetDetail) -> impl IntoView {
    let AssetDetail { asset, users } = found;
    let address = format!("asset:{}", asset.name);
    let facts = view! {
        <span>{media_type(&asset).to_owned()}</span>
        <span>{size(asset.bytes.into())}</span>
        <span>"Stored " <Moment at=asset.updated_at /></span>
    }
    .into_any();
    let shown = is_picture(&asset).then(|| {
        view! { <img class="asset-picture asset-picture--large" src=picture(asset.id) alt=asset.name.clone() /> }
    });
    let properties = asset
        .properties
        .clone()
        .map(|properties| view! { <Properties properties /> });
    let sha256 = asset.sha256.clone();
    let replaced = asset.replaced.clone().map(|replaced| view! { <Replaced replaced /> });
    view! {
        <PageHead title=asset.name.clone() is_chosen=true facts>
            <OpenButton dialog=delete_dialog(asset.id) rank=Rank::Danger icon=Glyph::Remove>
                "Delete"
            </OpenButton>
        </PageHead>
        <Section heading="Content" body="section__body stack stack--tight">
            {shown}
            <p>
                <code class="break">{address.clone()}</code>
                " "
                <CopyButton label=format!("Copy {address}") text=address />
            </p>
            {properties}
            <p class="small quiet">
                "SHA-256: " <code class="break">{sha256}</code>
            </p>
            {replaced}
            <p class="small quiet">"To replace it, upload a file of the same name."</p>
        </Section>
        <UsedBy users=users.clone() />
        <DeleteDialog asset users />
    }
}

/// The size of a picture, or a description of a font.
#[component]
fn Properties(properties: AssetProperties) -> impl IntoView {
    let font = match properties {
        AssetProperties::Picture(PictureSize { width, height }) => {
            return view! { <p>{format!("{width} × {height} pixels")}</p> }.into_any();
        }
        AssetProperties::Font(font) => font,
    };
    let warning = font.licence_warning();
    let warning = warning.map(|warning| view! { <DetailedWarning title="Licence">{warning} "."</DetailedWarning> });
    view! {
        {warning}
        <p>
            {font.family.clone()} " " {description(&font)} " · " {coverage(&font)} ". "
            <a href=FONTS>"Show all fonts"</a>
        </p>
    }
    .into_any()
}

/// The content before the last replacement.
#[component]
fn Replaced(replaced: ReplacedContent) -> impl IntoView {
    view! {
        <p class="small quiet">
            "Replaced: " {size(replaced.bytes.into())} ", stored " <Moment at=replaced.updated_at /> ", SHA-256 "
            <code class="break">{replaced.sha256}</code>
        </p>
    }
}

/// The templates that use the asset.
#[component]
fn UsedBy(users: AssetUsers) -> impl IntoView {
    let AssetUsers { listed, has_more } = users;
    let body = if listed.is_empty() {
        view! {
            <p>
                "No published template names it, or a folder that contains it. Requests, style sheets and addresses that are built from data may."
            </p>
        }
        .into_any()
    } else {
        let listed = listed.into_iter().map(|user| view! { <User user /> }).collect_view();
        let more = has_more.then(|| view! { <li class="quiet">"And more"</li> });
        view! { <ul>{listed} {more}</ul> }.into_any()
    };
    view! { <Section heading="Used by">{body}</Section> }
}

#[component]
fn User(user: AssetUser) -> impl IntoView {
    let AssetUser { id, name, kind } = user;
    let kind = (kind == TemplateKind::Partial).then_some(", a partial");
    view! {
        <li>
            <a href=format!("{}/{id}", templates::PATH)>{name}</a>
            {kind}
        </li>
    }
}
