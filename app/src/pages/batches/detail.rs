//! `/dashboard/batches/{id}`: the progress of a batch, its failed rows, and the form for its rows.

use leptos::prelude::*;
use platen_domain::{
    batch::{Batch, BatchState},
    ids::BatchId,
    number::{counted, grouped},
};

use crate::{
    layout::{
        page::{PageHead, Section, loaded},
        shell::{Shell, rail::Entry},
    },
    model::batch::{BatchChange, BatchDetail, ListedRow},
    outcome::{ButtonForm, Done, Outcome, OutcomeErrors},
    pages::{
        batches::{
            api::{ChangeBatch, SetBatchColumns},
            columns::{ColumnsSection, PreviewSection},
            name, page_of,
            rows::{FailedRows, FirstRows},
            state::{BatchBadge, HoldNotice, ended, in_progress, progress, remainder, summary},
            upload::UploadSection,
        },
        query::id_in_path,
    },
    ui::{
        button::{ButtonLink, CloseButton, OpenButton, Rank, Size, SubmitButton},
        dialog::{Dialog, Weight},
        figure::Figure,
        icon::Glyph,
        live_part::LivePart,
        moment::Moment,
        progress::Progress,
    },
};

/// `id` of the dialog that cancels the batch.
const CANCEL_DIALOG: &str = "cancel";

/// The page of a batch.
#[component]
pub fn BatchPage() -> impl IntoView {
    let id = id_in_path(BatchId::parse);
    view! {
        <Shell title="Batch" current=Entry::Batches>
            <Done about=done />
            <OutcomeErrors outcome={Outcome::of::<ChangeBatch>()} />
            {loaded(move |backend| async move { backend.batch(id?).await }, |found| view! { <Whole found /> })}
        </Shell>
    }
}

/// Returns the notice for a value of `done` in the query.
fn done(word: &str) -> Option<&'static str> {
    Some(match word {
        "created" => "Batch created. Upload its rows now: it waits for them for a day.",
        "uploaded" => "Rows stored. The batch has begun.",
        "stored" => "Rows stored. Check them, then begin.",
        "mapped" => "Columns saved.",
        "paused" => "Batch paused. Renders in progress are completed.",
        "resumed" => "Batch resumed.",
        "cancelled" => "Batch cancelled.",
        "retried" => "The failed rows are rendered again.",
        _ => return None,
    })
}

/// Returns the event stream of a batch that may still change by itself. A cancelled one has renders that are being cancelled.
fn events(batch: &Batch) -> Option<String> {
    let has_renders = in_progress(batch) > 0;
    let changes = match batch.state {
        BatchState::Running => true,
        BatchState::Paused | BatchState::Cancelled => has_renders,
        BatchState::Open | BatchState::Ended => false,
    };
    changes.then(|| format!("/dashboard/events/batches/{}", batch.id))
}

#[component]
fn Whole(found: BatchDetail) -> impl IntoView {
    let BatchDetail {
        batch,
        first_rows,
        failed_rows,
        can_retry,
        has_documents,
        may_be_collected,
        rejected_rows,
        rejected_members,
        columns,
    } = found;
    let events = events(&batch);
    let says = format!("{}: {}", name(&batch), summary(&batch));
    let (id, can_cancel) = (batch.id, batch.ended_at.is_none());
    let is_test = !batch.livemode;
    let upload =
        (batch.state == BatchState::Open).then(|| view! { <UploadSection id is_test rejected=rejected_rows /> });
    let (rows, failed) = (batch.rows, i64::from(batch.failed));
    // Columns can't be changed any more, which the form would say otherwise.
    let has_begun = columns
        .is_none()
        .then(|| view! { <OutcomeErrors outcome={Outcome::of::<SetBatchColumns>()} /> });
    let columns = columns.map(|columns| {
        view! {
            <ColumnsSection id columns rejected=rejected_members />
            <PreviewSection id rows />
        }
    });
    view! {
        {has_begun}
        <LivePart id="batch" unsettled=events.is_some() events says>
            <Head batch=batch.clone() can_retry />
            <div class="stack notices">{batch.hold.map(|hold| view! { <HoldNotice hold /> })}</div>
            {(rows > 0).then(|| view! { <ProgressSection batch=batch.clone() /> })}
            {(failed > 0).then(|| view! { <FailedSection id rows=failed_rows failed /> })}
            {(!first_rows.is_empty()).then(|| view! { <FirstSection id rows=first_rows has_documents may_be_collected /> })}
            {can_cancel.then(|| view! { <CancelDialog id /> })}
        </LivePart>
        {upload}
        {columns}
    }
}

