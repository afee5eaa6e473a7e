//! Comparisons of versions of templates. Comparing large ones takes time, so that they queue like request bodies.

use std::time::{Duration, Instant};

use platen_app::{error::AppError, model::template_versions::Comparison};
use platen_core::service::{Services, parsers::Busy, templates::drafts};
use platen_domain::{
    diff::compare::compare,
    editor::UnpublishedChanges,
    ids::{AccountId, TemplateId},
    template::{
        Template, TemplateVersion,
        translations::{self, Translations},
    },
};

use super::{RequestBackend, visitor_errors::too_many};

/// Maximum number of lines of each comparison on the page of versions.
const LINES_ON_PAGE: usize = 1000;
/// Maximum number of lines in the dialog that publishes a template.
const LINES_IN_DIALOG: usize = 300;
/// Time after which everything that is not compared yet counts as changed: texts with many repeated lines are expensive.
const LONGEST: Duration = Duration::from_millis(500);

impl RequestBackend {
    /// Returns the names of the sets of sample data of a template.
    pub(super) async fn set_names(&self, account: AccountId, id: TemplateId) -> Result<Vec<String>, AppError> {
        self.answer(drafts::set_names(&self.app.db, account, id).await)
    }
}

/// Compares a version with a newer one.
pub(super) async fn of_versions(
    app: &Services,
    account: AccountId,
    older: TemplateVersion,
    newer: TemplateVersion,
) -> Result<Comparison, AppError> {
    let compare = move || {
        let deadline = Instant::now() + LONGEST;
        Comparison {
            html: compare(&older.content, &newer.content, LINES_ON_PAGE, deadline),
            data: compare(&older.data(), &newer.data(), LINES_ON_PAGE, deadline),
            translations: compare(
                &older.translations.indented(),
                &newer.translations.indented(),
                LINES_ON_PAGE,
                deadline,
            ),
            older: older.summary,
            newer: newer.summary,
        }
    };
    let comparing = app.parsers.run_apart(account, app.parsing_deadline(), compare);
    comparing.await.map_err(|Busy| too_many(Duration::ZERO))
}

/// Compares HTML and translations of the published version with those of the editor.
pub(super) async fn of_editor(
    app: &Services,
    account: AccountId,
    published: Template,
    content: String,
    translations: String,
) -> Result<UnpublishedChanges, AppError> {
    let compare = move || {
        let deadline = Instant::now() + LONGEST;
        UnpublishedChanges {
            published: published.version,
            html: compare(&published.content, &content, LINES_IN_DIALOG, deadline),
            translations: compare(
                &published.translations.indented(),
                &formatted(&translations),
                LINES_IN_DIALOG,
                deadline,
            ),
        }
    };
    let comparing = app.parsers.run_apart(account, app.parsing_deadline(), compare);
    comparing.await.map_err(|Busy| too_many(Duration::ZERO))
}

/// Returns translations in the format of saved ones, or as they are if they are not valid.
fn formatted(typed: &str) -> String {
    let read = translations::read_text(typed).ok();
    let valid = read.and_then(|read| Translations::try_from(read).ok());
    valid.map_or_else(|| typed.to_owned(), |valid| valid.indented())
}
