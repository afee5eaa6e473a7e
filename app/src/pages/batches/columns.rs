//! The columns of a batch that has not begun: which members of the template's data they become, and previews of rows.

use leptos::prelude::*;
use platen_domain::{batch::columns::BatchColumns, ids::BatchId, number::grouped};

use crate::{
    csrf::CsrfField,
    layout::page::Section,
    model::rejection::Field,
    outcome::{Outcome, PageForm},
    pages::batches::{api::SetBatchColumns, page_of},
    read_only::Changes,
    ui::{
        button::SubmitButton,
        field::{FieldProblem, TextField, described_by},
        table::{Column, Table},
    },
};

/// Name of the field with the number of a row.
pub const ROW: &str = "row";
/// End of the path of the form that previews a row.
const PREVIEW: &str = "preview.pdf";
const COLUMNS: &[Column] = &[Column::text("Column"), Column::text("Template member")];
/// Maximum number of missing members that are listed.
const MOST_MISSING: usize = 20;
const PREVIEW_HINT: &str =
    "The document has the stamp PREVIEW and costs no credits. Its file is named after its path in your bucket.";

/// The section with the form that maps the columns.
#[component]
pub fn ColumnsSection(
    id: BatchId,
    columns: BatchColumns,
    /// The members that were chosen last, if they were rejected.
    rejected: Option<Vec<String>>,
) -> impl IntoView {
    let outcome = Outcome::of::<SetBatchColumns>();
    let field = Field::BatchMembers;
    let problem = outcome.problem(field);
    let rejected = rejected.filter(|_| problem.is_some());
    let are_lost = problem.is_some() && rejected.is_none();
    let chosen = rejected.unwrap_or_else(|| columns.current());
    let offered: Vec<_> = columns.offered().into_iter().collect();
    let collisions = columns.collisions(&chosen);
    let cells = columns.columns.iter().zip(&chosen).zip(collisions).enumerate();
    let rows: Vec<_> = cells
        .map(|(index, ((column, member), collides))| row(index, column, &offered, member, problem.filter(|_| collides)))
        .collect();
    let has_columns = !rows.is_empty();
    let missing = columns.missing(&chosen);
    let missing = (!missing.is_empty()).then(|| missing_members(&missing));
    view! {
        <Section heading="Columns" note="of the first row" id="columns">
            <PageForm outcome class="stack">
                <p class="small quiet">
                    "A column becomes the member of the template’s data that has its name. Choose another member for columns with other names. This applies to all rows, and also to names in the path of each document."
                </p>
                {are_lost
                    .then(|| {
                        view! {
                            <p class="small">
                                "Your choices are no longer shown: they were too long (16 KiB at most), or the page was reloaded. Choose again."
                            </p>
                        }
                    })}
                <input type="hidden" name="id" value=id.to_string() />
                <div id=outcome.id(field)>
                    <Table caption="Columns" columns=COLUMNS nothing="The first row has no columns." rows />
                </div>
                {missing}
                {has_columns
                    .then(|| {
                        view! {
                            <div>
                                <SubmitButton>"Save columns"</SubmitButton>
                            </div>
                        }
                    })}
            </PageForm>
        </Section>
    }
}

fn row(
    index: usize,
    column: &str,
    offered: &[&str],
    chosen: &str,
    problem: Option<&'static str>,
) -> impl IntoView + use<> {
    let name = Field::BatchMembers.into_str();
    let id = format!("{name}-{index}");
    let options = offered.iter().map(|member| {
        let (member, label) = ((*member).to_owned(), (*member).to_owned());
        let selected = member == chosen;
        view! {
            <option value=member selected=selected>
                {label}
            </option>
        }
    });
    let options: Vec<_> = options.collect();
    view! {
        <tr>
            <th scope="row">
                <label class="mono break" for=id.clone()>
                    {column.to_owned()}
                </label>
            </th>
            <td>
                <div class=if problem.is_some() { "field field--invalid" } else { "field" }>
                    <select
                        class="input input--code"
                        id=id.clone()
                        name=format!("{name}[{index}]")
                        aria-invalid=problem.map(|_| "true")
                        aria-describedby=described_by(&id, None, problem)
                    >
                        <option value="">"unchanged"</option>
                        {options}
                    </select>
                    <FieldProblem id problem />
                </div>
            </td>
        </tr>
    }
}

/// Lists the first required members that no column becomes.
fn missing_members(missing: &[&str]) -> impl IntoView + use<> {
    let listed = missing.iter().take(MOST_MISSING).enumerate();
    let listed: Vec<_> = listed
        .map(|(index, member)| {
            let separator = if index == 0 { "" } else { ", " };
            view! {
                {separator}
                <code class="break">{(*member).to_owned()}</code>
            }
        })
        .collect();
    let more = missing.len().saturating_sub(MOST_MISSING);
    view! {
        <p class="small">
            "No column for " {listed} {(more > 0).then(|| format!(" and {more} more"))}
            ", which the template needs."
        </p>
    }
}

/// The section with the form that previews a row.
#[component]
pub fn PreviewSection(
    id: BatchId,
    /// Number of all rows.
    rows: i32,
) -> impl IntoView {
    view! {
        <Section heading="Preview a row">
            <form class="fields fields--narrow" method="post" action=format!("{}/{PREVIEW}", page_of(id))>
                <CsrfField />
                <Changes>
                    <TextField
                        name=ROW
                        kind="number"
                        label=format!("Row, from 1 to {}", grouped(rows.into()))
                        hint=PREVIEW_HINT
                        value="1"
                    />
                    <div>
                        <button class="button" type="submit" formtarget="_blank">
                            "Open PDF"
                        </button>
                    </div>
                </Changes>
            </form>
        </Section>
    }
}