#[component]
fn Head(batch: Batch, can_retry: bool) -> impl IntoView {
    let is_test = !batch.livemode;
    let facts = view! {
        <BatchBadge batch=batch.clone() />
        {is_test.then(|| view! { <span class="tag tag--test">"Test"</span> })}
        <span>"Created " <Moment at=batch.inserted_at /></span>
        {batch.ended_at.map(|at| view! { <span>"Ended " <Moment at /></span> })}
        <span class="mono break">{batch.id.to_string()}</span>
    }
    .into_any();
    let (can_pause, can_resume) = (batch.state == BatchState::Running, batch.state == BatchState::Paused);
    let can_cancel = batch.ended_at.is_none();
    let (id, failed) = (batch.id, i64::from(batch.failed));
    let (resume, rank) = if batch.opened == 0 {
        ("Begin", Rank::Primary)
    } else {
        ("Resume", Rank::Plain)
    };
    view! {
        <PageHead title=name(&batch) is_chosen=true lede=remainder(&batch).unwrap_or_default() facts>
            {can_pause.then(|| view! { <ChangeButton id change=BatchChange::Pause words="Pause".to_owned() /> })}
            {can_resume
                .then(|| view! { <ChangeButton id change=BatchChange::Resume rank words=resume.to_owned() /> })}
            {can_retry
                .then(|| {
                    let words = format!("Retry {}", counted(failed, "failed row", "failed rows"));
                    view! { <ChangeButton id change=BatchChange::Retry words /> }
                })}
            {can_cancel
                .then(|| {
                    view! {
                        <OpenButton dialog=CANCEL_DIALOG rank=Rank::Danger icon=Glyph::Close>
                            "Cancel batch"
                        </OpenButton>
                    }
                })}
        </PageHead>
    }
}

/// A form with one button.
#[component]
fn ChangeButton(id: BatchId, change: BatchChange, #[prop(optional)] rank: Rank, words: String) -> impl IntoView {
    let icon = match change {
        BatchChange::Resume => Some(Glyph::Play),
        BatchChange::Retry => Some(Glyph::Rotate),
        BatchChange::Pause | BatchChange::Cancel => None,
    };
    view! {
        <ButtonForm outcome={Outcome::of::<ChangeBatch>()}>
            <ChangeFields id change />
            <SubmitButton rank nostrip:icon=icon>
                {words}
            </SubmitButton>
        </ButtonForm>
    }
}

#[component]
fn ChangeFields(id: BatchId, change: BatchChange) -> impl IntoView {
    let change = match change {
        BatchChange::Pause => "pause",
        BatchChange::Resume => "resume",
        BatchChange::Cancel => "cancel",
        BatchChange::Retry => "retry",
    };
    view! {
        <input type="hidden" name="id" value=id.to_string() />
        <input type="hidden" name="change" value=change />
    }
}

#[component]
fn ProgressSection(batch: Batch) -> impl IntoView {
    let (value, most) = (ended(&batch), i64::from(batch.rows));
    let figure = |number: i64| grouped(number);
    let waiting = most - i64::from(batch.opened);
    view! {
        <Section heading="Progress" note=format!("{} rows", progress(&batch))>
            <div class="stack">
                <Progress value most label="Progress of the batch".to_owned() />
                <div class="figures">
                    <Figure label="Succeeded" value=figure(batch.succeeded.into())>
                        "delivered"
                    </Figure>
                    <Figure label="Failed" value=figure(batch.failed.into())>
                        "without a document"
                    </Figure>
                    <Figure label="In progress" value=figure(in_progress(&batch))>
                        "queued or being rendered"
                    </Figure>
                    <Figure label="Not begun" value=figure(waiting)>
                        "in the order of the file"
                    </Figure>
                </div>
            </div>
        </Section>
    }
}

#[component]
fn FailedSection(
    id: BatchId,
    rows: Vec<ListedRow>,
    /// Number of all failed rows.
    failed: i64,
) -> impl IntoView {
    let shown = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    let note = if shown < failed {
        format!("the first {shown} of {}", grouped(failed))
    } else {
        String::new()
    };
    let beside = view! {
        <ButtonLink href=format!("{}/errors.csv", page_of(id)) size=Size::Small icon=Glyph::Download>
            "Download errors (CSV)"
        </ButtonLink>
    }
    .into_any();
    view! {
        <Section heading=counted(failed, "failed row", "failed rows") note beside>
            <FailedRows rows />
        </Section>
    }
}

#[component]
fn FirstSection(id: BatchId, rows: Vec<ListedRow>, has_documents: bool, may_be_collected: bool) -> impl IntoView {
    let page = page_of(id);
    let download = |file: &str, words: &'static str| {
        view! {
            <ButtonLink href=format!("{page}/{file}") size=Size::Small icon=Glyph::Download>
                {words}
            </ButtonLink>
        }
    };
    let archive = has_documents.then(|| download("documents.zip", "Download documents (ZIP)"));
    let has_collection = has_documents && may_be_collected;
    let collection = has_collection.then(|| download("documents.pdf", "Download documents (PDF)"));
    let results = download("results.csv", "Download results (CSV)");
    let beside = view! { <div class="cluster">{archive} {collection} {results}</div> }.into_any();
    view! {
        <Section heading="First rows" note="Open a render to see its document" beside>
            <FirstRows rows />
        </Section>
    }
}

/// The dialog that cancels the batch.
#[component]
fn CancelDialog(id: BatchId) -> impl IntoView {
    view! {
        <Dialog id=CANCEL_DIALOG title="Cancel batch" weight=Weight::Danger>
            <ButtonForm outcome={Outcome::of::<ChangeBatch>()}>
                <ChangeFields id change=BatchChange::Cancel />
                <div class="dialog__body">
                    <p>
                        "No more rows are begun, and renders in progress are cancelled free of charge. Documents that were finished before are kept. This cannot be undone."
                    </p>
                </div>
                <div class="dialog__foot">
                    <CloseButton dialog=CANCEL_DIALOG>"Keep batch"</CloseButton>
                    <SubmitButton rank=Rank::Destroy>"Cancel batch"</SubmitButton>
                </div>
            </ButtonForm>
        </Dialog>
    }
}
