//! The endpoints that receive events of the account, and the events.

use leptos::{either::Either, prelude::*};
use platen_domain::webhook_endpoint::{EndpointState, EventType, WebhookEndpoint};
use strum::VariantArray;

use crate::{
    layout::page::{Section, SectionKind},
    model::rejection::Field,
    outcome::{ButtonForm, DialogForm, FormField, Outcome, RowButton},
    pages::webhooks::api::{CreateEndpoint, DeleteEndpoint, EditEndpoint, SwitchEndpoint, TestEndpoint},
    ui::{
        badge::{Badge, State},
        button::{FootButton, OpenButton, Rank, Size, SubmitButton},
        check::Check,
        code::Code,
        dialog::Weight,
        field::{Face, FieldProblem},
        icon::Glyph,
        moment::{Day, Moment},
    },
};

/// The endpoints, and their dialogs.
#[component]
pub fn Endpoints(
    /// Oldest first.
    endpoints: Vec<WebhookEndpoint>,
) -> impl IntoView {
    let panels = endpoints.iter().cloned().map(|endpoint| view! { <Panel endpoint /> });
    let panels = panels.collect_view();
    let list = if endpoints.is_empty() {
        Either::Left(view! {
            <div class="empty">
                <p class="empty__title">"No endpoints"</p>
                <p>"Add an endpoint to be notified of renders, credits and expiring keys."</p>
            </div>
        })
    } else {
        Either::Right(view! { <div class="grid grid--2">{panels}</div> })
    };
    let dialogs = endpoints.into_iter().map(|endpoint| {
        view! {
            <EditDialog endpoint=endpoint.clone() />
            <DeleteDialog endpoint />
        }
    });
    let beside = view! {
        <OpenButton dialog="add-endpoint" size=Size::Small icon=Glyph::Add>
            "Add endpoint"
        </OpenButton>
    }
    .into_any();
    view! {
        <Section heading="Endpoints" note="At most ten" beside>
            {list}
        </Section>
        {dialogs.collect_view()}
        <CreateDialog />
    }
}

/// Name of an endpoint for accessible names: its description or, if that is empty, its address.
fn called(endpoint: &WebhookEndpoint) -> String {
    if endpoint.description.is_empty() {
        endpoint.address.clone()
    } else {
        endpoint.description.clone()
    }
}

#[component]
fn Panel(endpoint: WebhookEndpoint) -> impl IntoView {
    let id = endpoint.id.to_string();
    let (test, switch) = (
        Outcome::about::<TestEndpoint>(&id),
        Outcome::about::<SwitchEndpoint>(&id),
    );
    let of = format!(" {}", called(&endpoint));
    let of_switch = of.clone();
    let is_enabled = matches!(endpoint.state, EndpointState::Enabled | EndpointState::Failing(_));
    let (switches, enable) = if is_enabled {
        ("Disable", "no")
    } else {
        ("Enable", "yes")
    };
    let remark = match endpoint.state {
        EndpointState::Failing(since) => Some(
            view! {
                <p class="small quiet">
                    "Deliveries have failed since " <Moment at=since /> ". After five days, the endpoint is disabled."
                </p>
            }
            .into_any(),
        ),
        EndpointState::DisabledByService => Some(
            view! {
                <p class="small quiet">
                    "Disabled because all deliveries failed for five days. Correct the receiver, send a test event, and enable the endpoint."
                </p>
            }
            .into_any(),
        ),
        EndpointState::Enabled | EndpointState::Disabled => None,
    };
    let events = endpoint
        .events
        .iter()
        .map(|event| view! { <span class="tag tag--code">{event.into_str()}</span> });
    view! {
        <article class="panel">
            <div class="panel__head">
                <h3 class="break">{called(&endpoint)}</h3>
                {badge(endpoint.state)}
            </div>
            <div class="panel__body">
                <dl class="pairs">
                    <dt>"URL"</dt>
                    <dd>
                        <code class="break">{endpoint.address.clone()}</code>
                    </dd>
                    <dt>"Events"</dt>
                    <dd>
                        <span class="cluster">{events.collect_view()}</span>
                    </dd>
                    <dt>"Created"</dt>
                    <dd>
                        <Day at=endpoint.inserted_at />
                    </dd>
                </dl>
                {remark}
            </div>
            <div class="panel__foot">
                <RowButton outcome=test words="Send test event" of=format!(" to{of}") />
                <FootButton dialog=edit_dialog(&endpoint) words="Edit" of=of.clone() />
                <ButtonForm outcome=switch>
                    <input type="hidden" name="enable" value=enable />
                    <SubmitButton rank=Rank::Quiet size=Size::Small>
                        {switches}
                        <span class="visually-hidden">{of_switch}</span>
                    </SubmitButton>
                </ButtonForm>
                <FootButton dialog=delete_dialog(&endpoint) words="Delete" of />
            </div>
        </article>
    }
}

