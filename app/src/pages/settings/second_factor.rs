//! The person's second factor, and the browsers that are not asked for it.

use leptos::prelude::*;
use time::OffsetDateTime;

use crate::{
    model::second_factor::{RememberedDevice, SecondFactor},
    outcome::{
        Outcome,
        dialog::DialogForm,
        form::{ButtonForm, OutcomeErrors},
    },
    pages::second_factor::api::{BeginSecondFactor, ForgetDevice, RenewRecoveryCodes, TurnSecondFactorOff},
    ui::{
        button::{OpenButton, Rank, Size, SubmitButton},
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

/// With fewer codes left it is time to make new ones.
const FEW_CODES: i64 = 3;

/// See the module.
#[component]
pub fn SecondFactorSection(
    /// How it stands.
    state: SecondFactor,
    /// Browsers that are not asked for it.
    devices: Vec<RememberedDevice>,
    /// The moment of the page.
    now: OffsetDateTime,
) -> impl IntoView {
    let (note, body) = match state {
        SecondFactor::Off | SecondFactor::Begun(_) => ("Off.".to_owned(), view! { <Off /> }.into_any()),
        SecondFactor::On { since, codes_left } => (
            format!("On since {}.", day_and_year(since.date())),
            view! { <On codes_left devices now /> }.into_any(),
        ),
    };
    view! {
        <section class="section section--hanging" id="second-factor">
            <div class="section__head">
                <h2>"Second factor"</h2>
                <span class="section__note">{note}</span>
            </div>
            <div class="section__body">{body}</div>
        </section>
    }
}

#[component]
fn Off() -> impl IntoView {
    let outcome = Outcome::of::<BeginSecondFactor>();
    view! {
        <div class="stack">
            <OutcomeErrors outcome />
            <p class="small">
                "An authenticator app on your phone shows six digits, which you enter after your password. Whoever learns your password is still outside."
            </p>
            <ButtonForm outcome>
                <SubmitButton>"Set up the second factor"</SubmitButton>
            </ButtonForm>
        </div>
    }
}

#[component]
fn On(codes_left: i64, devices: Vec<RememberedDevice>, now: OffsetDateTime) -> impl IntoView {
    let (renew, off) = (
        Outcome::of::<RenewRecoveryCodes>(),
        Outcome::of::<TurnSecondFactorOff>(),
    );
    let left = match codes_left {
        0 => "No recovery code is left.".to_owned(),
        1 => "1 recovery code is left.".to_owned(),
        left => format!("{left} recovery codes are left."),
    };
    let left = if codes_left < FEW_CODES {
        view! { <WarningNotice>{left} " Make new ones, so that you are not locked out without your phone."</WarningNotice> }
            .into_any()
    } else {
        view! { <p class="small">{left} " Each stands in for your app once."</p> }.into_any()
    };
    view! {
        <div class="stack stack--loose">
            <OutcomeErrors outcome=renew />
            {left}
            <div class="cluster">
                <ButtonForm outcome=renew>
                    <SubmitButton>"Make new recovery codes"</SubmitButton>
                </ButtonForm>
                <OpenButton dialog="second-factor-off" rank=Rank::Danger>
                    "Turn off"
                </OpenButton>
            </div>
            {(!devices.is_empty()).then(|| view! { <Devices devices now /> })}
        </div>
        <DialogForm
            outcome=off
            id="second-factor-off"
            title="Turn the second factor off"
            weight=Weight::Danger
            action="Turn off"
        >
            <p>"From then on your password is enough to log in. Your recovery codes are worth nothing any more."</p>
        </DialogForm>
    }
}

#[component]
fn Devices(devices: Vec<RememberedDevice>, now: OffsetDateTime) -> impl IntoView {
    let errors = Outcome::about_nothing::<ForgetDevice>();
    let rows = devices.into_iter().map(|device| {
        let outcome = Outcome::about::<ForgetDevice>(&device.id);
        view! {
            <tr>
                <th scope="row">
                    {device.device.clone()} <span class="table__sub table__narrow">{device.address.clone()}</span>
                </th>
                <td class="table__medium">{device.address}</td>
                <td class="table__medium">
                    <Ago at=device.used_at now />
                </td>
                <td>
                    <Day at=device.until />
                </td>
                <td class="table__actions">
                    <ButtonForm outcome>
                        <SubmitButton rank=Rank::Quiet size=Size::Small>
                            "Ask again"
                            <span class="visually-hidden">" on " {device.device}</span>
                        </SubmitButton>
                    </ButtonForm>
                </td>
            </tr>
        }
    });
    let rows = rows.collect_view();
    view! {
        <div class="stack">
            <OutcomeErrors outcome=errors />
            <p class="small">"These devices are not asked for it:"</p>
            <Table caption="Devices that are not asked for it" columns=COLUMNS>
                {rows}
            </Table>
        </div>
    }
}
