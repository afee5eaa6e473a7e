//! The signing secret of webhooks, and how receivers verify signatures.

use leptos::{either::Either, prelude::*};
use platen_domain::webhook::SecretStatus;

use crate::{
    layout::page::{Section, SectionKind},
    outcome::{ButtonForm, Outcome},
    pages::webhooks::api::{ReplaceSecret, RevealSecret},
    ui::{
        button::{CloseButton, OpenButton, Rank, Size, SubmitButton},
        code_choice::{CodeChoice, Sample},
        copy_button::CopyButton,
        dialog::Dialog,
        icon::Glyph,
        moment::{Moment, day_and_year},
        notice::InfoNotice,
    },
};

/// Name, value of its radio button, and source code of each example that verifies signatures. `make test` runs these
/// very files.
const RECEIVERS: [(&str, &str, &str); 6] = [
    (
        "Node.js",
        "node",
        include_str!("../../../../docs/callbacks/receive.mjs"),
    ),
    (
        "Python",
        "python",
        include_str!("../../../../docs/callbacks/receive.py"),
    ),
    ("Go", "go", include_str!("../../../../docs/callbacks/receive.go")),
    ("Ruby", "ruby", include_str!("../../../../docs/callbacks/receive.rb")),
    ("PHP", "php", include_str!("../../../../docs/callbacks/receive.php")),
    ("Java", "java", include_str!("../../../../docs/callbacks/Receive.java")),
];

/// The signing secret, hidden until the user reveals it.
#[component]
pub fn SigningSecret(
    /// Dates of the secret, and its value while it is revealed.
    secret: SecretStatus,
) -> impl IntoView {
    let note = match secret.made_at {
        Some(at) => format!("One for each account, created {}", day_and_year(at.date())),
        None => "One for each account, created at first use".to_owned(),
    };
    let value = match secret.revealed().map(ToOwned::to_owned) {
        Some(shown) => Either::Left(view! {
            <div class="copy copy--secret">
                <code class="copy__value">{shown.clone()}</code>
                <CopyButton text=shown label="Copy the signing secret".to_owned() />
            </div>
            <p class="small quiet">"Hidden again when the page is reloaded after a minute."</p>
        }),
        None => Either::Right(view! {
            <div class="copy">
                <code class="copy__value">
                    "whsec_" <span aria-hidden="true">"••••••••••••••••••••••••••••••••"</span>
                    <span class="visually-hidden">"hidden"</span>
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
                                "Deliveries also carry a signature by the previous secret until " <Moment at=until /> "."
                            </InfoNotice>
                        }
                    })} <p class="small quiet">
                    "Signed as in Standard Webhooks, with the headers " <code>"webhook-id"</code> ", " <code>"webhook-timestamp"</code> " and "
                    <code>"webhook-signature"</code> ". " <a href="#verify">"Verify signatures"</a>
                </p> <div>
                    <OpenButton dialog="roll" size=Size::Small icon=Glyph::Rotate>
                        "Replace secret"
                    </OpenButton>
                </div>
            </div>
        </Section>
        <Dialog id="roll" title="Replace the signing secret">
            <ButtonForm outcome={Outcome::of::<ReplaceSecret>()}>
                <div class="dialog__body">
                    <p>"For 24 hours, deliveries carry two signatures, one by each secret. Update your receivers in that time."</p>
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
    let samples = RECEIVERS.map(|(language, key, code)| Sample {
        language,
        key,
        label: format!("Receiver in {language}"),
        code: code.to_owned(),
    });
    view! {
        <Section heading="Verify signatures" id="verify" kind=SectionKind::Hanging>
            <div class="stack">
                <p>
                    "Join " <code>"webhook-id"</code> ", " <code>"webhook-timestamp"</code>
                    " and the raw body with dots, and compute the HMAC-SHA-256. The key is the base64-decoded part of the secret after "
                    <code>"whsec_"</code> ". Compare " <code>"v1,"</code>
                    " and the result in base64, in constant time, with each signature in "
                    <code>"webhook-signature"</code>
                    ". Reject timestamps that differ from the current time by more than five minutes."
                </p>
                <CodeChoice samples=samples.into() />
            </div>
        </Section>
    }
}
