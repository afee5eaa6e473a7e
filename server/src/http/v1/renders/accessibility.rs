//! `/api/v1/renders/{id}/accessibility`

use axum::{Json, extract::State};
use platen_core::service::{
    Services,
    renders::{accessibility, history},
};
use platen_domain::render::accessibility::{AccessibilityReport, Clause, ConformanceLevel, Finding};
use serde::Serialize;

use crate::http::{
    error::ApiError,
    extract::{MayReadRenders, RenderPath},
};

#[derive(Serialize)]
pub(in crate::http) struct AccessibilityAnswer {
    accessibility: AccessibilityResponse,
}

#[derive(Serialize)]
struct AccessibilityResponse {
    passes_machine_checks: bool,
    conformance_levels: Vec<ConformanceLevel>,
    findings: Vec<FindingResponse>,
    findings_cut: bool,
    low_contrast: Vec<FindingResponse>,
}

#[derive(Serialize)]
struct FindingResponse {
    rule: String,
    clauses: Vec<ClauseResponse>,
    matterhorn: Option<String>,
    message: String,
    remedy: &'static str,
    part: Option<usize>,
    page: Option<usize>,
    element: Option<String>,
    selector: Option<String>,
    text: Option<String>,
    rectangle: Option<[f64; 4]>,
}

#[derive(Serialize)]
struct ClauseResponse {
    level: ConformanceLevel,
    clause: String,
}

impl From<AccessibilityReport> for AccessibilityAnswer {
    fn from(report: AccessibilityReport) -> Self {
        Self {
            accessibility: AccessibilityResponse {
                passes_machine_checks: report.passes_machine_checks(),
                conformance_levels: report.levels,
                findings: report.findings.into_iter().map(Into::into).collect(),
                findings_cut: report.findings_cut,
                low_contrast: report.low_contrast.into_iter().map(Into::into).collect(),
            },
        }
    }
}

impl From<Finding> for FindingResponse {
    fn from(finding: Finding) -> Self {
        Self {
            rule: finding.rule(),
            remedy: finding.remedy(),
            clauses: finding.clauses.into_iter().map(Into::into).collect(),
            matterhorn: finding.matterhorn,
            message: finding.message,
            part: finding.part,
            page: finding.page,
            element: finding.element,
            selector: finding.selector,
            text: finding.text,
            rectangle: finding.rectangle,
        }
    }
}

impl From<Clause> for ClauseResponse {
    fn from(Clause { level, number }: Clause) -> Self {
        Self { level, clause: number }
    }
}

/// `GET`
pub(in crate::http) async fn get(
    State(app): State<Services>,
    MayReadRenders(caller): MayReadRenders,
    RenderPath(id): RenderPath,
) -> Result<Json<AccessibilityAnswer>, ApiError> {
    let found = history::find(&app.db, caller.account, id, caller.sees_renders_of()).await?;
    let (render, _) = found.ok_or(ApiError::NoSuchRender)?;
    let report = accessibility::find(&app, caller.account, &render).await??;
    Ok(Json(report.into()))
}
