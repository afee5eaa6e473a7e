//! `/dashboard/assets`: the assets of the account, and the dialog that uploads files.

pub mod api;
pub mod delete;
pub mod detail;
pub mod list;
pub mod upload;

use leptos::prelude::*;
use platen_domain::{
    asset::{AssetFilter, UploadReport, tags},
    number::counted,
};

use crate::{
    layout::{
        page::{PageHead, Section, loaded},
        shell::{Shell, rail::Entry},
    },
    model::asset::Assets as Found,
    outcome::{Done, Outcome, OutcomeErrors},
    pages::{
        assets::{api::DeleteAsset, delete::DeleteDialog, list::AssetTable, upload::UploadDialog},
        query::ListQuery,
    },
    ui::{
        button::{OpenButton, Rank},
        filters::{FilterForm, SearchFilter},
        icon::Glyph,
        notice::{DetailedWarning, DoneNotice, WarningNotice},
    },
};

/// Path of the page.
pub const PATH: &str = "/dashboard/assets";
/// Path of the form that uploads files.
pub const UPLOAD_PATH: &str = "/dashboard/assets/upload";

/// The page of assets, filtered by `q`, `tag` and `cursor` of the query.
#[component]
pub fn Assets() -> impl IntoView {
    let query = ListQuery::of_page(&["q", "tag"]);
    let filter = AssetFilter {
        name: query.text("q"),
        // No asset has an invalid tag.
        tag: query.text("tag").map(|tag| tags::tag(&tag).unwrap_or_default()),
    };
    let after = query.cursor();
    view! {
        <Shell title="Assets" current=Entry::Assets>
            <PageHead
                title="Assets"
                lede="Images, fonts, style sheets and data. Templates and HTML of requests name them by asset: and their name."
            >
                <OpenButton dialog="upload" rank=Rank::Primary icon=Glyph::Add>
                    "Upload files"
                </OpenButton>
            </PageHead>
            <Done about=done />
            <OutcomeErrors outcome={Outcome::of::<DeleteAsset>()} />
            {loaded(
                |backend| async move { backend.assets(filter, after).await },
                move |found| view! { <Content found query /> },
            )}
            <UploadDialog />
        </Shell>
    }
}

/// Returns the notice for a value of `done` in the query.
fn done(word: &str) -> Option<&'static str> {
    (word == "deleted")
        .then_some("Asset deleted. Documents that need it are printed without it, or fail if their template is strict.")
}

#[component]
fn Content(found: Found, query: ListQuery) -> impl IntoView {
    let Found { found, upload } = found;
    let everything = query.is_empty() && query.is_first();
    let count = found.items.len();
    let heading = if query.is_first() && found.next.is_none() {
        counted(count, "asset", "assets")
    } else {
        "Assets".to_owned()
    };
    let dialogs = found.items.iter().cloned();
    let dialogs = dialogs.map(|(asset, users)| view! { <DeleteDialog asset users /> });
    let dialogs = dialogs.collect_view();
    let pager = query.pager(PATH, count, found.next);
    let folder = found.items.iter().find_map(|(asset, _)| folder(&asset.name));
    let body = if found.items.is_empty() {
        view! { <Empty everything /> }.into_any()
    } else {
        view! { <AssetTable assets=found.items /> }.into_any()
    };
    view! {
        {upload.map(|report| view! { <Uploaded report /> })}
        <Section heading>
            {(!everything || count > 0)
                .then(|| {
                    view! {
                        <FilterForm path=PATH can_be_cleared=!everything>
                            <SearchFilter label="Find by name or folder" />
                            <SearchFilter label="Tag" name="tag" />
                        </FilterForm>
                    }
                })} {body} {pager} {folder.map(|folder| view! { <FolderAdvice folder /> })}
        </Section>
        {dialogs}
    }
}

/// The result of the upload that led to the page.
#[component]
pub fn Uploaded(report: UploadReport) -> impl IntoView {
    if report == UploadReport::default() {
        return view! { <WarningNotice>"Nothing was uploaded: choose files or a folder."</WarningNotice> }.into_any();
    }
    let stored = match report.stored {
        0 => "Nothing was uploaded.".to_owned(),
        count => format!("{} uploaded.", counted(count, "file", "files")),
    };
    if let Some(reason) = report.refused {
        return view! { <DetailedWarning title=stored>{reason}</DetailedWarning> }.into_any();
    }
    if report.left_out_count == 0 {
        return view! { <DoneNotice>{stored}</DoneNotice> }.into_any();
    }
    let unnamed = report.left_out_count - report.left_out.len();
    let left_out = report.left_out.into_iter().map(|(name, reason)| {
        view! {
            <li>
                <code>{name}</code>
                ": "
                {reason}
                "."
            </li>
        }
    });
    let left_out = left_out.collect_view();
    let title = format!("{stored} Left out: {}", report.left_out_count);
    view! {
        <DetailedWarning title>
            <ul>{left_out} {(unnamed > 0).then(|| view! { <li>{unnamed} " more"</li> })}</ul>
        </DetailedWarning>
    }
    .into_any()
}

#[component]
fn Empty(everything: bool) -> impl IntoView {
    if everything {
        view! {
            <div class="empty">
                <h3>"No assets yet"</h3>
                <p>
                    "Upload a logo, and print it with " <code>"<img src=\"asset:logo.svg\" alt=\"…\">"</code>
                    ". With a whole folder, the page that a designer made for it works as it is: begin it with "
                    <code>"<base href=\"asset:folder/\">"</code> "."
                </p>
                <OpenButton dialog="upload" icon=Glyph::Add>
                    "Upload files"
                </OpenButton>
            </div>
        }
        .into_any()
    } else {
        view! { <p>"No asset has this name or tag. " <a href=PATH>"Show all"</a></p> }.into_any()
    }
}

/// Returns the folder of an asset with its slash.
fn folder(name: &str) -> Option<String> {
    name.rsplit_once('/').map(|(folder, _)| format!("{folder}/"))
}

/// How pages name the files of a folder.
#[component]
fn FolderAdvice(
    /// With its slash.
    folder: String,
) -> impl IntoView {
    view! {
        <p class="small quiet">
            "Relative addresses of a page lead to a folder of assets if the page begins with it: "
            <code class="break">{format!("<base href=\"asset:{folder}\">")}</code>
        </p>
    }
}
