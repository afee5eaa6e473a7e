//! New recovery codes, which are shown only once.

use leptos::prelude::*;

use crate::ui::{
    button::{ButtonLink, Rank},
    copy_button::CopyButton,
    notice::{InfoNotice, WarningNotice},
};

/// The codes, which can be downloaded and copied.
#[component]
pub fn NewCodes(
    /// All recovery codes.
    codes: Vec<String>,
) -> impl IntoView {
    let text = codes.join("\n");
    let file = format!("data:text/plain;charset=utf-8,{}", codes.join("%0A"));
    let items = codes.into_iter().map(|code| {
        view! {
            <li>
                <code>{code}</code>
            </li>
        }
    });
    view! {
        <p class="auth__lede">
            "Your second factor is on. If you lose your device, each of these codes logs you in once."
        </p>
        <div class="auth__form">
            <WarningNotice>"These codes are shown only once. Store them where you can reach them without your phone."</WarningNotice>
            <ul class="recovery-codes" aria-label="Recovery codes">{items.collect_view()}</ul>
            <div class="cluster">
                <a class="button button--small" href=file download="platen-recovery-codes.txt">
                    "Download"
                </a>
                <CopyButton text label="Copy the recovery codes".to_owned() />
            </div>
            <InfoNotice>"You can create new codes in Settings. These codes then stop working."</InfoNotice>
            <ButtonLink href="/dashboard/settings#second-factor" rank=Rank::Primary>
                "I have saved the codes"
            </ButtonLink>
        </div>
    }
}
