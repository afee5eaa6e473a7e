//! The dialog that uploads files.

use leptos::prelude::*;

use crate::{
    csrf,
    pages::assets::UPLOAD_PATH,
    read_only::is_read_only,
    ui::{
        button::{CloseButton, Rank, SubmitButton},
        dialog::Dialog,
        field::{FieldFrame, TextField, described_by},
    },
};

/// Name of the field with the folder.
pub const FOLDER: &str = "folder";
/// Name of the field with the name of the asset that the file replaces.
pub const REPLACED: &str = "replaced";
/// Name of the fields with files.
pub const FILES: &str = "files";
/// Ends the address of an upload that leads to the page of fonts.
pub const TO_FONTS: &str = "&page=fonts";
/// The `accept` attribute of fields with files.
const ACCEPTED: &str = "image/*,.svg,.woff2,.woff,.ttf,.otf,.css,.json,.csv";

/// The dialog that uploads files.
#[component]
pub fn UploadDialog(
    /// Whether the upload leads to the page of fonts instead of that of assets.
    #[prop(optional)]
    to_fonts: bool,
) -> impl IntoView {
    let page = if to_fonts { TO_FONTS } else { "" };
    view! {
        <FilesDialog title="Upload files" action="Upload" page>
            <FileField
                id="upload-files"
                label="Files"
                hint="Choose several, or drop them here. Up to 10 MiB each, 32 MiB together."
                choice=Choice::Files
            />
            <FileField
                id="upload-folder"
                label="A whole folder"
                hint="Its files keep their paths. Files of other types, such as HTML, are left out."
                choice=Choice::Folder
            />
            <TextField
                name=FOLDER
                label="Into the folder"
                hint="Put in front of all names, as in brand/logo.svg."
                optional=true
            />
            <p class="quiet">"Files replace assets of the same name."</p>
        </FilesDialog>
    }
}

/// The dialog that replaces the content of an asset by a file.
#[component]
pub fn ReplaceDialog(
    /// Name of the asset, which stays.
    name: String,
) -> impl IntoView {
    view! {
        <FilesDialog title="Replace the content" action="Replace" page="">
            <input type="hidden" name=REPLACED value=name />
            <FileField
                id="upload-file"
                label="File"
                hint="Up to 10 MiB. Name, tags and address of the asset stay; renders that start afterwards show the new content."
                choice=Choice::File
            />
        </FilesDialog>
    }
}

/// A dialog with a form of files. Read-only pages have none. The token of the form is in the address of its action, because the
/// files are read one by one.
#[component]
fn FilesDialog(
    title: &'static str,
    /// Label of the button.
    action: &'static str,
    /// End of the address.
    page: &'static str,
    children: Children,
) -> impl IntoView {
    let token = csrf::token().unwrap_or_default();
    (!is_read_only()).then(|| {
        view! {
            <Dialog id="upload" title=title>
                <form
                    method="post"
                    action=format!("{UPLOAD_PATH}?{}={token}{page}", csrf::FIELD)
                    enctype="multipart/form-data"
                >
                    <div class="dialog__body">{children()}</div>
                    <div class="dialog__foot">
                        <CloseButton dialog="upload">"Cancel"</CloseButton>
                        <SubmitButton rank=Rank::Primary>{action}</SubmitButton>
                    </div>
                </form>
            </Dialog>
        }
    })
}

/// What a field for files accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    File,
    Files,
    Folder,
}

/// A field for files.
#[component]
fn FileField(
    /// `id` of the input.
    id: &'static str,
    label: &'static str,
    hint: &'static str,
    choice: Choice,
) -> impl IntoView {
    let input = view! {
        <input
            class="input input--file"
            id=id
            type="file"
            name=FILES
            multiple=choice != Choice::File
            required=choice == Choice::File
            accept=(choice != Choice::Folder).then_some(ACCEPTED)
            aria-describedby=described_by(id, Some(hint), None)
        />
    };
    view! {
        <FieldFrame id label hint=Some(hint) problem=None>
            {input.attr("webkitdirectory", choice == Choice::Folder)}
        </FieldFrame>
    }
}
