//! The form that uploads the rows of a batch.

use leptos::prelude::*;
use platen_domain::{
    batch::{MOST_BYTES, MOST_ROWS},
    ids::BatchId,
    number::grouped,
};

use crate::{
    csrf,
    layout::page::Section,
    model::{batch::RejectedRows, rejection::Field},
    pages::batches::{PATH, page_of},
    read_only::Changes,
    ui::{
        button::{Rank, SubmitButton},
        check::Check,
        field::{FieldFrame, described_by},
        notice::DetailedWarning,
    },
};

/// Name of the field with the file. It is the last one, because it is read while it arrives.
pub const FILE: &str = "file";
/// Name of the field that pauses the batch before its first row.
pub const CHECK: &str = "check";
/// Name of the field with the URL of a file, instead of one.
pub const URL: &str = Field::RowsUrl.into_str();
/// End of the path of the form's action.
pub const ROWS: &str = "rows";
/// The `accept` attribute of the field.
const ACCEPTED: &str = ".csv,.tsv,.txt,.ndjson,.jsonl";
const HINT: &str =
    "CSV in UTF-8 with the names of the columns in the first line, or NDJSON. In Excel, save as “CSV UTF-8”.";
const URL_HINT: &str =
    "The public URL of a CSV or NDJSON file, such as one that a store has signed. A chosen file is used instead.";

/// Returns the path of the action of the form.
fn upload_path(id: BatchId) -> String {
    format!("{}/{ROWS}", page_of(id))
}

/// Returns whether this is the path of the action of such a form.
pub fn is_upload(path: &str) -> bool {
    let path = path.strip_prefix(PATH).and_then(|rest| rest.strip_prefix('/'));
    path.and_then(|path| path.split_once('/'))
        .is_some_and(|(_, rest)| rest == ROWS)
}

/// The section with the form. The token of the form is in the address of its action, because the file is read while it arrives.
#[component]
pub fn UploadSection(
    id: BatchId,
    /// Whether its renders are free.
    is_test: bool,
    /// The form that led to the page, if it was rejected.
    rejected: Option<RejectedRows>,
) -> impl IntoView {
    let token = csrf::token().unwrap_or_default();
    let url = rejected.as_ref().and_then(|rejected| rejected.url.clone());
    let rejected = rejected.map(|RejectedRows { reason, url }| {
        view! {
            <DetailedWarning title="No rows were stored">
                <p class="break">{reason}</p>
                {url
                    .is_none()
                    .then(|| {
                        view! {
                            <p>"URLs longer than 16 KiB are not shown again. Enter the URL again, or choose a file."</p>
                        }
                    })}
            </DetailedWarning>
        }
    });
    let cost = if is_test {
        "Documents of a test batch are free."
    } else {
        "Each document uses one credit or more."
    };
    let limits = format!(
        "Up to {} rows and {} GiB. No row is rendered before the file is complete and without faults. {cost}",
        grouped(MOST_ROWS.into()),
        MOST_BYTES >> 30
    );
    view! {
        <Section heading="Upload the rows" id="rows">
            <div class="stack">
                {rejected}
                <form
                    class="fields fields--narrow"
                    method="post"
                    action=format!("{}?{}={token}", upload_path(id), csrf::FIELD)
                    enctype="multipart/form-data"
                >
                    <Changes>
                        <Check
                            name=CHECK
                            label="Check the rows before the batch begins"
                            hint="Choose what the columns become and preview any row. No credits are used until you begin."
                            checked=true
                        />
                        <FieldFrame id=URL label="Load rows from a URL" hint=Some(URL_HINT) problem=None>
                            <input
                                class="input input--code"
                                id=URL
                                type="url"
                                name=URL
                                value=url
                                autocomplete="off"
                                aria-describedby=described_by(URL, Some(URL_HINT), None)
                            />
                        </FieldFrame>
                        <FieldFrame id=FILE label="Or choose a file" hint=Some(HINT) problem=None>
                            <input
                                class="input input--file"
                                id=FILE
                                type="file"
                                name=FILE
                                accept=ACCEPTED
                                aria-describedby=described_by(FILE, Some(HINT), None)
                            />
                        </FieldFrame>
                        <p class="small quiet">{limits}</p>
                        <div>
                            <SubmitButton rank=Rank::Primary>"Upload"</SubmitButton>
                        </div>
                    </Changes>
                </form>
            </div>
        </Section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_form_of_rows_may_be_large() {
        assert!(is_upload(&upload_path(BatchId::generate())));
        for path in [
            "/dashboard/batches",
            "/dashboard/batches/rows",
            "/dashboard/batches/x/rows/y",
            "/dashboard/batches/x/y/rows",
            "/dashboard/batches2/x/rows",
            "/web/rows",
        ] {
            assert!(!is_upload(path), "{path}");
        }
    }
}
