//! What the check of a document found: declared levels of conformance, and violations with their remedies.

use leptos::{either::Either, prelude::*};
use platen_domain::{
    number::counted,
    render::{
        accessibility::{AccessibilityReport, ConformanceLevel, Finding, missing::MissingReport},
        detail::RenderDetail,
    },
};

use crate::{
    layout::page::Section,
    pages::templates,
    ui::{
        badge::{Badge, State},
        table::{Column, Table},
    },
};

const COLUMNS: &[Column] = &[
    Column::tight("Page"),
    Column::text("Violation"),
    Column::text("What to change"),
];

/// The section of a render whose document was checked. Nothing for renders without a document.
#[component]
pub fn Accessibility(render: RenderDetail) -> impl IntoView {
    let report = match render.accessibility.clone() {
        Err(MissingReport::NoDocument) => return None,
        Err(missing) => Err(missing.reason()),
        Ok(report) => Ok(report),
    };
    let levels = match &report {
        Ok(report) => report.levels.clone(),
        Err(_) => declared(&render),
    };
    let note = report.as_ref().map_or_else(|_| String::new(), note);
    let badges = levels
        .into_iter()
        .map(|level| view! { <Badge state=State::Good>{level.into_str()}</Badge> });
    let badges = view! { <span class="section__note">{badges.collect_view()}</span> }.into_any();
    let body = match report {
        Err(reason) => Either::Left(view! { <p class="quiet">{reason}</p> }),
        Ok(report) => Either::Right(view! { <Checked report render /> }),
    };
    Some(view! {
        <Section heading="Accessibility" note beside=badges id="accessibility">
            {body}
        </Section>
    })
}

fn declared(render: &RenderDetail) -> Vec<ConformanceLevel> {
    let document = render.document.as_ref();
    let conformance = document.and_then(|document| document.conformance.as_deref());
    conformance.map(ConformanceLevel::parse_list).unwrap_or_default()
}

fn note(report: &AccessibilityReport) -> String {
    match report.findings.len() {
        0 => String::new(),
        count if report.findings_cut => format!("the first {}", counted(count, "violation", "violations")),
        count => counted(count, "violation", "violations"),
    }
}

#[component]
fn Checked(report: AccessibilityReport, render: RenderDetail) -> impl IntoView {
    if report.passes_machine_checks() {
        return Either::Left(view! {
            <p>
                "Passes all machine checks of PDF/A-2a and PDF/UA-1. Reading order, alternative texts and contrast need a person’s judgement."
            </p>
        });
    }
    let rows = report.findings.into_iter().map(move |finding| row(finding, &render));
    Either::Right(view! {
        <Table
            caption="Violations of PDF/A-2a and PDF/UA-1"
            columns=COLUMNS
            dense=true
            nothing="No violations are recorded."
            rows
        />
    })
}

fn row(finding: Finding, render: &RenderDetail) -> impl IntoView + use<> {
    let (rule, remedy, subject) = (finding.rule(), finding.remedy(), finding.subject());
    let part = finding.part.filter(|_| render.sources.len() > 1);
    let mut templates = render.templates.iter();
    let template = templates.find(|template| Some(template.part) == finding.part && template.exists);
    let template = template.map(|template| format!("{}/{}", templates::PATH, template.id));
    view! {
        <tr>
            <td class="table__tight">
                {page(finding.page, render)}
                {part.map(|part| view! { <span class="table__sub">{format!("part {}", part + 1)}</span> })}
            </td>
            <th scope="row">
                {finding.message}
                {subject.map(|subject| view! { <span class="table__sub break">{subject}</span> })}
                <span class="table__sub break">{rule}</span>
            </th>
            <td>
                <span class="break">{remedy}</span>
                {template
                    .map(|href| {
                        view! {
                            <span class="table__sub">
                                <a href=href>"Open the template"</a>
                            </span>
                        }
                    })}
            </td>
        </tr>
    }
}

/// The number of a page. While the document is available, it links to this page of it.
fn page(page: Option<usize>, render: &RenderDetail) -> impl IntoView + use<> {
    let Some(page) = page else {
        return Either::Left("–");
    };
    let url = render.document.as_ref().and_then(|document| document.url.as_deref());
    Either::Right(match url {
        Some(url) => Either::Left(view! { <a href=format!("{url}#page={page}")>{page}</a> }),
        None => Either::Right(page),
    })
}
