//! The user's second factor, and remembered browsers, which are not asked for it.

pub mod passkeys;

use leptos::prelude::*;
use platen_domain::{
    client::{self, RememberedDevice},
    second_factor::{App, SecondFactor},
};
use time::OffsetDateTime;

use crate::{
    layout::page::{Section, SectionKind},
    outcome::{ButtonForm, DialogForm, Outcome, OutcomeErrors, RowButton},
    pages::{
        second_factor::api::{BeginSecondFactor, ForgetDevice, RenewRecoveryCodes, TurnSecondFactorOff},
        settings::second_factor::passkeys::Passkeys,
    },
    ui::{
        button::{OpenButton, Rank, SubmitButton},
        dialog::Weight,
        moment::{Ago, Day, day_and_year},
        notice::WarningNotice,
        table::{Column, Table},
    },
};

const COLUMNS: &[Column] = &[
    Column::text("Device"),
    Column::text("Address").from_medium(),
    Column::text("Last log-in").from_medium(),
    Column::text("Until"),
    Column::ACTIONS,
];

/// If fewer codes than this are left, the page advises to create new ones.
const FEW_CODES: i64 = 3;

/// Section for the authenticator app, passkeys, recovery codes and remembered browsers.
#[component]
pub fn SecondFactorSection(
    /// State of the second factor.
    state: SecondFactor,
    /// Remembered browsers, which skip it.
    devices: Vec<RememberedDevice>,
    /// The current time.
    now: OffsetDateTime,
) -> impl IntoView {
    let is_on = state.is_on();
    let has_app = matches!(state.app, App::On { .. });
    let (more, work) = (state.more_passkeys, state.passkeys_work);
    view! {
        <Section
            heading="Second factor"
            note=if is_on { "On." } else { "Off." }
            id="second-factor"
            kind=SectionKind::Hanging
            body="section__body stack stack--loose"
        >
            <p class="small">
                "Adds a second step at log-in, so a stolen password isn’t enough."
            </p>
            <AppPart app=state.app />
            <Passkeys passkeys=state.passkeys more work has_app now />
            {is_on.then(|| view! { <Codes codes_left=state.codes_left /> })}
            {(!devices.is_empty()).then(|| view! { <Devices devices now /> })}
        </Section>
    }
}

#[component]
fn AppPart(app: App) -> impl IntoView {
    let body = match app {
        App::Off | App::Begun { .. } => view! { <NoApp /> }.into_any(),
        App::On { since } => {
            let since = format!("On since {}.", day_and_year(since.date()));
            view! { <AppOn since /> }.into_any()
        }
    };
    view! {
        <div class="stack">
            <h3>"Authenticator app"</h3>
            {body}
        </div>
    }
}

#[component]
fn NoApp() -> impl IntoView {
    let outcome = Outcome::of::<BeginSecondFactor>();
    view! {
        <OutcomeErrors outcome />
        <p class="small">"An app on your phone generates the six-digit codes."</p>
        <ButtonForm outcome>
            <SubmitButton>"Set up authenticator app"</SubmitButton>
        </ButtonForm>
    }
}

#[component]
fn AppOn(since: String) -> impl IntoView {
    let off = Outcome::of::<TurnSecondFactorOff>();
    view! {
        <p class="small">{since}</p>
        <div class="cluster">
            <OpenButton dialog="second-factor-off" rank=Rank::Danger>
                "Turn off"
            </OpenButton>
        </div>
        <DialogForm
            outcome=off
            id="second-factor-off"
            title="Turn off the authenticator app"
            weight=Weight::Danger
            action="Turn off"
        >
            <p>
                "Codes from the app stop working. Without a passkey, your password alone logs you in, and your recovery codes stop working."
            </p>
        </DialogForm>
    }
}

#[component]
fn Codes(codes_left: i64) -> impl IntoView {
    let renew = Outcome::of::<RenewRecoveryCodes>();
    let left = match codes_left {
        0 => "No recovery codes left.".to_owned(),
        1 => "1 recovery code left.".to_owned(),
        left => format!("{left} recovery codes left."),
    };
    let left = if codes_left < FEW_CODES {
        view! { <WarningNotice>{left} " Create new ones, so that you aren’t locked out without your device."</WarningNotice> }
            .into_any()
    } else {
        view! { <p class="small">{left} " Each replaces your app or passkey once."</p> }.into_any()
    };
    view! {
        <div class="stack">
            <h3>"Recovery codes"</h3>
            <OutcomeErrors outcome=renew />
            {left}
            <ButtonForm outcome=renew>
                <SubmitButton>"Create new recovery codes"</SubmitButton>
            </ButtonForm>
        </div>
    }
}

#[component]
fn Devices(devices: Vec<RememberedDevice>, now: OffsetDateTime) -> impl IntoView {
    let errors = Outcome::of::<ForgetDevice>();
    let rows = devices.into_iter().map(|device| {
        let outcome = Outcome::about::<ForgetDevice>(&device.id.to_string());
        let name = client::device(&device.user_agent);
        view! {
            <tr>
                <th scope="row">
                    {name.clone()} <span class="table__sub table__narrow">{device.address.clone()}</span>
                </th>
                <td class="table__medium">{device.address}</td>
                <td class="table__medium">
                    <Ago at=device.used_at now />
                </td>
                <td>
                    <Day at=device.remembered_until />
                </td>
                <td class="table__actions">
                    <RowButton outcome rank=Rank::Quiet words="Ask again" of=format!(" on {name}") />
                </td>
            </tr>
        }
    });
    view! {
        <div class="stack">
            <OutcomeErrors outcome=errors />
            <p class="small">"These devices skip the second factor:"</p>
            <Table caption="Devices that skip the second factor" columns=COLUMNS rows />
        </div>
    }
}
