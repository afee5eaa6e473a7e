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
/// Name of the fields with files.
pub const FILES: &str = "files";
/// Ends the address of an upload that leads to the page of fonts.
pub const TO_FONTS: &str = "&page=fonts";
/// The `accept` attribute of fields with files.
const ACCEPTED: &str = "image/*,.svg,.woff2,.woff,.ttf,.otf,.css,.json,.csv";

/// The dialog that uploads files. Read-only pages have none. The token of a form with files is in the address of its
/// action, because the files are read one by one.
#[component]
pub fn UploadDialog(
    /// Whether the upload leads to the page of fonts instead of that of assets.
    #[prop(optional)]
    to_fonts: bool,
) -> impl IntoView {
    let page = if to_fonts { TO_FONTS } else { "" };
    let token = csrf::token().unwrap_or_default();
    (!is_read_only()).then(|| {
        view! {
            <Dialog id="upload" title="Upload files">
                <form
                    method="post"
                    action=format!("{UPLOAD_PATH}?{}={token}{page}", csrf::FIELD)
                    enctype="multipart/form-data"
                >
                    <div class="dialog__body">
                        <FileField
                            id="upload-files"
                            label="Files"
                            hint="Choose several, or drop them here. Up to 10 MiB each, 32 MiB together."
                            folder=false
                        />
                        <FileField
                            id="upload-folder"
                            label="A whole folder"
                            hint="Its files keep their paths. Files of other types, such as HTML, are left out."
                            folder=true
                        />
                        <TextField
                            name=FOLDER
                            label="Into the folder"
                            hint="Put in front of all names, as in brand/logo.svg."
                            optional=true
                        />
                        <p class="quiet">"Files replace assets of the same name."</p>
                    </div>
                    <div class="dialog__foot">
                        <CloseButton dialog="upload">"Cancel"</CloseButton>
                        <SubmitButton rank=Rank::Primary>"Upload"</SubmitButton>
                    </div>
                </form>
            </Dialog>
        }
    })
}

/// A field for several files, or for those of a folder.
#[component]
fn FileField(
    /// `id` of the input.
    id: &'static str,
    label: &'static str,
    hint: &'static str,
    /// Whether the user chooses a folder.
    folder: bool,
) -> impl IntoView {
    let input = view! {
        <input
            class="input input--file"
            id=id
            type="file"
            name=FILES
            multiple
            accept=(!folder).then_some(ACCEPTED)
            aria-describedby=described_by(id, Some(hint), None)
        />
    };
    view! {
        <FieldFrame id label hint=Some(hint) problem=None>
            {input.attr("webkitdirectory", folder)}
        </FieldFrame>
    }
}