fn badge(state: EndpointState) -> impl IntoView {
    let (glyph, words) = match state {
        EndpointState::Enabled => (State::Good, "Enabled"),
        EndpointState::Failing(_) => (State::Warning, "Failing"),
        EndpointState::Disabled => (State::Struck, "Disabled"),
        EndpointState::DisabledByService => (State::Bad, "Disabled after failures"),
    };
    view! { <Badge state=glyph>{words}</Badge> }
}

fn edit_dialog(endpoint: &WebhookEndpoint) -> String {
    format!("edit-{}", endpoint.id)
}

fn delete_dialog(endpoint: &WebhookEndpoint) -> String {
    format!("delete-{}", endpoint.id)
}

#[component]
fn CreateDialog() -> impl IntoView {
    let outcome = Outcome::of::<CreateEndpoint>();
    view! {
        <DialogForm outcome=outcome id="add-endpoint" title="Add endpoint" action="Add endpoint">
            <EndpointFields outcome events=EventType::VARIANTS.to_vec() />
        </DialogForm>
    }
}

#[component]
fn EditDialog(endpoint: WebhookEndpoint) -> impl IntoView {
    let outcome = Outcome::about::<EditEndpoint>(&endpoint.id.to_string());
    let id = edit_dialog(&endpoint);
    view! {
        <DialogForm outcome=outcome id title="Edit endpoint" action="Save">
            <EndpointFields outcome url=endpoint.url description=endpoint.description events=endpoint.events />
        </DialogForm>
    }
}

/// The settings of an endpoint, in its form.
#[component]
fn EndpointFields(
    /// Result of the last submission.
    outcome: Outcome,
    /// Initial value.
    #[prop(optional)]
    url: String,
    /// Initial value.
    #[prop(optional)]
    description: String,
    /// Events that are checked initially.
    events: Vec<EventType>,
) -> impl IntoView {
    let checked: Vec<_> = events.iter().map(EventType::into_str).collect();
    let checked = outcome.typed_or(Field::Events, &checked.join(" "));
    let checks = EventType::VARIANTS.iter().enumerate().map(|(index, event)| {
        let (name, value) = (format!("{}[{index}]", Field::Events.into_str()), event.into_str());
        let checked = checked.split(' ').any(|checked| checked == value);
        view! { <Check name value label=value hint=event.occasion() checked /> }
    });
    let described = outcome
        .problem(Field::Events)
        .map(|_| format!("{}-problem", outcome.id(Field::Events)));
    view! {
        <FormField
            outcome=outcome
            field=Field::WebhookUrl
            label="URL"
            kind="url"
            hint="A public address. It may contain a secret path or query."
            value=url
            focus=true
            face=Face::Code
        />
        <FormField
            outcome=outcome
            field=Field::EndpointDescription
            label="Description"
            value=description
            optional=true
        />
        <fieldset class="fieldset" id=outcome.id(Field::Events) aria-describedby=described>
            <legend class="fieldset__legend">"Events"</legend>
            <div class="fields fields--2 scopes">{checks.collect_view()}</div>
            <FieldProblem id=outcome.id(Field::Events) problem=outcome.problem(Field::Events) />
        </fieldset>
    }
}

#[component]
fn DeleteDialog(endpoint: WebhookEndpoint) -> impl IntoView {
    let outcome = Outcome::about::<DeleteEndpoint>(&endpoint.id.to_string());
    view! {
        <DialogForm
            outcome=outcome
            id=delete_dialog(&endpoint)
            title="Delete endpoint"
            weight=Weight::Danger
            action="Delete endpoint"
        >
            <p>
                <code class="break">{endpoint.address}</code>
                " receives no more events. Pending deliveries are cancelled, and the log of its deliveries is deleted. This can’t be undone."
            </p>
        </DialogForm>
    }
}

/// Explains the events, with an example of each.
#[component]
pub fn Events() -> impl IntoView {
    let events = EventType::VARIANTS.iter().map(|&event| {
        let name = event.into_str();
        let example = serde_json::to_string_pretty(&event.example()).unwrap_or_default();
        view! {
            <details class="folded">
                <summary>
                    <code>{name}</code>
                    ": "
                    {event.occasion()}
                </summary>
                <Code title=name label=format!("Example of {name}") text=example.clone() class="code--short">
                    {example}
                </Code>
            </details>
        }
    });
    view! {
        <Section heading="Events" note="Sent to endpoints as JSON" kind=SectionKind::Hanging>
            <div class="stack">
                <p>
                    "Synchronous and asynchronous renders send events. Those of test renders contain "
                    <code>"\"livemode\": false"</code> ". An event has the same " <code>"id"</code>
                    " at all endpoints and in all retries."
                </p>
                {events.collect_view()}
            </div>
        </Section>
    }
}
