//! The signing secret of webhooks, and how receivers verify signatures.

use leptos::{either::Either, prelude::*};
use platen_domain::webhook::SecretStatus;

use crate::{
    layout::page::{Section, SectionKind},
    outcome::{ButtonForm, Outcome},
    pages::webhooks::api::{ReplaceSecret, RevealSecret},
    ui::{
        button::{CloseButton, OpenButton, Rank, Size, SubmitButton},
        code::Code,
        copy_button::CopyButton,
        dialog::Dialog,
        icon::Glyph,
        moment::{Moment, day_and_year},
        notice::InfoNotice,
    },
};

/// Code examples that verify signatures. `make test` runs these very files.
const RECIPES: [(&str, &str); 2] = [
    ("Node.js", include_str!("../../../../docs/callbacks/receive.mjs")),
    ("Python", include_str!("../../../../docs/callbacks/receive.py")),
];

/// The signing secret, hidden until the user reveals it.
#[component]
pub fn SigningSecret(
    /// Dates of the secret, and its value while it is revealed.
    secret: SecretStatus,
) -> impl IntoView {
    let note = match secret.made_at {
        Some(at) => format!("One for the account, made {}", day_and_year(at.date())),
        None => "One for the account, made when it is wanted first".to_owned(),
    };
    let value = match secret.revealed().map(ToOwned::to_owned) {
        Some(shown) => Either::Left(view! {
            <div class="copy copy--secret">
                <code class="copy__value">{shown.clone()}</code>
                <CopyButton text=shown label="Copy the signing secret".to_owned() />
            </div>
            <p class="small quiet">"It is out of sight again in a minute, when the page is loaded anew."</p>
        }),
        None => Either::Right(view! {
            <div class="copy">
                <code class="copy__value">
                    "whsec_" <span aria-hidden="true">"••••••••••••••••••••••••••••••••"</span>
                    <span class="visually-hidden">"out of sight"</span>
                </code>
                <ButtonForm outcome={Outcome::of::<RevealSecret>()}>
                    <SubmitButton rank=Rank::Quiet size=Size::Small icon=Glyph::Eye>
                        "Reveal"
                        <span class="visually-hidden">" the signing secret"</span>
                    </SubmitButton>
                </ButtonForm>
            </div>
        }),
    };
    view! {
        <Section heading="Signing secret" note kind=SectionKind::Hanging>
            <div class="stack">
                {value}
                {secret
                    .former_until
                    .map(|until| {
                        view! {
                            <InfoNotice>
                                "Calls carry two signatures, one by the former secret, until " <Moment at=until /> "."
                            </InfoNotice>
                        }
                    })} <p class="small quiet">
                    "Standard Webhooks: check " <code>"webhook-id"</code> ", " <code>"webhook-timestamp"</code> " and "
                    <code>"webhook-signature"</code> ". " <a href="#verify">"How to verify"</a>
                </p> <div>
                    <OpenButton dialog="roll" size=Size::Small icon=Glyph::Rotate>
                        "Replace the secret"
                    </OpenButton>
                </div>
            </div>
        </Section>
        <Dialog id="roll" title="Replace the signing secret">
            <ButtonForm outcome={Outcome::of::<ReplaceSecret>()}>
                <div class="dialog__body">
                    <p>"For 24 hours calls carry two signatures, one by each secret. Change over in that time."</p>
                </div>
                <div class="dialog__foot">
                    <CloseButton dialog="roll">"Cancel"</CloseButton>
                    <SubmitButton rank=Rank::Primary>"Replace secret"</SubmitButton>
                </div>
            </ButtonForm>
        </Dialog>
    }
}

/// Explains how to verify a signature, with code examples.
#[component]
pub fn Recipes() -> impl IntoView {
    let recipes = RECIPES.map(|(language, program)| {
        view! {
            <Code title=language label=format!("Receiver in {language}") text=program>
                {program}
            </Code>
        }
    });
    view! {
        <Section heading="How to verify" id="verify" kind=SectionKind::Hanging>
            <div class="stack">
                <p>
                    "Join " <code>"webhook-id"</code> ", " <code>"webhook-timestamp"</code>
                    " and the body as it came with dots. Make their HMAC-SHA-256 with the base64-decoded part of the secret after "
                    <code>"whsec_"</code> ". One of the signatures in " <code>"webhook-signature"</code> " has to be "
                    <code>"v1,"</code>
                    " and the result in base64. Refuse a time that is more than five minutes away."
                </p>
                <details>
                    <summary>"Programs that do it"</summary>
                    <div class="stack">{recipes.into_iter().collect_view()}</div>
                </details>
            </div>
        </Section>
    }
}
