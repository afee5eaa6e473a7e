//! `/dashboard/assets/{id}`: an asset, and the templates that use it.

use leptos::prelude::*;
use platen_domain::{
    asset::{
        Asset, AssetUser, AssetUsers, ReplacedContent,
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
    model::{asset::AssetDetail, rejection::Field},
    outcome::{Done, FormField, NarrowForm, Outcome, OutcomeErrors},
    pages::{
        assets::{
            FolderAdvice, PATH,
            api::{DeleteAsset, SetAssetTags},
            delete::{DeleteDialog, delete_dialog},
            folder,
            list::{Tags, is_picture, media_type, picture},
            upload::ReplaceDialog,
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
            <Done about=done />
            <OutcomeErrors outcome={Outcome::of::<DeleteAsset>()} />
            {loaded(move |backend| async move { backend.asset(id?).await }, |found| view! { <Content found /> })}
        </Shell>
    }
}

/// Returns the notice for a value of `done` in the query.
fn done(word: &str) -> Option<&'static str> {
    (word == "saved").then_some("Tags saved.")
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
    let file = asset.file_name().to_owned();
    let advice = folder(&asset.name).map(|folder| view! { <FolderAdvice folder /> });
    let sha256 = asset.sha256.clone();
    let replaced = asset.replaced.clone().map(|replaced| view! { <Replaced replaced /> });
    view! {
        <PageHead title=asset.name.clone() is_chosen=true facts>
            <a class="button" href=format!("{PATH}/{}/content", asset.id) download=file>
                "Download"
            </a>
            <OpenButton dialog="upload">"Replace"</OpenButton>
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
            {replaced} {advice}
        </Section>
        <UsedBy users=users.clone() />
        <TagsForm asset=asset.clone() />
        <ReplaceDialog name=asset.name.clone() />
        <DeleteDialog asset users />
    }
}

/// The form of the tags.
#[component]
fn TagsForm(asset: Asset) -> impl IntoView {
    let outcome = Outcome::of::<SetAssetTags>();
    let text = asset.tags.join(", ");
    view! {
        <Section heading="Tags" body="section__body stack stack--tight">
            <p>
                <Tags tags=asset.tags />
            </p>
            <NarrowForm outcome action="Save tags">
                <input type="hidden" name="id" value=asset.id.to_string() />
                <FormField
                    outcome
                    field=Field::Tags
                    label="Tags"
                    hint="Up to 10, with commas between them, by which the list of assets can be filtered."
                    value=text
                    optional=true
                />
            </NarrowForm>
        </Section>
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
