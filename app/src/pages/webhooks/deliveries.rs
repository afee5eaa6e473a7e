//! The list of deliveries, each with a drawer for its details.

use leptos::{
    either::{Either, EitherOf3},
    prelude::*,
};
use platen_domain::{
    callback::{Delivery, DeliveryState, DeliveryTarget},
    ids::DeliveryId,
    number::{duration, wait},
};

use crate::{
    model::render::short_id,
    outcome::{ButtonForm, Outcome},
    pages::{
        render::{
            api::{ResendCallback, StopCallback},
            attempts::Attempts,
        },
        renders,
        webhooks::api::{ResendDelivery, StopDelivery},
    },
    ui::{
        badge::{Badge, State},
        button::{OpenButton, Rank, Size, SubmitButton},
        dialog::{Dialog, Weight},
        icon::Glyph,
        moment::Stamp,
        table::{Column, Table},
    },
};

const COLUMNS: &[Column] = &[
    Column::text("Event"),
    Column::text("URL").from_medium(),
    Column::text("Status"),
    Column::figure("Attempts").from_medium(),
    Column::figure("Duration").from_medium(),
    Column::text("Last attempt, UTC").from_wide(),
    Column::ACTIONS,
];

/// Table of deliveries.
#[component]
pub fn Deliveries(
    /// Newest first.
    deliveries: Vec<Delivery>,
    /// Whether older ones may match.
    has_older: bool,
) -> impl IntoView {
    if deliveries.is_empty() && has_older {
        return EitherOf3::A(view! {
            <div class="empty">
                <p class="empty__title">"No matches among the deliveries searched so far"</p>
                <p>"Select Older to search further."</p>
            </div>
        });
    }
    if deliveries.is_empty() {
        return EitherOf3::B(view! {
            <div class="empty">
                <p class="empty__title">"No deliveries"</p>
                <p>
                    "Deliveries appear here when an event occurs that an endpoint receives, and when a render or a batch that was requested with a "
                    <code>"callback"</code> " ends. Clear the filters to see all."
                </p>
            </div>
        });
    }
    let drawers = deliveries.iter().cloned().map(|delivery| view! { <Drawer delivery /> });
    let drawers = drawers.collect_view();
    EitherOf3::C(view! {
        <Table caption="Webhook deliveries" columns=COLUMNS rows=deliveries.into_iter().map(row) />
        {drawers}
    })
}

fn row(delivery: Delivery) -> impl IntoView {
    let short = short(&delivery);
    let last = delivery.attempts.last();
    let took = last.map_or_else(|| "–".to_owned(), |attempt| duration(attempt.duration_ms.into()));
    let failure = last.and_then(|attempt| attempt.error.clone());
    let last = last.map(|attempt| attempt.inserted_at);
    view! {
        <tr data-key=delivery.id.to_string()>
            <th scope="row"><code>{delivery.event.clone()}</code> {subject(&delivery)}</th>
            <td class="table__medium break">{delivery.address.clone()}</td>
            <td>
                <Outcomes delivery=delivery.clone() />
                {failure.map(|reason| view! { <span class="table__sub break">{reason}</span> })}
            </td>
            <td class="table__figure table__medium">{delivery.attempts.len()}</td>
            <td class="table__figure table__medium">{took}</td>
            <td class="table__wide">{last.map(|at| view! { <Stamp at /> })}</td>
            <td class="table__actions">
                <OpenButton dialog=drawer_id(delivery.id) size=Size::Small reads=true>
                    "Open"
                    <span class="visually-hidden">{format!(" delivery {short}")}</span>
                </OpenButton>
            </td>
        </tr>
    }
}

/// Returns the short id of the render, or of a delivery that is about none.
fn short(delivery: &Delivery) -> String {
    let id = delivery.render.map_or(delivery.id.0, |render| render.0);
    short_id(&id.to_string())
}

