//! Stores accessibility reports in the background. This never delays or fails a render: a report that exceeds the bounds
//! of the queue or of the account's storage is not stored.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use platen_domain::{
    encryption::{DataKey, Place},
    ids::{AccountId, RenderId},
    render::accessibility::AccessibilityReport,
};

use crate::{
    render_request::stored::compressed,
    service::{
        Services,
        renders::retained::{RetainError, encrypted},
    },
    store::accessibility_reports,
};

/// Maximum size of the waiting reports of all accounts as JSON, in bytes: several times what arrives between two runs.
const BYTES: usize = 16 << 20;
/// Maximum size of the waiting reports of an account as JSON, in bytes.
const BYTES_OF_ACCOUNT: usize = 4 << 20;

/// The queue of reports to store. Cheap to clone.
#[derive(Clone, Default)]
pub struct AccessibilityReports(Arc<Mutex<Waiting>>);

/// Reports as JSON.
#[derive(Default)]
struct Waiting {
    reports: HashMap<AccountId, Vec<(RenderId, Vec<u8>)>>,
    bytes: usize,
}

impl AccessibilityReports {
    /// Adds the report of a render, unless it lists nothing because the document passes all checks: its declared levels
    /// say so.
    pub(in crate::service::renders) fn offer(
        &self,
        account: AccountId,
        render: RenderId,
        report: &AccessibilityReport,
    ) {
        if !report.is_notable() {
            return;
        }
        let Ok(json) = serde_json::to_vec(report) else {
            return;
        };
        let mut waiting = self.lock();
        let reports = waiting.reports.get(&account).map_or(&[][..], Vec::as_slice);
        let of_account: usize = reports.iter().map(|(_, json)| json.len()).sum();
        if of_account + json.len() <= BYTES_OF_ACCOUNT && waiting.bytes + json.len() <= BYTES {
            waiting.bytes += json.len();
            waiting.reports.entry(account).or_default().push((render, json));
        }
    }

    /// Returns whether the report of a render waits in this process.
    pub(in crate::service::renders) fn is_waiting(&self, account: AccountId, render: RenderId) -> bool {
        let waiting = self.lock();
        let mut reports = waiting.reports.get(&account).into_iter().flatten();
        reports.any(|(waiting, _)| *waiting == render)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stores the waiting reports, those of each account in one statement.
pub async fn store(app: &Services) {
    let waiting = mem::take(&mut *app.accessibility_reports.lock());
    for (account, reports) in waiting.reports {
        if let Err(error) = store_of_account(app, account, reports).await {
            tracing::warn!(%error, "accessibility reports could not be stored");
        }
    }
}

async fn store_of_account(
    app: &Services,
    account: AccountId,
    reports: Vec<(RenderId, Vec<u8>)>,
) -> Result<(), RetainError> {
    let encrypt = move |key: &DataKey, (render, json): (RenderId, Vec<u8>)| encrypt(key, account, render, &json);
    if let Some(reports) = encrypted(app, account, reports, encrypt).await? {
        accessibility_reports::insert(&app.db, account, reports).await?;
    }
    Ok(())
}

fn encrypt(
    key: &DataKey,
    account: AccountId,
    render: RenderId,
    json: &[u8],
) -> Result<(RenderId, Vec<u8>), RetainError> {
    let place = Place::accessibility_report(account, render);
    Ok((render, key.encrypt(&place, rand::random(), compressed(json)?)?))
}

#[cfg(test)]
mod tests {
    use platen_domain::render::accessibility::{ConformanceLevel, Finding};

    use super::*;

    fn report(levels: &[ConformanceLevel]) -> AccessibilityReport {
        let finding = Finding {
            clauses: Vec::new(),
            criterion: None,
            matterhorn: None,
            message: "x".repeat(100),
            part: None,
            page: None,
            element: None,
            selector: None,
            text: Some("x".repeat(100)),
            rectangle: None,
            page_size: None,
        };
        AccessibilityReport::new(levels.to_vec(), vec![finding; 200])
    }

    #[test]
    fn reports_are_dropped_beyond_the_bounds_of_an_account_and_of_all() {
        let (queue, report) = (AccessibilityReports::default(), report(&[ConformanceLevel::PdfA2a]));
        let large = AccountId::generate();
        let offer = |account, times| {
            for _ in 0..times {
                queue.offer(account, RenderId::generate(), &report);
            }
        };
        let fits = BYTES_OF_ACCOUNT / serde_json::to_vec(&report).expect("JSON").len();
        offer(large, fits + 10);
        assert_eq!(queue.lock().reports[&large].len(), fits);
        for _ in 0..10 {
            offer(AccountId::generate(), fits);
        }
        let waiting = queue.lock();
        let bytes: usize = waiting.reports.values().flatten().map(|(_, json)| json.len()).sum();
        assert!(bytes == waiting.bytes && bytes <= BYTES, "{bytes}");
    }

    #[test]
    fn only_documents_with_something_to_report_are_stored() {
        use ConformanceLevel::{PdfA2a, PdfUa1};
        let queue = AccessibilityReports::default();
        let passing = AccessibilityReport::new(vec![PdfA2a, PdfUa1], []);
        for report in [&report(&[]), &passing] {
            queue.offer(AccountId::generate(), RenderId::generate(), report);
        }
        assert!(queue.lock().reports.is_empty());
        let with_icons = report(&[PdfA2a, PdfUa1]);
        let faint = passing.with_low_contrast(with_icons.findings[..1].to_vec());
        for report in [&with_icons, &faint] {
            queue.offer(AccountId::generate(), RenderId::generate(), report);
        }
        assert_eq!(queue.lock().reports.len(), 2);
    }
}
