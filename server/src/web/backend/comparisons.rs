//! Comparisons of versions of templates. Comparing large ones takes time, so that they queue like request bodies.

use std::time::Duration;

use platen_app::{error::AppError, model::template_versions::Comparison};
use platen_core::service::{Services, parsers::Busy};
use platen_domain::{
    diff::{self, Diff},
    ids::AccountId,
    template::TemplateVersion,
};

use super::visitor_errors::too_many;

/// Maximum number of lines of each comparison on the page of versions.
const LINES_ON_PAGE: usize = 1000;
/// Maximum number of lines in the dialog that publishes a template.
const LINES_IN_DIALOG: usize = 300;

/// Compares a version with a newer one.
pub(super) async fn of_versions(
    app: &Services,
    account: AccountId,
    older: TemplateVersion,
    newer: TemplateVersion,
) -> Result<Comparison, AppError> {
    let bytes = older.content.len() + newer.content.len();
    let compare = move || Comparison {
        html: diff::compare::compare(&older.content, &newer.content, LINES_ON_PAGE),
        data: diff::compare::compare(&older.data(), &newer.data(), LINES_ON_PAGE),
        older: older.summary,
    };
    let comparing = app.parsers.run(account, app.parsing_deadline(), bytes, compare);
    comparing.await.map_err(|Busy| too_many(Duration::ZERO))
}

/// Compares the HTML of the published version with that of the editor.
pub(super) async fn html_of_editor(
    app: &Services,
    account: AccountId,
    published: String,
    edited: String,
) -> Result<Diff, AppError> {
    let bytes = published.len() + edited.len();
    let compare = move || diff::compare::compare(&published, &edited, LINES_IN_DIALOG);
    let comparing = app.parsers.run(account, app.parsing_deadline(), bytes, compare);
    comparing.await.map_err(|Busy| too_many(Duration::ZERO))
}