/// The render that a delivery is about, if there is one.
fn subject(delivery: &Delivery) -> impl IntoView + use<> {
    delivery.render.map(|render| {
        view! {
            <span class="table__sub">
                <a class="table__link mono" href=format!("{}/{render}", renders::PATH)>
                    {short_id(&render.to_string())}
                </a>
            </span>
        }
    })
}

fn drawer_id(delivery: DeliveryId) -> String {
    format!("delivery-{delivery}")
}

/// Status of a delivery, as a badge: `Delivered, 200`.
#[component]
fn Outcomes(delivery: Delivery) -> impl IntoView {
    let kind = match delivery.state {
        DeliveryState::Delivered => State::Good,
        DeliveryState::Trying => State::Busy,
        DeliveryState::GivenUp => State::Bad,
    };
    let status = delivery.attempts.last().and_then(|attempt| attempt.status);
    let more = match (delivery.state, delivery.next_in_seconds, status) {
        (DeliveryState::Trying, Some(seconds @ 1..), _) => format!(", next in {}", wait(seconds)),
        (DeliveryState::Trying, ..) => String::new(),
        (_, _, Some(status)) => format!(", {status}"),
        (_, _, None) => ", no response".to_owned(),
    };
    view! { <Badge state=kind>{delivery.state.name()} {more}</Badge> }
}

#[component]
fn Drawer(delivery: Delivery) -> impl IntoView {
    let short = short(&delivery);
    let trying = delivery.state == DeliveryState::Trying;
    let (resend, stop) = match delivery.target {
        DeliveryTarget::Request => (Outcome::of::<ResendCallback>(), Outcome::of::<StopCallback>()),
        DeliveryTarget::Endpoint | DeliveryTarget::Batch => {
            (Outcome::of::<ResendDelivery>(), Outcome::of::<StopDelivery>())
        }
    };
    let of_request = delivery.target == DeliveryTarget::Request;
    let hidden = move || {
        view! {
            <input type="hidden" name="id" value=delivery.id.to_string() />
            {of_request.then(|| view! { <input type="hidden" name="from_list" value="yes" /> })}
        }
    };
    let reason = delivery
        .stopped
        .clone()
        .filter(|_| delivery.state == DeliveryState::GivenUp);
    view! {
        <Dialog id=drawer_id(delivery.id) title=format!("Delivery for {short}") weight=Weight::Drawer>
            <div class="dialog__body">
                <p>
                    <Outcomes delivery=delivery.clone() />
                </p>
                {if delivery.attempts.is_empty() {
                    Either::Left(view! { <p class="quiet">{reason.unwrap_or_else(|| "No attempt yet.".to_owned())}</p> })
                } else {
                    Either::Right(view! { <Attempts attempts=delivery.attempts.clone() /> })
                }}
                <div class="cluster">
                    <ButtonForm outcome=resend>
                        {hidden()}
                        <SubmitButton rank=Rank::Primary icon=Glyph::Send>
                            "Resend now"
                        </SubmitButton>
                    </ButtonForm>
                    {trying
                        .then(|| {
                            view! {
                                <ButtonForm outcome=stop>
                                    {hidden()} <SubmitButton>
                                        "Cancel delivery"
                                    </SubmitButton>
                                </ButtonForm>
                            }
                        })}
                </div>
                <dl class="pairs">
                    <dt>"Event"</dt>
                    <dd>
                        <code>{delivery.event}</code>
                    </dd>
                    {delivery
                        .address
                        .map(|address| {
                            view! {
                                <dt>"URL"</dt>
                                <dd>
                                    <code>{address}</code>
                                </dd>
                            }
                        })} <dt>"webhook-id"</dt>
                    <dd>
                        <code>{delivery.webhook_id}</code>
                    </dd>
                </dl>
                <div class="code">
                    <div class="code__bar">
                        <span>"Body"</span>
                    </div>
                    <pre
                        class="code__body code__body--wrap"
                        tabindex="0"
                        role="group"
                        aria-label=format!("Body of delivery {short}")
                    >
                        <code>{delivery.body}</code>
                    </pre>
                </div>
            </div>
        </Dialog>
    }
}
