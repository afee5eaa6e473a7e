//! What the check of a document found: declared levels of conformance, and violations, icons without a text and texts with
//! low contrast, with their remedies.

use leptos::{either::Either, prelude::*};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use platen_domain::{
    number::counted,
    render::{
        accessibility::{AccessibilityReport, ConformanceLevel, Finding, missing::MissingReport},
        detail::RenderDetail,
        thumbnail::Pictures,
    },
};

use crate::{
    layout::page::Section,
    model::template::editor_path,
    pages::{
        render::marked_pages::{MarkedPages, is_marked},
        renders,
    },
    ui::{
        badge::{Badge, State},
        table::{Column, Table},
    },
};

const COLUMNS: &[Column] = &[
    Column::tight("No."),
    Column::tight("Page"),
    Column::text("Finding"),
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
    let badges = view! {
        <span class="section__note">
            <span class="cluster">{badges.collect_view()}</span>
        </span>
    };
    let badges = badges.into_any();
    let structure = render.document.is_some().then(|| {
        view! {
            <p class="form-foot small">
                <a href=format!("{}/{}/structure", renders::PATH, render.id)>"Structure and reading order"</a>
            </p>
        }
    });
    let body = match report {
        Err(reason) => Either::Left(view! { <p class="quiet">{reason}</p> }),
        Ok(report) => Either::Right(view! { <Checked report render /> }),
    };
    Some(view! {
        <Section heading="Accessibility" note beside=badges id="accessibility">
            {body}
            {structure}
        </Section>
    })
}

fn declared(render: &RenderDetail) -> Vec<ConformanceLevel> {
    let document = render.document.as_ref();
    let conformance = document.and_then(|document| document.conformance.as_deref());
    conformance.map(ConformanceLevel::parse_list).unwrap_or_default()
}

fn note(report: &AccessibilityReport) -> String {
    let counts = report.counts();
    let violations = counted(counts.violations, "violation", "violations");
    let violations = match counts.violations {
        0 => None,
        _ if report.has_more_violations() => Some(format!("the first {violations}")),
        _ => Some(violations),
    };
    let icons = (counts.icons > 0).then(|| counted(counts.icons, "icon without a text", "icons without a text"));
    let faint = (counts.low_contrast > 0).then(|| format!("{} with low contrast", counts.low_contrast));
    violations
        .into_iter()
        .chain(icons)
        .chain(faint)
        .collect::<Vec<_>>()
        .join(", ")
}

#[component]
fn Checked(report: AccessibilityReport, render: RenderDetail) -> impl IntoView {
    let passes = report.passes_machine_checks();
    let pictures = match render.document.as_ref().map(|document| &document.pictures) {
        Some(Pictures::Drawn(pictures)) => pictures.clone(),
        _ => Vec::new(),
    };
    let counts = report.counts();
    let mut findings = report.findings;
    findings.extend(report.low_contrast);
    let rows = findings.clone().into_iter().zip(1..).map(|(finding, number)| {
        let number = Number {
            number,
            is_marked: is_marked(&finding, &pictures),
        };
        row(number, finding, &render)
    });
    // Reports of renders list violations before icons.
    let mut rows: Vec<_> = rows.collect();
    let faint_rows = rows.split_off(counts.violations + counts.icons);
    let icon_rows = rows.split_off(counts.violations);
    view! {
        <div class="stack">
            {passes
                .then(|| {
                    view! {
                        <p>
                            "Passes all machine checks of PDF/A-2a and PDF/UA-1. Reading order, alternative texts and contrast need a person’s judgement."
                        </p>
                    }
                })} <MarkedPages findings pictures render=render.id />
            {(!passes)
                .then(|| {
                    view! {
                        <Table
                            caption="Violations of PDF/A-2a and PDF/UA-1"
                            columns=COLUMNS
                            dense=true
                            nothing="No violations are recorded."
                            rows
                        />
                    }
                })}
            {(counts.icons > 0)
                .then(|| {
                    view! {
                        <div>
                            <h3>"Icons"</h3>
                            <p class="quiet small">
                                "Elements with icons that are read as unknown characters. No level of conformance forbids them."
                            </p>
                        </div>
                        <Table caption="Icons without alternative text" columns=COLUMNS dense=true rows=icon_rows />
                    }
                })}
            {(counts.low_contrast > 0)
                .then(|| {
                    view! {
                        <div>
                            <h3>"Low contrast"</h3>
                            <p class="quiet small">
                                "The first text with each pair of colours that is hard to read. No level of conformance forbids it."
                            </p>
                        </div>
                        <Table caption="Texts with low contrast" columns=COLUMNS dense=true rows=faint_rows />
                    }
                })}
        </div>
    }
}

/// The number of a finding.
struct Number {
    /// From 1.
    number: usize,
    /// Whether its place is marked on a picture.
    is_marked: bool,
}

fn row(Number { number, is_marked }: Number, finding: Finding, render: &RenderDetail) -> impl IntoView + use<> {
    let (rule, remedy, subject) = (finding.rule(), finding.remedy(), finding.subject());
    let part = finding.part.filter(|_| render.sources.len() > 1);
    let template = template(&finding, render);
    let marked = is_marked.then(|| {
        view! {
            <a href=format!("#place-{number}") aria-label=format!("Finding {number} on its page")>
                {number}
            </a>
        }
    });
    view! {
        <tr id=format!("finding-{number}")>
            <td class="table__tight">{marked.map_or_else(|| Either::Left(number), Either::Right)}</td>
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
                {template}
            </td>
        </tr>
    }
}

/// A link to the template that printed a finding's page. If the finding has a text, the editor opens at its source
/// (`frontend/elements/page-viewer.ts`).
fn template(finding: &Finding, render: &RenderDetail) -> Option<impl IntoView + use<>> {
    let mut templates = render.templates.iter();
    let template = templates.find(|template| Some(template.part) == finding.part && template.exists)?;
    let editor = editor_path(&template.id.to_string());
    let (href, words) = match &finding.text {
        Some(text) => (
            format!("{editor}#words-{}", utf8_percent_encode(text, NON_ALPHANUMERIC)),
            "Find in the template",
        ),
        None => (editor, "Open the template"),
    };
    let version = template
        .version
        .filter(|version| *version != i64::from(template.newest));
    let version =
        version.map(|version| format!(" (version {version} was rendered, {} is the newest)", template.newest));
    Some(view! {
        <span class="table__sub">
            <a href=href>{words}</a>
            {version}
        </span>
    })
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
